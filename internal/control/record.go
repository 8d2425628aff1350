package control

import "strings"

// Record is one record of the control topic as it was read, or is to be
// written.
type Record struct {
	Key    string
	Value  []byte // empty: a tombstone
	Offset int64  // where it was read; not used in writing

	// TooLarge is the size in bytes of a value that was too large to keep; then
	// Value is empty, but the record is no tombstone that someone wrote.
	TooLarge int

	// Unread is the size in bytes of a value that the reader did not ask for; then
	// Value is empty too.
	Unread int
}

// Tombstone says that the record takes away what its key said.
func (r Record) Tombstone() bool { return len(r.Value) == 0 && r.TooLarge == 0 && r.Unread == 0 }

// Kind is what a record is about.
type Kind string

// The kinds; KindOther is any key that is not ours.
const (
	KindMode     Kind = "mode"
	KindLeaving  Kind = "leaving"
	KindStandbys Kind = "standbys"
	KindReplace  Kind = "replace"
	KindStatus   Kind = "status"
	KindOther    Kind = "other"
)

// The fixed keys.
const (
	KeyMode     = "mode"
	KeyStandbys = "standbys"
	KeyReplace  = "replace"
)

const (
	leavingPrefix = "leaving/"
	statusPrefix  = "status/"
)

// KeyLeaving is the key of an instance's mark; instance is its UUID in lower case.
func KeyLeaving(instance string) string { return leavingPrefix + instance }

// KeyStatus is the key of an instance's status; instance is its UUID in lower case.
func KeyStatus(instance string) string { return statusPrefix + instance }

// ParseKey says what a key is about; instance is a UUID in lower case, "" for
// kinds that are not about one. Every key that is not ours is KindOther.
func ParseKey(key string) (kind Kind, instance string) {
	switch key {
	case KeyMode:
		return KindMode, ""
	case KeyStandbys:
		return KindStandbys, ""
	case KeyReplace:
		return KindReplace, ""
	}
	if id, ok := strings.CutPrefix(key, leavingPrefix); ok && IsUUID(id) {
		return KindLeaving, id
	}
	if id, ok := strings.CutPrefix(key, statusPrefix); ok && IsUUID(id) {
		return KindStatus, id
	}
	return KindOther, ""
}
