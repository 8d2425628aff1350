// Package kclient is the only way from a command to Kafka. Snapshot reads what
// a cluster answers about groups, in as few round trips as the protocol allows,
// and reports in the snapshot what could not be read. Probe looks at a
// connection step by step. Only Visit and RemoveMembers change a group.
package kclient
