package groupmeta

import (
	"errors"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// BuildOptions is what a person told besides the broker's answers.
type BuildOptions struct {
	Standbys        *int               // --standbys N; nil: group config or estimate
	Topology        *model.Topology    // --topology FILE, parsed by ParseTopologyText; nil: infer
	BalancingFactor float64            // r of the balance shown; 0 means 2
	IgnoreMissing   bool               // --ignore-missing-topics: a deleted topic is no error
	Earlier         *snapshot.Snapshot // an earlier look at the same group (--sample); nil: one look
	SkipOffsets     bool               // build without lag, restore and offsets (get groups)
}

// ErrNotFound is returned when the snapshot says that the group does not exist
// (field case 57).
var ErrNotFound = errors.New("group not found")

// Build makes the model of one group out of a snapshot. The error is
// ErrNotFound (wrapped) or says that the snapshot holds no answer about the
// group; whatever else is wrong is in the group's Errors and Findings. It is
// pure: times are counted from the snapshot's TakenAt.
func Build(s *snapshot.Snapshot, group string, o BuildOptions) (*model.Group, error) {
	return nil, errors.New("not built yet")
}

// BuildAll makes the model of every group of the snapshot, by id. Groups that
// were not found are left out.
func BuildAll(s *snapshot.Snapshot, o BuildOptions) []*model.Group {
	return nil
}
