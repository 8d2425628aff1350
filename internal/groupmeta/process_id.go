package groupmeta

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// ProcessID is the id of one KafkaStreams instance.
type ProcessID [16]byte

// String gives the usual form with four hyphens.
func (p ProcessID) String() string {
	h := hex.EncodeToString(p[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseProcessID reads what String writes.
func ParseProcessID(s string) (ProcessID, error) {
	var p ProcessID
	raw, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(raw) != len(p) || ProcessID(raw).String() != strings.ToLower(s) {
		return p, fmt.Errorf("process id %q is not a UUID", s)
	}
	return ProcessID(raw), nil
}
