// Package chaos runs a job of real workers through trouble and looks whether
// anything was lost, run twice, or left lying. It is for tests only: of this
// package on an embedded cluster, of internal/e2e on real brokers.
//
// A producer writes numbered records all the while. Each key's records carry
// the numbers 0, 1, 2…, and the job keeps for each key how many it counted and
// which number comes next. A number that comes again is a duplicate, one that is
// left out a loss, whatever the counts add up to.
package chaos
