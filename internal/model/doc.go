// Package model holds the words every other package speaks: groups,
// instances, members, tasks with roles and tags, lag, restore state, findings.
// It holds no wire type, does no I/O and reads no clock.
package model
