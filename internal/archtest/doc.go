// Package archtest holds tests about the code itself: which package imports
// which, what the pure packages stay away from, how long files are, that no
// field case lacks its test, and that what comments cite and scripts rely on
// stands in docs.
package archtest
