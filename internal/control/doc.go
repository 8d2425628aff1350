// Package control holds the records of a group's control topic: their bytes,
// and the state that they add up to (docs/protocol/control.md). It is pure.
// Records come from strangers: what does not decode is reported and counts as
// a tombstone, and never does more harm than that.
package control
