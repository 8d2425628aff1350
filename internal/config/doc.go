// Package config finds out how to reach a cluster and what else was set:
// contexts in streamctl's own file, client files as Kafka's Java tools take
// them, key and trust stores, environment and flags (flag > environment >
// file > default). It knows no Kafka client library: a Connection holds
// neutral values. Explain turns the errors of such a connection into messages
// that name the cause.
package config
