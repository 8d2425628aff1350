// Package scenario reads and writes what-if scenarios of groups, one JSON
// object a line: it makes of each the input of its assignor, and of what the
// assignor decided the answer in the same form. The fields are described in
// testdata/assign and testdata/learner.
package scenario
