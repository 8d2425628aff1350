package plan

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// liveChange is one recorded change of a classic group (testdata/live).
type liveChange struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Config struct {
		Standbys int    `json:"num_standby_replicas"`
		Warmups  int    `json:"max_warmup_replicas"`
		Lag      int64  `json:"acceptable_recovery_lag"`
		Probing  int64  `json:"probing_rebalance_interval_ms"`
		Racks    string `json:"rack_aware_strategy"`
	} `json:"config"`
	SessionMs     int64      `json:"session_timeout_ms"`
	HeartbeatMs   int64      `json:"heartbeat_interval_ms"`
	Change        []liveStep `json:"change"`
	Prediction    string     `json:"prediction"`
	Note          string     `json:"note"`
	Subtopologies []struct {
		ID         json.RawMessage `json:"id"`
		Partitions int             `json:"partitions"`
		Stateful   bool            `json:"stateful"`
		Sources    []string        `json:"source_topics"`
		Changelogs []string        `json:"changelog_topics"`
		Ends       []int64         `json:"end_offsets"`
	} `json:"subtopologies"`
	Snapshot struct {
		State   string                   `json:"state"`
		Members []snapshot.ClassicMember `json:"members"`
	} `json:"snapshot"`
	Simulated map[string]struct {
		Predicted int `json:"predicted"`
		Observed  int `json:"observed"`
		Equal     int `json:"equal"`
		Process   int `json:"equal_per_process"`
	} `json:"simulated"`
	Rounds []liveRound `json:"rounds"`
}

type liveStep struct {
	Op       string          `json:"op"`
	Instance string          `json:"instance"`
	Process  string          `json:"process_id"`
	Threads  int             `json:"threads"`
	State    json.RawMessage `json:"state"`
	How      string          `json:"how"`
	Static   bool            `json:"static"`
	Rounds   int             `json:"rounds"`
}

type liveRound struct {
	Ms      float64 `json:"ms"`
	Members []struct {
		ID      string           `json:"id"`
		Process string           `json:"process_id"`
		Owned   []string         `json:"owned"`
		Sums    map[string]int64 `json:"offset_sums"`
		Active  []string         `json:"active"`
		Standby []string         `json:"standby"`
		Next    string           `json:"next_rebalance"`
	} `json:"members"`
}

func readLines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	s := bufio.NewScanner(f)
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		var x T
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// snapshot is what a tool could see before the change.
func (l *liveChange) snapshot() *snapshot.Snapshot {
	s := &snapshot.Snapshot{Groups: []snapshot.Group{{
		ID: l.Group, Listed: &snapshot.Listed{ProtocolType: "consumer", Type: "classic", State: l.Snapshot.State},
		Classic: &snapshot.ClassicGroup{State: l.Snapshot.State, ProtocolType: "consumer", Protocol: "stream", Members: l.Snapshot.Members},
	}}}
	for _, sub := range l.Subtopologies {
		for _, name := range slices.Concat(sub.Sources, sub.Changelogs) {
			topic := snapshot.Topic{Name: name}
			for p := range sub.Partitions {
				topic.Partitions = append(topic.Partitions, snapshot.TopicPartition{Partition: int32(p)})
			}
			s.Topics = append(s.Topics, topic)
		}
		for _, name := range sub.Changelogs {
			for p, end := range sub.Ends {
				zero, end := int64(0), end
				s.Logs = append(s.Logs, snapshot.Log{Topic: name, Partition: int32(p), Start: &zero, End: &end})
			}
		}
	}
	return s
}

// input is the group as a plan takes it, by the way that every command goes.
func (l *liveChange) input(t testing.TB) *Input {
	t.Helper()
	g, err := groupmeta.Build(l.snapshot(), l.Group, groupmeta.BuildOptions{Standbys: &l.Config.Standbys})
	if err != nil {
		t.Fatal(err)
	}
	in, err := FromGroup(g)
	if err != nil {
		t.Fatal(err)
	}
	subs := in.Topology.Subtopologies()
	for i, want := range l.Subtopologies {
		got := subs[i]
		if got.Partitions != want.Partitions || got.Stateful != want.Stateful || !slices.Equal(got.Changelogs, want.Changelogs) || want.Stateful && !slices.Equal(got.EndOffsets, want.Ends) {
			t.Errorf("%s: sub-topology %d is %+v, want %+v", l.Name, i, got, want)
		}
	}
	return in
}

func (l *liveChange) changes(t testing.TB) []Change {
	var out []Change
	for _, s := range l.Change {
		name := l.Group + "-" + s.Instance
		switch s.Op {
		case "add":
			a := Add{Count: 1, Threads: s.Threads, IDs: []string{s.Process}}
			var list []string
			if len(s.State) > 0 && string(s.State) != "null" {
				if string(s.State) == `"all"` {
					a.AllState = true
				} else if err := json.Unmarshal(s.State, &list); err != nil {
					t.Fatal(err)
				}
			}
			for _, id := range list {
				a.State = append(a.State, mustTask(t, id))
			}
			out = append(out, a)
		case "remove":
			out = append(out, Remove{name, s.How})
		case "bounce":
			out = append(out, Bounce{name, s.Threads, s.Static})
		case "threads":
			out = append(out, Threads{name, s.Threads})
		case "wait":
			out = append(out, Wait{s.Rounds})
		default:
			t.Fatalf("change %q", s.Op)
		}
	}
	return out
}

func mustTask(t testing.TB, s string) model.TaskID {
	t.Helper()
	id, err := model.ParseTaskID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (l *liveChange) options(t testing.TB, follow Follow) *Options {
	return &Options{
		Changes: l.changes(t), Follow: follow, MaxRounds: DefaultMaxRounds,
		Set: map[string]string{
			KeyStandbys: itoa(int64(l.Config.Standbys)), KeyWarmups: itoa(int64(l.Config.Warmups)), KeyAcceptableLag: itoa(l.Config.Lag),
			KeyProbing: itoa(l.Config.Probing), KeySession: itoa(l.SessionMs), KeyHeartbeat: itoa(l.HeartbeatMs),
		},
	}
}

// threadNames makes of a round one line a thread, by process and thread number:
// its tasks and, but for the place of a probing time, when it joins again.
type threadLine struct{ process, thread, active, standby, next string }

func (r *liveRound) lines() []threadLine {
	var out []threadLine
	for _, m := range r.Members {
		next := m.Next
		if next == "probing" {
			next = "none"
		}
		out = append(out, threadLine{m.Process, threadOf(m.ID), strings.Join(m.Active, " "), strings.Join(m.Standby, " "), next})
	}
	return sortedLines(out)
}

func threadOf(id string) string {
	_, n := model.SplitThread(id)
	return itoa(int64(n))
}

func sortedLines(list []threadLine) []threadLine {
	slices.SortFunc(list, func(a, b threadLine) int {
		return strings.Compare(a.process+" "+a.thread, b.process+" "+b.thread)
	})
	return list
}

// perProcess joins the threads of a process.
func perProcess(list []threadLine) []threadLine {
	var out []threadLine
	for _, l := range list {
		if n := len(out); n > 0 && out[n-1].process == l.process {
			o := &out[n-1]
			o.active, o.standby = o.active+" "+l.active, o.standby+" "+l.standby
			continue
		}
		l.thread, l.next = "", ""
		out = append(out, l)
	}
	for i := range out {
		out[i].active, out[i].standby = sortWords(out[i].active), sortWords(out[i].standby)
	}
	return out
}

func sortWords(s string) string {
	words := strings.Fields(s)
	slices.SortFunc(words, compareIDs)
	return strings.Join(words, " ")
}

func (c *classicSim) lines() []threadLine {
	var out []threadLine
	for _, p := range c.procs {
		if p.gone {
			continue
		}
		for _, m := range p.members {
			next := m.next.String()
			if next == "probing" {
				next = "none"
			}
			out = append(out, threadLine{p.id, itoa(int64(m.thread)), c.names(m.active), c.names(m.standby), next})
		}
	}
	return sortedLines(out)
}

func (c *classicSim) names(list []assign.Task) string {
	var out []string
	for _, t := range list {
		out = append(out, c.top.ID(t).String())
	}
	return strings.Join(out, " ")
}
