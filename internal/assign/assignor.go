package assign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Assignor decides one round.
type Assignor interface {
	// Name is the name in scenario files and documents.
	Name() string
	// Assign gives the round that follows from a group. It keeps no part of
	// the group and changes nothing in it.
	Assign(*Group) (*Result, error)
}

// The names of the assignors.
const (
	NameHighAvailability = "high-availability"
	NameStreamsSticky    = "streams-sticky"
)

// All lists every assignor, the variants of one from old to new.
func All() []Assignor {
	return []Assignor{
		HighAvailability{},
		StreamsSticky{Variant: Sticky42},
		StreamsSticky{Variant: Sticky44},
		LearnerAssignor{},
	}
}

// Names are the names of the assignors, sorted.
func Names() []string {
	var out []string
	for _, a := range All() {
		out = append(out, a.Name())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// InexactError says that what an assignor of some version decides cannot be
// computed to the task.
type InexactError struct {
	Assignor, Version string
	Why               string
}

func (e *InexactError) Error() string {
	return fmt.Sprintf("assignor %q of Kafka %s cannot be computed to the task: %s", e.Assignor, e.Version, e.Why)
}

// Find returns the assignor of a name as it is in a Kafka version, for example
// "4.3.1"; without a version, the newest. With an InexactError it returns the
// nearest one it has as well: its counts are a fair guess, its choices are not.
func Find(name, version string) (Assignor, error) {
	major, minor, err := release(version)
	if err != nil {
		return nil, err
	}
	before := func(a, b int) bool { return major < a || major == a && minor < b }
	switch name {
	case NameHighAvailability:
		if before(3, 4) {
			return HighAvailability{}, &InexactError{name, version, "before 3.4 it moved tasks by other rules"}
		}
		return HighAvailability{}, nil
	case NameLearner:
		return LearnerAssignor{}, nil
	case NameStreamsSticky:
		switch {
		case before(4, 2):
			return StreamsSticky{Variant: Sticky42}, &InexactError{name, version, "before 4.2 the broker's choice hangs on the run of its virtual machine"}
		case before(4, 4):
			return StreamsSticky{Variant: Sticky42}, nil
		}
		return StreamsSticky{Variant: Sticky44}, nil
	}
	return nil, fmt.Errorf("unknown assignor %q", name)
}

// release reads the first two numbers of a version; "" is one newer than all.
func release(version string) (major, minor int, err error) {
	if version == "" {
		return int(^uint(0) >> 1), 0, nil
	}
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	second, _, _ = strings.Cut(second, "-")
	a, errA := strconv.ParseUint(first, 10, 31)
	b, errB := strconv.ParseUint(second, 10, 31)
	if errA == nil && errB == nil {
		return int(a), int(b), nil
	}
	return 0, 0, fmt.Errorf("%q is not a Kafka version", version)
}
