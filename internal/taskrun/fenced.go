package taskrun

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// IsFenced reports whether a commit was refused for good, since the group has
// moved on without the member that made it.
func IsFenced(err error) bool {
	for _, e := range []error{kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.FencedInstanceID, kerr.FencedMemberEpoch, kerr.StaleMemberEpoch} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
