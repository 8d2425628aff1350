package controltopic

import (
	"fmt"

	"github.com/streamctl/streamctl/internal/errs"
)

// PartitionsError says that a control topic has more than the one partition that
// is written and read: records of other tools may be in the rest, where nobody
// sees them (docs/protocol/control.md, The topic).
type PartitionsError struct {
	Topic      string
	Partitions int
}

func (e *PartitionsError) Error() string {
	return fmt.Sprintf("control topic %q has %d partitions, and only the first one is used: records in the others are not seen", e.Topic, e.Partitions)
}

// several is the refusal of a topic with more than one partition; nil for one, or
// where it is not known.
func (p Place) several() error {
	if p.Partitions <= 1 {
		return nil
	}
	return errs.WithHint(&PartitionsError{p.Topic, p.Partitions},
		fmt.Sprintf("partitions cannot be taken away: delete topic %s while no mark is needed; it is made anew with one partition", p.Topic))
}
