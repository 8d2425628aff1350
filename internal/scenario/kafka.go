package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
)

// Kafka is a scenario of one of Kafka's own assignors, in the form of
// testdata/assign.
type Kafka struct {
	Name         string
	Assignor     string // name
	KafkaVersion string // chooses the variant of the assignor; "" for the newest
	Group        *assign.Group
}

// kafkaLine is what the two kinds of line have in common. Fields that are for
// the reader only (chain, round, event, result) are passed over.
type kafkaLine struct {
	Name         string      `json:"name"`
	Assignor     string      `json:"assignor"`
	KafkaVersion string      `json:"kafka_version"`
	Config       kafkaConfig `json:"config"`
}

type kafkaConfig struct {
	Standbys           *int64   `json:"num_standby_replicas"`
	MaxWarmups         *int64   `json:"max_warmup_replicas"`
	AcceptableLag      *int64   `json:"acceptable_recovery_lag"`
	ProbingIntervalMs  *int64   `json:"probing_rebalance_interval_ms"`
	RackStrategy       *string  `json:"rack_aware_strategy"`
	RackTrafficCost    *int64   `json:"rack_aware_traffic_cost"`
	RackNonOverlapCost *int64   `json:"rack_aware_non_overlap_cost"`
	StandbyTags        []string `json:"rack_aware_assignment_tags"`
}

// ParseKafka reads the scenario on one line of a file; line is its number,
// from 1, for what the error says. Errors are an *Error.
func ParseKafka(line int, data []byte) (*Kafka, error) {
	s, err := parseKafka(data)
	if err != nil {
		err.Line = line
		return s, err
	}
	return s, nil
}

// parseKafka returns of a bad line at least its name, if it has one.
func parseKafka(data []byte) (*Kafka, *Error) {
	var head kafkaLine
	if err := decode(data, &head); err != nil {
		return &Kafka{Name: head.Name}, err
	}
	s := &Kafka{Name: head.Name, Assignor: head.Assignor, KafkaVersion: head.KafkaVersion}
	c := &checker{}
	settings := c.settings(&head.Config)
	var err *Error
	switch head.Assignor {
	case assign.NameHighAvailability:
		s.Group, err = parseClassic(c, settings, data)
	case assign.NameStreamsSticky:
		s.Group, err = parseStreams(c, settings, data)
	case "":
		c.must("assignor", false)
	default:
		c.fail("assignor", "%q is unknown", head.Assignor)
	}
	if c.err != nil {
		err = c.err
	}
	return s, err
}

func (c *checker) settings(in *kafkaConfig) assign.Settings {
	s := assign.DefaultSettings()
	s.Standbys = int(c.number("config.num_standby_replicas", in.Standbys, 0, math.MaxInt32))
	s.MaxWarmups = int(c.number("config.max_warmup_replicas", in.MaxWarmups, int64(s.MaxWarmups), math.MaxInt32))
	s.AcceptableLag = c.number("config.acceptable_recovery_lag", in.AcceptableLag, s.AcceptableLag, math.MaxInt64)
	s.RackTrafficCost = int(c.number("config.rack_aware_traffic_cost", in.RackTrafficCost, int64(s.RackTrafficCost), math.MaxInt32))
	s.RackNonOverlapCost = int(c.number("config.rack_aware_non_overlap_cost", in.RackNonOverlapCost, int64(s.RackNonOverlapCost), math.MaxInt32))
	s.StandbyTags = in.StandbyTags
	c.number("config.probing_rebalance_interval_ms", in.ProbingIntervalMs, 0, math.MaxInt64)
	if in.RackStrategy != nil {
		s.RackStrategy = assign.RackStrategy(*in.RackStrategy)
		if !slices.Contains([]assign.RackStrategy{assign.RackNone, assign.RackMinTraffic, assign.RackBalanceSubtopology}, s.RackStrategy) {
			c.fail("config.rack_aware_strategy", "%q is unknown", *in.RackStrategy)
		}
	}
	return s
}

// topology numbers the tasks; field is said of what is wrong with the list.
func (c *checker) topology(there bool, subs []assign.Subtopology) *assign.Topology {
	c.must("subtopologies", there)
	t, err := assign.NewTopology(subs)
	if err != nil {
		c.fail("subtopologies", "%s", err)
		t, _ = assign.NewTopology(nil)
	}
	return t
}

// partitions reads the number of tasks of a subtopology.
func (c *checker) partitions(field string, n *int64) int {
	c.must(field, n != nil)
	return int(c.number(field, n, 0, assign.MaxTasks))
}

// task finds a task of the topology. Of a subtopology that the topology does
// not have any more ok is false without a complaint, if gone is allowed.
func (c *checker) task(field, text string, t *assign.Topology, gone bool) (task assign.Task, ok bool) {
	i := strings.LastIndexByte(text, '_')
	p := uint64(0)
	err := strconv.ErrSyntax
	if i > 0 && !strings.HasPrefix(text[i+1:], "+") {
		p, err = strconv.ParseUint(text[i+1:], 10, 31)
	}
	if err != nil {
		c.fail(field, "%q is not a task", text)
		return 0, false
	}
	sub, known := t.FindSubtopology("", text[:i])
	if !known {
		if !gone {
			c.fail(field, "task %q is in no subtopology", text)
		}
		return 0, false
	}
	first, end := t.Tasks(sub)
	if p >= uint64(end-first) {
		c.fail(field, "task %q: the subtopology has %d tasks", text, end-first)
		return 0, false
	}
	return first + assign.Task(p), true
}

// tasks finds all tasks of a list.
func (c *checker) tasks(field string, list []string, t *assign.Topology, once bool) []assign.Task {
	out := make([]assign.Task, 0, len(list))
	for k, text := range list {
		at := fmt.Sprintf("%s[%d]", field, k)
		if task, ok := c.task(at, text, t, false); ok {
			out = append(out, task)
		}
	}
	if once {
		seen := make(map[assign.Task]bool, len(out))
		for k, task := range out {
			if seen[task] && c.err == nil {
				c.fail(fmt.Sprintf("%s[%d]", field, k), "task %q is there twice", list[k])
			}
			seen[task] = true
		}
	}
	return out
}

// offsets reads the positions of copies. A process may still have state of
// subtopologies that are gone; no assignor looks at it.
func (c *checker) offsets(field string, sums map[string]int64, t *assign.Topology, marks bool) []assign.Offset {
	out := make([]assign.Offset, 0, len(sums))
	for text, sum := range sums {
		at := field + "." + text
		if sum < 0 && !(marks && (sum == assign.SumRunning || sum == assign.SumUnknown)) {
			c.fail(at, "%d is negative", sum)
		}
		if task, ok := c.task(at, text, t, true); ok {
			out = append(out, assign.Offset{Task: task, Sum: sum})
		}
	}
	slices.SortFunc(out, func(a, b assign.Offset) int { return int(a.Task) - int(b.Task) })
	return out
}
