package cmd

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// livingGroup is a recorded classic group whose members live.
type livingGroup struct {
	group, fixture string
	dead           []string // client ids of instances that are silent after the first round
	promote        int      // in the round of this number, from 0, its learners take over; 0: never
	static         string   // instance whose members are static: it, "-" and the thread
	heartbeat      time.Duration
	bare           bool // without records and commits
}

// start brings it to Stable in an embedded cluster.
func (g livingGroup) start(ctx context.Context, snapshots string) (*lab.Lab, error) {
	s, err := readRecorded(snapshots, g.fixture)
	if err != nil {
		return nil, err
	}
	if g.bare {
		s.Logs, s.Group(g.group).Commits = nil, nil
	}
	if g.static != "" {
		g.makeStatic(s)
	}
	a := lab.Alive{Group: g.group, Rounds: []*snapshot.Snapshot{s}, Dead: g.dead, Heartbeat: g.heartbeat, Rejoin: 200 * time.Millisecond}
	if g.promote > 0 {
		for range g.promote - 1 {
			a.Rounds = append(a.Rounds, s)
		}
		later, err := readRecorded(snapshots, g.fixture)
		if err != nil {
			return nil, err
		}
		if err := promote(later.Group(g.group).Classic.Members, g.dead); err != nil {
			return nil, err
		}
		a.Rounds = append(a.Rounds, later)
	}
	l, err := lab.Start(lab.Options{Now: time.Now()})
	if err != nil {
		return nil, err
	}
	if err := l.Live(ctx, a); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (g livingGroup) makeStatic(s *snapshot.Snapshot) {
	list := s.Group(g.group).Classic.Members
	for i := range list {
		if base, n := model.SplitThread(list[i].ClientID); base == g.static {
			id := base + "-" + string(rune('0'+n))
			list[i].InstanceID = &id
		}
	}
}

// promote gives every copy its task, as a leader does that finds it caught up,
// and plans no rebalance. Copies on instances that are dead are none.
func promote(members []snapshot.ClassicMember, dead []string) error {
	frames := make([]groupmeta.ConsumerAssignment, len(members))
	infos := make([]groupmeta.AssignmentInfo, len(members))
	taken := map[groupmeta.Task]bool{}
	for i := range members {
		var err error
		if frames[i], err = groupmeta.DecodeConsumerAssignment(members[i].Assignment); err != nil {
			return err
		}
		if infos[i], err = groupmeta.DecodeAssignmentInfo(frames[i].UserData); err != nil {
			return err
		}
		if base, _ := model.SplitThread(members[i].ClientID); slices.Contains(dead, base) {
			infos[i].StandbyTasks = nil
		}
		for _, t := range infos[i].StandbyTasks {
			taken[t.Task] = true
		}
	}
	for i := range members {
		owned, err := groupmeta.PairActive(frames[i].Assigned, infos[i].ActiveTasks)
		if err != nil {
			return err
		}
		owned = slices.DeleteFunc(owned, func(t groupmeta.TaskPartitions) bool { return taken[t.Task] })
		owned = append(owned, infos[i].StandbyTasks...)
		of := map[model.TopicPartition]groupmeta.Task{}
		var all []model.TopicPartition
		for _, t := range owned {
			for _, p := range t.Partitions {
				of[p] = t.Task
				all = append(all, p)
			}
		}
		frames[i].Assigned = groupmeta.GroupByTopic(all)
		infos[i].ActiveTasks, infos[i].StandbyTasks = nil, nil
		for _, p := range groupmeta.SortedPartitions(frames[i].Assigned) {
			infos[i].ActiveTasks = append(infos[i].ActiveTasks, of[p])
		}
		infos[i].NextRebalanceMs = groupmeta.NoRebalance
		if frames[i].UserData, err = infos[i].Encode(); err != nil {
			return err
		}
		if members[i].Assignment, err = frames[i].Encode(); err != nil {
			return err
		}
	}
	return nil
}

// scriptLive starts a group that lives:
//
//	live GROUP FIXTURE [dead=CLIENT] [static=CLIENT] [promote=ROUND] [heartbeat=D]
func scriptLive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: live GROUP FIXTURE [dead=CLIENT] [static=CLIENT] [promote=ROUND] [heartbeat=D]")
	}
	g := livingGroup{group: args[0], fixture: args[1]}
	for _, a := range args[2:] {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "dead":
			g.dead = append(g.dead, value)
		case "static":
			g.static = value
		case "promote":
			g.promote = int(value[0] - '0')
		case "heartbeat":
			d, err := time.ParseDuration(value)
			ts.Check(err)
			g.heartbeat = d
		default:
			ts.Fatalf("live: %q is not known", a)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := g.start(ctx, ts.Getenv("SNAPSHOTS"))
	ts.Check(err)
	ts.Defer(l.Close)
	ts.Setenv("STREAMCTL_BOOTSTRAP_SERVER", l.Bootstrap())
}

// A promoted recording gives each task to one member still.
func TestPromote(t *testing.T) {
	s := fixture(t, "classic-learners")
	list := s.Group("shop").Classic.Members
	if err := promote(list, nil); err != nil {
		t.Fatal(err)
	}
	g, err := groupmeta.Build(s, "shop", groupmeta.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Totals.Active != 12 || g.Totals.Learner != 0 || g.Totals.Standby != 0 || g.NextRebalance != nil {
		t.Errorf("%+v, next %+v", g.Totals, g.NextRebalance)
	}
}
