/**
 * The rules of the stream group protocol (docs/protocol/stream-protocol.md): who gets which task in one round. Pure: a
 * value in, a value out. The same rules as in streamctl itself; both are held against the same recorded rounds.
 */
package io.github.streamctl.streams.learner;
