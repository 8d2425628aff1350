// Package lab runs an embedded Kafka cluster on this machine and replays
// recorded groups in it: the real metadata and assignments of real members,
// joined over the real group protocol, with topics, records and commits as they
// were. It serves `streamctl lab`, the demo, tests and benchmarks. Nothing
// leaves the loopback interface.
package lab
