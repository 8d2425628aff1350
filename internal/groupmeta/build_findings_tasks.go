package groupmeta

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// defaultRecoveryLag is the default of acceptable.recovery.lag, in records.
const defaultRecoveryLag = 10000

// taskFindings are about tasks that are nobody's, or on their way.
func (b *groupBuilder) taskFindings() {
	g := b.g
	if n := len(g.Unassigned); n > 0 && g.State != model.StateNotReady {
		b.find(model.FindingUnassigned, b.group(), "%s run by nobody: %s", subject(n, "task", "is", "are"), some(g.Unassigned))
	}
	if n := len(g.Moving); n > 0 {
		b.find(model.FindingMoving, b.group(), "%s between two owners, run by nobody now: %s", subject(n, "task", "is", "are"), some(g.Moving))
	}
	for i := range g.Instances {
		in := &g.Instances[i]
		b.learning(in)
		b.restoring(in)
		b.untold(in)
		if g.Kind == model.Streams {
			b.converging(in)
		}
	}
	b.lateEpochs()
	b.missingStandbys()
}

// learning reports what an instance learns, and for whom.
func (b *groupBuilder) learning(in *model.Instance) {
	var tasks []model.TaskID
	owners := make(map[string]bool)
	inferred := ""
	for i := range in.Members {
		for j := range in.Members[i].Tasks {
			t := &in.Members[i].Tasks[j]
			if t.Role != model.Learner || t.TargetOnly {
				continue
			}
			tasks = append(tasks, t.ID)
			if t.Inferred {
				inferred = "~"
			}
			for _, a := range b.tasks[t.ID].actives {
				owners[b.instanceName(b.members[a.member].instance)] = true
			}
		}
	}
	if len(tasks) == 0 {
		return
	}
	slices.SortFunc(tasks, model.TaskID.Compare)
	from := ""
	if names := slices.Sorted(maps.Keys(owners)); len(names) > 0 {
		from = " for " + strings.Join(names[:min(len(names), shownNames)], ", ")
	}
	b.find(model.FindingLearning, "instance "+in.Name, "%s learns %s%s%s: %s", in.Name, model.Count(len(tasks), "task"), inferred, from, some(tasks))
}

// instanceName gives the short name of an instance.
func (b *groupBuilder) instanceName(id string) string {
	if b.names == nil {
		b.names = make(map[string]string, len(b.g.Instances))
		for i := range b.g.Instances {
			b.names[b.g.Instances[i].ID] = b.g.Instances[i].Name
		}
	}
	return b.names[id]
}

// restoring reports actives that wait for their state. What a classic member
// said is as old as the last round, so there it counts only while a rebalance
// is planned, which makes that round a recent one, for a distance that the
// assignor would not take for caught up, and for input that waits.
func (b *groupBuilder) restoring(in *model.Instance) {
	var tasks []model.TaskID
	records, known := int64(0), true
	for i := range in.Members {
		for j := range in.Members[i].Tasks {
			t := &in.Members[i].Tasks[j]
			if t.Role != model.Active || t.TargetOnly || t.Restore.State != model.Restoring {
				continue
			}
			if !b.restores(t) {
				continue
			}
			tasks = append(tasks, t.ID)
			known = addKnown(&records, t.Restore.RemainingRecords) && known
		}
	}
	if len(tasks) == 0 {
		return
	}
	slices.SortFunc(tasks, model.TaskID.Compare)
	rest := ""
	if known {
		rest = fmt.Sprintf(", ≤%s records to go", model.Thousands(records))
	}
	if b.g.Kind == model.Classic {
		rest += " as of the last round"
	}
	b.find(model.FindingRestoring, "instance "+in.Name, "%s restores %s before it can run: %s%s", in.Name, model.Count(len(tasks), "task"), some(tasks), rest)
}

// untold reports actives of a worker group of which their instance has not said
// yet in this round how far their state is: they may wait for it.
func (b *groupBuilder) untold(in *model.Instance) {
	var tasks []model.TaskID
	for i := range in.Members {
		for j := range in.Members[i].Tasks {
			if t := &in.Members[i].Tasks[j]; b.g.StateUntold(t) {
				tasks = append(tasks, t.ID)
			}
		}
	}
	if len(tasks) == 0 || b.g.AssignmentBasis != model.AssignmentCurrent {
		return
	}
	slices.SortFunc(tasks, model.TaskID.Compare)
	b.find(model.FindingRestoring, "instance "+in.Name, "%s has not said yet whether %s to restore: %s", in.Name, subject(len(tasks), "task", "has", "have"), some(tasks))
}

// restores reports whether what a task has to restore counts for the group: of
// copies always, of actives of a classic group as restoring says.
func (b *groupBuilder) restores(t *model.Task) bool {
	if t.Role != model.Active || b.g.Kind != model.Classic {
		return true
	}
	r := t.Restore.RemainingRecords
	waits := t.Lag == nil || t.Lag.Records == nil || *t.Lag.Records > 0
	return b.g.NextRebalance != nil && r != nil && *r > defaultRecoveryLag && waits
}

// converging reports the actives of an instance that the target gives to
// others, and copies that are not where the target wants them.
func (b *groupBuilder) converging(in *model.Instance) {
	var away, inside []model.TaskID
	to := make(map[string]bool)
	for i := range in.Members {
		for j := range in.Members[i].Tasks {
			t := &in.Members[i].Tasks[j]
			if t.LeavesTo == "" {
				continue
			}
			if other := b.instanceName(b.instanceOf[t.LeavesTo]); other != in.Name {
				away = append(away, t.ID)
				to[other] = true
			} else {
				inside = append(inside, t.ID)
			}
		}
	}
	object := "instance " + in.Name
	if len(away) > 0 {
		slices.SortFunc(away, model.TaskID.Compare)
		whom := "others"
		if len(to) == 1 {
			whom = slices.Sorted(maps.Keys(to))[0]
		}
		b.find(model.FindingConverging, object, "%s still holds %s meant for %s: %s", in.Name, model.Count(len(away), "task"), whom, some(away))
	}
	if len(inside) > 0 {
		slices.SortFunc(inside, model.TaskID.Compare)
		b.find(model.FindingConverging, object, "%s moves %s between its own threads: %s", in.Name, model.Count(len(inside), "task"), some(inside))
	}
}

// lateEpochs reports a streams group that reconciles although every active is
// where it should be.
func (b *groupBuilder) lateEpochs() {
	g := b.g
	if g.Kind != model.Streams || slices.ContainsFunc(g.Findings, func(f model.Finding) bool { return f.Code == model.FindingConverging }) {
		return
	}
	var waiting, late []string
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			m := &g.Instances[i].Members[j]
			if slices.ContainsFunc(m.Tasks, func(t model.Task) bool { return t.TargetOnly && !(t.Role == model.Active && b.isMoving(t.ID)) }) {
				waiting = append(waiting, m.Name)
			}
			if m.Epoch != nil && g.AssignmentEpoch != nil && *m.Epoch < *g.AssignmentEpoch {
				late = append(late, m.Name)
			}
		}
	}
	switch {
	case len(waiting) > 0:
		b.find(model.FindingConverging, b.group(), "%s not yet all that the target gives: %s", subject(len(waiting), "member", "has", "have"), someNames(waiting, len(waiting)))
	case len(late) > 0 && g.State != model.StateNotReady:
		b.find(model.FindingConverging, b.group(), "%s behind the group's epoch: %s", subject(len(late), "member", "is", "are"), someNames(late, len(late)))
	case g.State == model.StateReconciling && len(g.Moving) == 0:
		b.find(model.FindingConverging, b.group(), "the group reconciles, every task is where the target wants it")
	}
}

// isMoving reports whether a task is between two owners.
func (b *groupBuilder) isMoving(id model.TaskID) bool {
	_, found := slices.BinarySearchFunc(b.g.Moving, id, model.TaskID.Compare)
	return found
}

// missingStandbys compares the standbys that are there, or in the target, with
// the wanted number, where that is known (field case 18). Fewer instances than
// copies is a warning too.
func (b *groupBuilder) missingStandbys() {
	t := b.g.Timing
	if t.Standbys == nil || *t.Standbys <= 0 || t.StandbysSource == model.SourceEstimate || b.unknown || b.g.AssignmentBasis != model.AssignmentCurrent {
		return
	}
	if b.g.State == model.StateNotReady || b.standbys != nil && b.standbys.handing {
		return // copies come and go in this very round
	}
	n := *t.Standbys
	wanted, have := 0, 0
	var missing []model.TaskID
	for _, id := range b.topologyTasks() {
		s := b.subs[keyOf(id)]
		if s.stateful == nil || !*s.stateful {
			continue
		}
		there := min(b.standbysOf(id), n)
		wanted, have = wanted+n, have+there
		if there < n {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return
	}
	why := ""
	if k := len(b.g.Instances); k <= n {
		why = fmt.Sprintf("; %s can hold %d", model.Count(k, "instance"), max(k-1, 0))
	}
	b.find(model.FindingMissingStandby, b.group(), "%d of %d standbys are there (missing: %s)%s", have, wanted, some(missing), why)
}

// standbysOf counts the instances that stand by for a task, learners not
// counted; in a streams group those that the target names. In a worker group
// the owner of a task that is learned will be its standby, so it counts.
func (b *groupBuilder) standbysOf(id model.TaskID) int {
	if b.g.Kind == model.Streams {
		return b.targetStandbys[id]
	}
	n := 0
	for _, c := range b.copiesByInstance(id) {
		if b.at(c).Role == model.Standby || b.g.Kind == model.Worker {
			n++
		}
	}
	return n
}
