// Package seat is the membership of one worker in its group: a client that
// joins, syncs and heartbeats, and never fetches. What it carries are bytes; it
// knows nothing of tasks. One client is one member, always: two members on one
// client would block each other's joins.
package seat
