// Package plan says what the next rebalances of a group will do: from a group
// and a change it runs round after round, as the group's own assignor would,
// up to the fixed point. It is pure: no clock, no network; ids that nobody
// knows yet are drawn from fixed seeds.
package plan
