package assign

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// learnerNode is one instance in the round; its number is its place by id.
type learnerNode struct {
	id      string
	leaving bool
	expired bool
	stays   bool
	waitMs  uint64          // how much longer it waits; the largest number, which no deadline has, when it has none
	workers []LearnerWorker // by member id
	held    []learnerHeld   // what it says of each task, by task, each once
	bounds  model.Range
}

// learnerHeld is what an instance says of one task. Of several workers that
// have it the strongest word counts: a claim before a learner before a standby.
type learnerHeld struct {
	task   Task
	worker int32 // number in the node's workers
	role   learnerRole
	tagged bool   // beingLearned
	ready  bool   // isReady
	lag    uint64 // 0 within the acceptable lag; the largest number, which no lag is, when unknown
}

type learnerRole uint8

const (
	learnerActive learnerRole = iota
	learnerLearner
	learnerStandby
)

func learnerRoleOf(r model.Role) learnerRole {
	switch r {
	case model.Active:
		return learnerActive
	case model.Learner:
		return learnerLearner
	}
	return learnerStandby
}

// learnerNodes puts the members in order and decides who stays.
func learnerNodes(in *LearnerInput, stateful []bool) (nodes []learnerNode, marksVoid bool) {
	sorted := slices.Clone(in.Instances)
	slices.SortStableFunc(sorted, func(a, b LearnerInstance) int { return strings.Compare(a.ID, b.ID) })
	for i := range sorted {
		if len(sorted[i].Workers) == 0 {
			continue
		}
		if last := len(nodes) - 1; last >= 0 && nodes[last].id == sorted[i].ID {
			nodes[last].merge(&sorted[i])
			continue
		}
		n := learnerNode{id: sorted[i].ID, waitMs: math.MaxUint64, leaving: true, expired: true}
		n.merge(&sorted[i])
		nodes = append(nodes, n)
	}
	staying := 0
	for i := range nodes {
		n := &nodes[i]
		n.stays = !n.leaving
		if n.stays {
			staying++
		}
		n.hold(stateful, max(in.Settings.AcceptableLag, 0))
	}
	if staying > 0 {
		return nodes, false
	}
	for i := range nodes {
		nodes[i].stays = !nodes[i].expired
	}
	return nodes, len(nodes) > 0
}

func (n *learnerNode) merge(in *LearnerInstance) {
	n.workers = append(slices.Clip(n.workers), in.Workers...)
	n.leaving = n.leaving && in.Leaving
	n.expired = n.expired && in.Leaving && in.Expired
	if in.Leaving && in.RemainingMs >= 0 {
		n.waitMs = min(n.waitMs, uint64(in.RemainingMs))
	}
}

// hold sorts the workers and gathers what they say of each task.
func (n *learnerNode) hold(stateful []bool, acceptable int64) {
	if !slices.IsSortedFunc(n.workers, byMember) {
		n.workers = slices.Clone(n.workers)
		slices.SortStableFunc(n.workers, byMember)
	}
	count := 0
	for i := range n.workers {
		count += len(n.workers[i].Tasks)
	}
	n.held = make([]learnerHeld, 0, count)
	ends := make([]int, 0, len(n.workers))
	for w := range n.workers {
		list := n.workers[w].Tasks
		for i := range list {
			t := &list[i]
			role := learnerRoleOf(t.Role)
			if t.Task < 0 || int(t.Task) >= len(stateful) || role != learnerActive && !stateful[t.Task] {
				continue // unknown, or a copy without state
			}
			h := learnerHeld{task: t.Task, worker: int32(w), role: role, ready: t.Ready, lag: uint64(t.Lag)}
			h.tagged = t.BeingLearned && stateful[t.Task]
			switch {
			case t.Lag < 0:
				h.lag = math.MaxUint64
			case t.Lag <= acceptable:
				h.lag = 0
			}
			n.held = append(n.held, h)
		}
		ends = append(ends, len(n.held))
	}
	n.held = mergeHeld(sortRuns(n.held, ends, n.compareHeld))
}

// mergeHeld leaves the first word on each task. A task is revoked only when all
// workers that claim it have tagged it: one that missed its last assignments may
// still have it open.
func mergeHeld(sorted []learnerHeld) []learnerHeld {
	merged := sorted[:0]
	for _, h := range sorted {
		if last := len(merged) - 1; last >= 0 && merged[last].task == h.task {
			if h.role == learnerActive {
				merged[last].tagged = merged[last].tagged && h.tagged
			}
			continue
		}
		merged = append(merged, h)
	}
	return merged
}

func byMember(a, b LearnerWorker) int { return strings.Compare(a.ID, b.ID) }

// compareHeld orders by task, then the word that counts first. Everything a
// word says takes part, so that nothing hangs on the order of the input.
func (n *learnerNode) compareHeld(a, b learnerHeld) int {
	if a.task != b.task {
		return cmp.Compare(a.task, b.task)
	}
	if a.role != b.role {
		return cmp.Compare(a.role, b.role)
	}
	if a.role == learnerActive {
		if c := compareClaims(&n.workers[a.worker], &n.workers[b.worker]); c != 0 {
			return c
		}
	}
	return cmp.Or(falseLast(a.ready, b.ready), cmp.Compare(a.lag, b.lag), cmp.Compare(a.worker, b.worker), falseLast(a.tagged, b.tagged))
}

func falseLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// compareClaims says whose claims count first: those made in the present group
// before carried ones, then the higher epoch (carried ones only), then the
// higher generation. The caller breaks ties by id.
func compareClaims(a, b *LearnerWorker) int {
	if a.Carried != b.Carried {
		return falseLast(b.Carried, a.Carried)
	}
	if a.Carried && a.Epoch != b.Epoch {
		return cmp.Compare(b.Epoch, a.Epoch)
	}
	return cmp.Compare(b.Generation, a.Generation)
}

// switchWaits reports whether the leader still waits for instances to come back
// after a mode switch (stream-protocol.md, Restart as it was).
func switchWaits(nodes []learnerNode) bool {
	for i := range nodes {
		for j := range nodes[i].workers {
			w := &nodes[i].workers[j]
			if w.SwitchOpen && w.LastInstances > len(nodes) {
				return true
			}
		}
	}
	return false
}
