package control

import "slices"

// Departure is how an instance went, by the last word of its own.
type Departure string

// The departures; "" is that of an instance that is there, or that went without
// a word.
const (
	LeftDrained Departure = "drained" // it handed everything over
	LeftExpired Departure = "expired" // its time was up
	LeftStopped Departure = "stopped" // somebody stopped it
)

// departure gives a departure; one that is not known yet says nothing.
func departure(text string) Departure {
	if d := Departure(text); slices.Contains([]Departure{LeftDrained, LeftExpired, LeftStopped}, d) {
		return d
	}
	return ""
}
