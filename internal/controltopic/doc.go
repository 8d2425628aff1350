// Package controltopic talks to the control topic of a group: it creates it,
// writes a record and reads it back, reads it whole, and follows it
// (docs/protocol/control.md). What the records mean is control's business.
package controltopic
