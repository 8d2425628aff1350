package scenario

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

type learnerConfig struct {
	BalancingFactor *json.Number `json:"balancing_factor"`
	MaxLearners     *int64       `json:"max_learners"`
	Standbys        *int64       `json:"num_standby_replicas"`
	AcceptableLag   *int64       `json:"acceptable_recovery_lag"`
}

type learnerSubtopology struct {
	ID         *int64 `json:"id"`
	Partitions *int64 `json:"partitions"`
	Stateful   *bool  `json:"stateful"`

	EndOffsets []int64 `json:"end_offsets"` // only a plan looks at them
}

type learnerProcess struct {
	ID             string        `json:"id"`
	Workers        *int64        `json:"workers"`
	Generation     *int64        `json:"generation"`
	Leaving        bool          `json:"leaving"`
	DeadlinePassed bool          `json:"deadline_passed"`
	RemainingMs    *int64        `json:"remaining_ms"`
	Tasks          []learnerTask `json:"tasks"`
}

type learnerTask struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	BeingLearned bool   `json:"being_learned"`
	Ready        bool   `json:"ready"`
	Lag          *int64 `json:"lag"`
}

// Bounds on what a scenario may ask for, far beyond any group.
const (
	maxWorkers = 1_000_000 // in all
	maxFactor  = 1_000_000
)

// learnerChecker reads a scenario and keeps the first complaint.
type learnerChecker struct {
	checker
	workers int64 // in all
}

func (c *learnerChecker) input(in *learnerLine) assign.LearnerInput {
	switch in.Assignor {
	case NameLearner:
	case "":
		c.must("assignor", false)
	default:
		c.fail("assignor", "%q is not %q", in.Assignor, NameLearner)
	}
	out := assign.LearnerInput{Settings: c.settings(&in.Config)}
	subs := make([]assign.Subtopology, len(in.Subtopologies))
	for i := range subs {
		subs[i] = c.subtopology(fmt.Sprintf("subtopologies[%d]", i), &in.Subtopologies[i])
	}
	out.Topology = c.topology(in.Subtopologies != nil, subs)
	if len(in.Processes) == 0 {
		c.fail("processes", "there is no instance")
	}
	seen := make(map[string]bool, len(in.Processes))
	for i := range in.Processes {
		if c.err != nil {
			break
		}
		p := &in.Processes[i]
		at := fmt.Sprintf("processes[%d]", i)
		c.must(at+".id", p.ID != "")
		if seen[p.ID] {
			c.fail(at+".id", "process %q is there twice", p.ID)
		}
		seen[p.ID] = true
		out.Instances = append(out.Instances, c.process(at, p, out.Topology))
	}
	return out
}

func (c *learnerChecker) settings(in *learnerConfig) assign.LearnerSettings {
	s := assign.DefaultLearnerSettings()
	s.Standbys = int(c.number("config.num_standby_replicas", in.Standbys, 0, math.MaxInt32))
	s.AcceptableLag = c.number("config.acceptable_recovery_lag", in.AcceptableLag, s.AcceptableLag, math.MaxInt64)
	if in.MaxLearners != nil {
		s.MaxLearners = int(c.positive("config.max_learners", in.MaxLearners, math.MaxInt32))
	}
	if in.BalancingFactor != nil {
		s.Factor = c.factor("config.balancing_factor", *in.BalancingFactor)
	}
	return s
}

// positive reads a number from 1 to limit.
func (c *learnerChecker) positive(field string, n *int64, limit int64) int64 {
	c.must(field, n != nil)
	if n != nil && *n < 1 {
		c.fail(field, "%d is below 1", *n)
	}
	return max(1, c.number(field, n, 1, limit))
}

// factor reads r, a number with at most three decimals, into thousandths.
func (c *learnerChecker) factor(field string, n json.Number) int64 {
	r, err := n.Float64()
	switch {
	case err != nil || r > maxFactor:
		c.fail(field, "%s is more than %d", n, maxFactor)
		return 0
	case r < 1:
		c.fail(field, "%s is below 1", n)
		return 0
	}
	text := string(n)
	if strings.ContainsAny(text, "eE") {
		text = strconv.FormatFloat(r, 'f', -1, 64)
	}
	whole, part, _ := strings.Cut(text, ".")
	part = strings.TrimRight(part, "0")
	if len(part) > 3 {
		c.fail(field, "%s has more than three decimals", n)
		return 0
	}
	thousandths, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	if err != nil {
		c.fail(field, "%s is no number", n)
	}
	return thousandths
}

func (c *learnerChecker) subtopology(at string, in *learnerSubtopology) assign.Subtopology {
	c.must(at+".id", in.ID != nil)
	c.must(at+".stateful", in.Stateful != nil)
	out := assign.Subtopology{
		ID:         strconv.FormatInt(c.number(at+".id", in.ID, 0, math.MaxInt64), 10),
		Partitions: c.partitions(at+".partitions", in.Partitions),
		Stateful:   in.Stateful != nil && *in.Stateful,
	}
	if out.Stateful {
		out.EndOffsets = c.ends(at+".end_offsets", in.EndOffsets, out.Partitions)
	}
	return out
}

func (c *learnerChecker) process(at string, in *learnerProcess, topology *assign.Topology) assign.LearnerInstance {
	out := assign.LearnerInstance{ID: in.ID, Leaving: in.Leaving, Expired: in.DeadlinePassed}
	if in.DeadlinePassed && !in.Leaving {
		c.fail(at+".deadline_passed", "it is true without leaving")
	}
	out.RemainingMs = c.number(at+".remaining_ms", in.RemainingMs, assign.LearnerNoDeadline, math.MaxInt64)
	workers := c.positive(at+".workers", in.Workers, maxWorkers)
	if c.workers += workers; c.workers > maxWorkers {
		c.fail(at+".workers", "more than %d workers in all", maxWorkers)
		return out
	}
	generation := c.number(at+".generation", in.Generation, 0, math.MaxInt64)
	out.Workers = make([]assign.LearnerWorker, workers)
	for i := range out.Workers {
		out.Workers[i] = assign.LearnerWorker{ID: strconv.Itoa(i + 1), Generation: generation}
	}
	// Which worker has which task is not in the file, and what the instances get
	// does not depend on it.
	out.Workers[0].Tasks = c.held(at+".tasks", in.Tasks, topology)
	return out
}

// held reads what a process says of its tasks, each at most once.
func (c *learnerChecker) held(field string, in []learnerTask, topology *assign.Topology) []assign.LearnerTask {
	out := make([]assign.LearnerTask, 0, len(in))
	seen := make(map[assign.Task]bool, len(in))
	for k := range in {
		t := &in[k]
		at := fmt.Sprintf("%s[%d]", field, k)
		task, known := c.task(at+".id", t.ID, topology, false)
		role := model.Role(t.Role)
		switch {
		case !known:
		case seen[task]:
			c.fail(at+".id", "task %q is there twice", t.ID)
		case role != model.Active && role != model.Learner && role != model.Standby:
			c.fail(at+".role", "%q is no role", t.Role)
		case role != model.Active && !topology.Stateful(task):
			c.fail(at+".role", "task %q is stateless: it has no %s", t.ID, role)
		}
		lag := c.number(at+".lag", t.Lag, assign.LearnerLagUnknown, math.MaxInt64)
		if c.err != nil {
			break
		}
		seen[task] = true
		out = append(out, assign.LearnerTask{Task: task, Role: role, BeingLearned: t.BeingLearned, Ready: t.Ready, Lag: lag})
	}
	return out
}
