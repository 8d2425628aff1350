package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// restoring is a group with one task at a position of a million; live says
// whether its positions are reported between rounds.
func restoring(position int64, live bool) *model.Group {
	g := group("w1/T1: 0_0")
	t := task(g, "w1/T1", "0_0")
	t.Stateful = ptr(true)
	t.Restore = model.Restore{State: model.Restoring, Position: &position, End: ptr(int64(1_000_000)), RemainingRecords: ptr(1_000_000 - position)}
	if live {
		g.Kind, g.Positions.Basis = model.Worker, "status"
	}
	return g
}

// A restore after a deploy looks like a dead app: the wait says how far each
// task is, how fast it goes and when it is there.
func TestFieldCase08RestoreRateAndTimeToGo(t *testing.T) {
	j := NewJudge(Goal{For: Restored})
	s := j.Look(restoring(0, true), start)
	if s.Met || len(s.Restore) != 1 || s.Restore[0].Rate != nil || s.Restore[0].Left != nil {
		t.Fatalf("one sample gives no rate: %+v", s.Restore)
	}
	j.Look(restoring(200_000, true), start.Add(30*time.Second))
	s = j.Look(restoring(400_000, true), start.Add(60*time.Second))
	if r := s.Restore[0]; r.Left == nil || r.Left.Round(time.Second) != 90*time.Second || *r.Restored != 400_000 || *r.Total != 1_000_000 {
		t.Errorf("third sample: %+v, want 90s to go", r)
	}
	g := restoring(1_000_000, true)
	task(g, "w1/T1", "0_0").Restore.State = model.Running
	if s = j.Look(g, start.Add(150*time.Second)); !s.Met || len(s.Restore) != 0 {
		t.Errorf("restored: %+v", s)
	}

	classic := NewJudge(Goal{For: Restored})
	for i := range 3 {
		s = classic.Look(restoring(200_000, false), start.Add(time.Duration(i)*30*time.Second))
	}
	if r := s.Restore[0]; r.Rate != nil || r.Left != nil || r.Why == "" {
		t.Errorf("a classic group has no rate, and says why: %+v", r)
	}
}

// A task that restores for ever is named as such, but only where positions are
// reported between rounds.
func TestFieldCase09NoProgressIsSaid(t *testing.T) {
	j := NewJudge(Goal{For: Restored})
	var s Status
	for i := range 3 {
		s = j.Look(restoring(200_000, true), start.Add(time.Duration(i)*10*time.Second))
	}
	if s.Met || !strings.HasSuffix(s.Sentence(), "(no progress for 3 samples)") || s.Restore[0].NoProgress() != "no progress for 3 samples" {
		t.Errorf("live: %q %+v", s.Sentence(), s.Restore)
	}
	j = NewJudge(Goal{For: Restored})
	for i := range 3 {
		s = j.Look(restoring(200_000, false), start.Add(time.Duration(i)*10*time.Second))
	}
	if s.Met || !strings.HasSuffix(s.Sentence(), "(as of the last round)") || s.Restore[0].NoProgress() != "" {
		t.Errorf("classic: %q %+v", s.Sentence(), s.Restore)
	}
}

func TestRestoredOfAClassicGroupIsTakenFromCommitsThatMove(t *testing.T) {
	at := func(commit int64) *model.Group {
		g := restoring(200_000, false)
		g.Offsets = []model.PartitionOffset{{TopicPartition: model.TopicPartition{Topic: "orders"}, Committed: &commit}}
		return g
	}
	j := NewJudge(Goal{For: Restored})
	if s := j.Look(at(10), start); s.Met || len(s.Notes) != 1 {
		t.Errorf("first look: %+v", s)
	}
	if s := j.Look(at(10), start.Add(time.Second)); s.Met {
		t.Error("the commit did not move, yet met")
	}
	if s := j.Look(at(11), start.Add(2*time.Second)); !s.Met {
		t.Errorf("the commit moved: %q", s.Sentence())
	}
}

func TestRestoredNeedsAnOwnerOfEveryTask(t *testing.T) {
	look := func(g *model.Group) Status { return NewJudge(Goal{For: Restored}).Look(g, start) }
	g := group("pod-a/T1: 0_0")
	task(g, "pod-a/T1", "0_0").Restore.State = model.Running
	if s := look(g); !s.Met {
		t.Errorf("running: %q", s.Sentence())
	}
	id, _ := model.ParseTaskID("0_1")
	g.Unassigned = []model.TaskID{id}
	if s := look(g); s.Met {
		t.Error("a task of nobody counts as restored")
	}
	if s := look(group()); s.Met {
		t.Error("a group with no task counts as restored")
	}
	g = group("pod-a/T1: 0_0")
	task(g, "pod-a/T1", "0_0").Restore.State = model.RestoreUnknown
	if s := look(g); s.Met || !strings.Contains(s.Sentence(), "has not reported its state") {
		t.Errorf("nothing reported: %q", s.Sentence())
	}
	task(g, "pod-a/T1", "0_0").Stateful = ptr(false)
	if s := look(g); !s.Met {
		t.Errorf("stateless: %q", s.Sentence())
	}
	if s := look(in(g, model.StatePreparingRebalance)); s.Met {
		t.Error("met in a rebalance")
	}
}

// A 4.4 client reports the offsets of what it restores, not of what it runs.
func TestRestoredOfAStreamsGroupWithTaskOffsets(t *testing.T) {
	at := func(reports bool) Status {
		g := group("b1/T1: 0_0")
		g.Kind, g.Positions.Basis = model.Streams, "heartbeat"
		g.Instances[0].Members[0].ReportsOffsets = &reports
		task(g, "b1/T1", "0_0").Restore.State = model.RestoreUnknown
		return NewJudge(Goal{For: Restored}).Look(g, start)
	}
	if s := at(true); !s.Met || len(s.Notes) != 1 {
		t.Errorf("its member reports others: %+v", s)
	}
	if s := at(false); s.Met {
		t.Error("its member reports nothing at all, yet met")
	}
}

// A worker writes how far it is from time to time: a status that is read again
// is no sample without progress, what stands while another copy of the instance
// moves waits its turn, and the time before a copy began is not in its rate.
func TestRestoreOfAWorkerIsTakenFromItsStatuses(t *testing.T) {
	at := func(written time.Duration, first, second int64) *model.Group {
		g := group("w1/T1: 0_0 0_1")
		g.Kind, g.Positions.Basis = model.Worker, model.PositionsStatus
		g.Control = &model.Control{Status: []model.InstanceStatus{{Instance: g.Instances[0].ID, At: start.Add(written)}}}
		for id, position := range map[string]int64{"0_0": first, "0_1": second} {
			r := model.Restore{State: model.Restoring, Position: &position, End: ptr(int64(10_000)), RemainingRecords: ptr(10_000 - position)}
			task(g, "w1/T1", id).Restore = r
		}
		return g
	}
	j := NewJudge(Goal{For: Restored})
	var s Status
	for i := range 6 { // six looks, one status
		s = j.Look(at(0, 0, 0), start.Add(time.Duration(i)*time.Second))
	}
	if r := s.Restore[0]; r.Stuck != 1 || r.NoProgress() != "" || r.Rate != nil {
		t.Errorf("one status: %+v", r)
	}
	j.Look(at(5*time.Second, 0, 0), start.Add(6*time.Second))
	j.Look(at(10*time.Second, 0, 0), start.Add(11*time.Second))
	s = j.Look(at(15*time.Second, 5_000, 0), start.Add(19*time.Second))
	if r := s.Restore[0]; r.Rate == nil || *r.Rate != 1_000 || *r.Left != 5*time.Second || r.NoProgress() != "" {
		t.Errorf("the one that moves: %+v", r)
	}
	if r := s.Restore[1]; !r.Queued || r.NoProgress() != "waits its turn" {
		t.Errorf("the one that waits: %+v", r)
	}
	if why := s.Blockers[1].Why; !strings.HasSuffix(why, "(waits its turn)") {
		t.Errorf("got %q", why)
	}
	// A learner that became the active starts anew.
	g := at(20*time.Second, 5_000, 0)
	task(g, "w1/T1", "0_0").Role = model.Learner
	if s = j.Look(g, start.Add(20*time.Second)); s.Restore[0].Rate != nil || s.Restore[0].Stuck != 1 {
		t.Errorf("another role: %+v", s.Restore[0])
	}
}

// An active task whose commits move runs, whatever its app said last of its
// copy: it is no task that restores.
func TestWhatRunsIsNotListedAsRestoring(t *testing.T) {
	j := NewJudge(Goal{For: Converged, Settle: time.Minute})
	look := func(n int) Status {
		g := restoring(5_003, true)
		for i := range g.Instances {
			for k := range g.Instances[i].Members {
				for x := range g.Instances[i].Members[k].Tasks {
					t := &g.Instances[i].Members[k].Tasks[x]
					t.Partitions = []model.TopicPartition{{Topic: "orders", Partition: t.ID.Partition}}
					g.Offsets = append(g.Offsets, model.PartitionOffset{TopicPartition: t.Partitions[0], Committed: ptr(int64(10 * n))})
				}
			}
		}
		return j.Look(g, start.Add(time.Duration(n)*time.Second))
	}
	if s := look(1); len(s.Restore) != 1 {
		t.Fatalf("before its commits move: %+v", s.Restore)
	}
	if s := look(2); len(s.Restore) != 0 {
		t.Errorf("its commits move, and it is listed: %+v", s.Restore)
	}
}
