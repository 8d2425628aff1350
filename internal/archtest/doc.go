// Package archtest holds tests about the code itself: which package imports
// which, what the pure packages stay away from, how long files are, and that no
// field case lacks its test.
package archtest
