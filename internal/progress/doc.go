// Package progress judges looks at a group: whether what a `wait` asks for
// holds and what is in the way, how fast copies restore, what changed between
// two looks and why (inferred). It is pure but for Poll, the one loop that
// waits, whose clock comes in.
package progress
