// Package lab runs an embedded Kafka cluster on this machine. It replays
// recorded groups in it: the real metadata and assignments of real members,
// joined over the real group protocol, with topics, records and commits as they
// were. Or it runs a job that lives: instances of workers that count by key,
// which are added, crashed, stopped and cut off while a producer writes, and
// whose counts are held against what was written. It serves `streamctl lab`, the
// demo, tests and benchmarks. Nothing leaves the loopback interface.
package lab
