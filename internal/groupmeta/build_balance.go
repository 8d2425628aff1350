package groupmeta

import (
	"math"

	"github.com/streamctl/streamctl/internal/model"
)

// sumUp adds up the totals of group and instances.
func (b *groupBuilder) sumUp() {
	g := b.g
	t := &g.Totals
	t.Tasks = len(b.topologyTasks())
	t.Moving, t.Unassigned = len(g.Moving), len(g.Unassigned)
	for i := range g.Instances {
		in := &g.Instances[i]
		t.Active += in.Active
		t.Standby += in.Standby
		t.Learner += in.Learner
		b.sumInstance(in)
	}
	if b.o.SkipOffsets || !g.Kind.IsStream() && g.Kind != model.Consumer && g.Kind != model.Unknown {
		return
	}
	known, lag := len(g.Offsets) == 0 && b.in.CommitsRead, int64(0)
	if g.AssignmentBasis == model.AssignmentNone && len(b.members) > 0 {
		known = false // what it reads is not given
	}
	for i := range g.Offsets {
		if addKnown(&lag, g.Offsets[i].Lag) {
			known = true
		} else {
			t.LagPartial = true
		}
	}
	if known {
		t.Lag = &lag
	} else {
		t.LagPartial = false
	}
}

// sumInstance adds up lag and target of an instance, and what the group has to
// restore.
func (b *groupBuilder) sumInstance(in *model.Instance) {
	t := &b.g.Totals
	lag, known := int64(0), !b.o.SkipOffsets && b.g.AssignmentBasis != model.AssignmentNone
	target := 0
	for j := range in.Members {
		if s := in.Members[j].Assignment.Status; s == model.MetadataMalformed || s == model.MetadataNewer {
			known = false // what it runs cannot be told
		}
		for k := range in.Members[j].Tasks {
			task := &in.Members[j].Tasks[k]
			if b.g.Kind == model.Streams && task.Role == model.Active && (task.TargetOnly || task.LeavesTo == "" && b.inTarget(in.Members[j].ID, task.ID)) {
				target++
			}
			if task.TargetOnly {
				continue
			}
			if b.restores(task) {
				addRemaining(&t.RemainingRecords, task.Restore.RemainingRecords)
				addRemaining(&t.RemainingBytes, task.Restore.RemainingBytes)
			}
			if task.Role != model.Active {
				continue
			}
			if task.Lag == nil || !addKnown(&lag, task.Lag.Records) {
				known = false
			}
		}
	}
	if known && b.g.Kind.IsStream() {
		in.Lag = &lag
	}
	if b.g.Kind == model.Streams {
		in.TargetActive = &target
	}
}

// inTarget reports whether the target leaves an active task where it is: a task
// that no target names is one that its owner has to give up.
func (b *groupBuilder) inTarget(member string, id model.TaskID) bool { return b.targets[id] == member }

func addRemaining(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum = addSaturated(**sum, *n)
}

// balance reckons the bounds of the instances that stay and compares their
// active tasks with them (stream-protocol.md, Bounds).
func (b *groupBuilder) balance() {
	g := b.g
	for i := range g.Instances {
		g.Instances[i].Balanced = true // nothing to compare with, so far
	}
	if !g.Kind.IsStream() {
		return
	}
	thousandths := b.factor
	if b.o.BalancingFactor > 0 || thousandths == 0 {
		r := b.o.BalancingFactor
		if r == 0 {
			r = model.DefaultFactor
		}
		thousandths = model.FactorThousandths(r)
	}
	var staying, workers []int
	all := 0
	for i := range g.Instances {
		if b.stays(&g.Instances[i]) {
			staying = append(staying, i)
			workers = append(workers, len(g.Instances[i].Members))
			all += len(g.Instances[i].Members)
		}
	}
	tasks := g.Totals.Tasks
	if tasks == 0 || all == 0 {
		return
	}
	bal := &model.Balance{Factor: float64(thousandths) / 1000, Balanced: true}
	for k, r := range model.Bounds(tasks, workers, thousandths) {
		in := &g.Instances[staying[k]]
		in.Low, in.High = r.Low, r.High
		in.Expected = float64(tasks) * float64(workers[k]) / float64(all)
		in.Balanced = r.Has(in.Active)
		bal.Balanced = bal.Balanced && in.Balanced
		bal.MaxOverExpected = math.Max(bal.MaxOverExpected, float64(in.Active)/in.Expected)
	}
	g.Balance = bal
}

// stays reports whether an instance counts for the balance: a leaving one does
// not, unless no instance stays.
func (b *groupBuilder) stays(in *model.Instance) bool {
	if in.Leaving == nil {
		return true
	}
	for i := range b.members {
		if b.members[i].instance == in.ID && b.members[i].stays {
			return true
		}
	}
	return false
}
