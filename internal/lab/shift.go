package lab

import (
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// present moves the planned rebalance of a recorded assignment as far into the
// future of the lab as it lay ahead when it was recorded; after is how long after
// the lab's begin it is given. Bytes that hold no planned time, or are not
// understood, come back as they are.
func (l *Lab) present(s *snapshot.Snapshot, assignment []byte, after time.Duration) []byte {
	if s.TakenAt == nil || l.o.Now.IsZero() || len(assignment) == 0 {
		return assignment
	}
	frame, err := groupmeta.DecodeConsumerAssignment(assignment)
	if err != nil {
		return assignment
	}
	info, err := groupmeta.DecodeAssignmentInfo(frame.UserData)
	if err != nil || info.NotUnderstood() || info.NextRebalanceMs <= 0 || info.NextRebalanceMs == groupmeta.NoRebalance {
		return assignment
	}
	ahead := time.UnixMilli(info.NextRebalanceMs).Sub(*s.TakenAt)
	info.NextRebalanceMs = l.o.Now.Add(after + ahead).UnixMilli()
	if frame.UserData, err = info.Encode(); err != nil {
		return assignment
	}
	out, err := frame.Encode()
	if err != nil {
		return assignment
	}
	return out
}
