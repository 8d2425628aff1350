// Package assign computes which member runs which task after a rebalance, as
// the assignors of Kafka compute it, to the task. It is pure: no clock, no
// network, no randomness. The same input gives the same output.
//
// Inside, tasks, processes and members are numbers: a Task counts through its
// Topology, a process and a member through the lists of their Group.
package assign
