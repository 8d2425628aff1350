package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// liveStreams is one recorded change of a streams group.
type liveStreams struct {
	Name          string     `json:"name"`
	Version       string     `json:"kafka_version"`
	Group         string     `json:"group"`
	Standbys      int        `json:"num_standby_replicas"`
	SessionMs     int64      `json:"session_timeout_ms"`
	HeartbeatMs   int64      `json:"heartbeat_interval_ms"`
	Change        []liveStep `json:"change"`
	Subtopologies []struct {
		ID         string `json:"id"`
		Partitions int    `json:"partitions"`
		Stateful   bool   `json:"stateful"`
	} `json:"subtopologies"`
	Snapshot struct {
		State   string `json:"state"`
		Epoch   int32  `json:"epoch"`
		Members []struct {
			ID            string           `json:"id"`
			Client        string           `json:"client_id"`
			Process       string           `json:"process_id"`
			Active        []string         `json:"active"`
			Standby       []string         `json:"standby"`
			TargetActive  []string         `json:"target_active"`
			TargetStandby []string         `json:"target_standby"`
			Offsets       map[string]int64 `json:"task_offsets"`
		} `json:"members"`
	} `json:"snapshot"`
	Targets   []liveTarget `json:"targets"`
	Describes []struct {
		Ms      float64 `json:"ms"`
		State   string  `json:"state"`
		Unowned int     `json:"unowned"`
	} `json:"describes"`
}

type liveTarget struct {
	Ms        float64            `json:"ms"`
	Epoch     int32              `json:"epoch"`
	EqualWith []string           `json:"equal_with"`
	Members   []liveTargetMember `json:"members"`
}

type liveTargetMember struct {
	ID       string           `json:"id"`
	Label    string           `json:"label"`
	Process  string           `json:"process_id"`
	Previous liveTasks        `json:"previous_target"`
	Current  liveTasks        `json:"current"`
	Offsets  map[string]int64 `json:"task_offsets"`
	Target   liveTasks        `json:"target"`
}

type liveTasks struct {
	Active  []string `json:"active"`
	Standby []string `json:"standby"`
}

func (l *liveStreams) topology(t testing.TB) *assign.Topology {
	t.Helper()
	var subs []assign.Subtopology
	for _, s := range l.Subtopologies {
		subs = append(subs, assign.Subtopology{ID: s.ID, Partitions: s.Partitions, Stateful: s.Stateful})
	}
	top, err := assign.NewTopology(subs)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func numbers(t testing.TB, top *assign.Topology, ids []string) []assign.Task {
	t.Helper()
	var out []assign.Task
	for _, id := range ids {
		n, ok := top.Find(mustTask(t, id))
		if !ok {
			t.Fatalf("no task %s", id)
		}
		out = append(out, n)
	}
	return sorted(out)
}

func offsetsOf(t testing.TB, top *assign.Topology, list map[string]int64) []assign.Offset {
	t.Helper()
	var out []assign.Offset
	for id, n := range list {
		k, _ := top.Find(mustTask(t, id))
		out = append(out, assign.Offset{Task: k, Sum: n})
	}
	slices.SortFunc(out, func(a, b assign.Offset) int { return int(a.Task - b.Task) })
	return out
}

// place puts a member into the instance of its process.
func (in *Input) place(process string, m Member) {
	m.Place = 0
	for _, i := range in.Instances {
		m.Place += len(i.Members)
	}
	for i := range in.Instances {
		if in.Instances[i].ID == process {
			in.Instances[i].Members = append(in.Instances[i].Members, m)
			return
		}
	}
	in.Instances = append(in.Instances, Instance{ID: process, Name: process, Members: []Member{m}, RemainingMs: -1})
}

func (l *liveStreams) sim(t testing.TB, in *Input, changes []Change) *streamsSim {
	t.Helper()
	o := &Options{KafkaVersion: l.Version, Changes: changes, MaxRounds: DefaultMaxRounds, Set: map[string]string{
		KeyStandbys: itoa(int64(l.Standbys)), KeyHeartbeat: itoa(l.HeartbeatMs), KeySession: itoa(l.SessionMs),
	}}
	set, err := resolve(in, in.Assignor, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStreamsSim(in, o, set, newRecorder(in, 0, Rate{}), 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (l *liveStreams) emptyInput(t testing.TB) *Input {
	top := l.topology(t)
	return &Input{Group: l.Group, Kind: model.Streams, Assignor: assign.NameStreamsSticky, Topology: top, Logs: make([]Log, top.Len()), Settled: true}
}

func streamsLines(top *assign.Topology, id string, active, standby []assign.Task) string {
	var a, s []string
	for _, t := range active {
		a = append(a, top.ID(t).String())
	}
	for _, t := range standby {
		s = append(s, top.ID(t).String())
	}
	return id + " A " + sortWords(strings.Join(a, " ")) + " S " + sortWords(strings.Join(s, " "))
}

// Every recorded target, from the state of its own moment.
func TestRecordedTargets(t *testing.T) {
	n := 0
	for _, l := range readLines[liveStreams](t, "../../testdata/live/streams-changes.jsonl") {
		for _, target := range l.Targets {
			in := l.emptyInput(t)
			var want []string
			for _, m := range target.Members {
				out := Member{ID: m.ID, Name: m.Label, Active: numbers(t, in.Topology, m.Current.Active), Standby: numbers(t, in.Topology, m.Current.Standby),
					TargetActive: numbers(t, in.Topology, m.Previous.Active), TargetStandby: numbers(t, in.Topology, m.Previous.Standby), Reported: offsetsOf(t, in.Topology, m.Offsets)}
				in.place(m.Process, out)
				want = append(want, streamsLines(in.Topology, m.ID, numbers(t, in.Topology, m.Target.Active), numbers(t, in.Topology, m.Target.Standby)))
			}
			for i := range in.Instances { // the places are those of the recording
				for j := range in.Instances[i].Members {
					m := &in.Instances[i].Members[j]
					m.Place = slices.IndexFunc(target.Members, func(x liveTargetMember) bool { return x.ID == m.ID })
				}
			}
			s := l.sim(t, in, nil)
			res, err := s.target()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, m := range s.members {
				got = append(got, streamsLines(in.Topology, m.id, res.Members[i].Active, res.Members[i].Standby))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s epoch %d (equal with %v):\n got %v\nwant %v", l.Name, target.Epoch, target.EqualWith, got, want)
			}
			n++
		}
	}
	if n < 20 {
		t.Fatalf("only %d targets", n)
	}
	t.Logf("%d targets equal", n)
}

// onDisk is the state that an instance had on its disk when it came: only a
// person can know it.
func (l *liveStreams) onDisk(t *testing.T, instance string) (out []model.TaskID) {
	for _, m := range l.Targets[0].Members {
		if strings.HasPrefix(m.Label, instance+".") {
			for id := range m.Offsets {
				out = append(out, mustTask(t, id))
			}
		}
	}
	return out
}

// Every recorded change as a plan, from the snapshot before it, with the ids
// that came.
func TestRecordedEpochs(t *testing.T) {
	equal, all := 0, 0
	for _, l := range readLines[liveStreams](t, "../../testdata/live/streams-changes.jsonl") {
		in := l.emptyInput(t)
		in.Epoch = l.Snapshot.Epoch
		for _, m := range l.Snapshot.Members {
			in.place(m.Process, Member{ID: m.ID, Name: m.Client, Active: numbers(t, in.Topology, m.Active), Standby: numbers(t, in.Topology, m.Standby),
				TargetActive: numbers(t, in.Topology, m.TargetActive), TargetStandby: numbers(t, in.Topology, m.TargetStandby), Reported: offsetsOf(t, in.Topology, m.Offsets)})
		}
		for i := range in.Instances {
			first := in.Instances[i].Members[0].Name
			in.Instances[i].Name, _, _ = strings.Cut(strings.TrimPrefix(first, l.Group+"-"), "-")
		}
		ids := map[string]string{}
		for _, target := range l.Targets {
			for _, m := range target.Members {
				ids[m.Label] = m.ID
			}
		}
		var changes []Change
		added := Add{}
		for _, c := range l.Change {
			switch c.Op {
			case "add":
				added.Count, added.Threads = added.Count+1, c.Threads
				added.IDs = append(added.IDs, c.Process)
				for n := range c.Threads {
					added.Members = append(added.Members, ids[c.Instance+"."+itoa(int64(n+1))])
				}
				added.State = append(added.State, l.onDisk(t, c.Instance)...)
			case "remove":
				changes = append(changes, Remove{c.Instance, c.How})
			}
		}
		if added.Count > 0 {
			changes = append(changes, added)
		}
		s := l.sim(t, in, changes)
		if err := s.change(changes, true); err != nil {
			t.Fatal(err)
		}
		for k, target := range l.Targets {
			all++
			more, err := s.round()
			if err != nil || !more {
				t.Errorf("%s: no epoch %d: %v", l.Name, k+1, err)
				break
			}
			var got, want []string
			for _, m := range s.members {
				got = append(got, streamsLines(in.Topology, m.id, m.targetActive, m.targetStandby))
			}
			for _, m := range target.Members {
				want = append(want, streamsLines(in.Topology, m.ID, numbers(t, in.Topology, m.Target.Active), numbers(t, in.Topology, m.Target.Standby)))
			}
			slices.Sort(got)
			slices.Sort(want)
			if slices.Equal(got, want) {
				equal++
			} else if l.Name != "live-t3-1" {
				t.Errorf("%s epoch %d:\n got %s\nwant %s", l.Name, target.Epoch, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		}
		l.checkUnowned(t, s.rec.rounds)
		if more, _ := s.round(); more {
			t.Errorf("%s: more epochs than %d", l.Name, len(l.Targets))
		}
	}
	// Of live-t3-1 thread 1 joined first; in the five others it was the last one.
	if equal != 21 || all != 22 {
		t.Errorf("%d of %d targets equal, 21 of 22 are known to be", equal, all)
	}
}

// checkUnowned compares the time without an owner with the range of the plan.
func (l *liveStreams) checkUnowned(t *testing.T, rounds []Round) {
	t.Helper()
	tasks, least, most := 0, 0.0, 0.0
	for _, r := range rounds {
		if r.Unowned != nil {
			tasks += r.Unowned.Tasks
			least, most = least+r.Unowned.LeastS, most+r.Unowned.MostS
		}
	}
	seen, open := 0, 0.0 // most tasks at a time, ms with any
	for i, d := range l.Describes {
		seen = max(seen, d.Unowned)
		if d.Unowned > 0 && i+1 < len(l.Describes) {
			open += l.Describes[i+1].Ms - d.Ms
		}
	}
	if seen > tasks || open/1000 > most+1 || open/1000 < least {
		t.Errorf("%s: up to %d tasks without owner, for %.1f s in all; the plan says %d, %.0f to %.0f s", l.Name, seen, open/1000, tasks, least, most)
	}
}
