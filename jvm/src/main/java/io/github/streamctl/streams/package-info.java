/**
 * A task assignor for Kafka Streams (KIP-924) that moves tasks by the rules of streamctl and honours its marks. Only
 * {@link io.github.streamctl.streams.LearnerTaskAssignor} is meant for applications.
 */
package io.github.streamctl.streams;
