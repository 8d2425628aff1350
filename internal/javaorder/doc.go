// Package javaorder gives the orders of Java's collections that show in what
// Kafka's assignors decide (assignors.md, section 1): how a HashMap iterates,
// how a PriorityQueue breaks ties, how UUIDs and strings compare. It is pure.
package javaorder
