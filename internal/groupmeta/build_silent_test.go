package groupmeta_test

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// A worker that crashed is a member until its session ends: that it says nothing
// while the others do is a finding, not that its clock is behind.
func TestSilentWorkers(t *testing.T) {
	ago := func(n string, d time.Duration) control.Record {
		return status(n, func(s *control.Status) { s.At = start().Add(-d) })
	}
	large := status("1", func(s *control.Status) { // more than 700 KB, after which it pauses for more than 7 s
		s.At = start().Add(-11 * time.Second)
		for n := range int32(15_000) {
			s.Tasks = append(s.Tasks, control.Task{ID: model.TaskID{Subtopology: "0", Partition: n}, Role: model.Active, Tags: []model.Tag{}})
		}
	})
	for name, c := range map[string]struct {
		records []control.Record
		want    bool
	}{
		"all speak":           {[]control.Record{ago("1", 6*time.Second), ago("2", time.Second), ago("3", time.Second)}, false},
		"one is silent":       {[]control.Record{ago("1", 11*time.Second), ago("2", time.Second), ago("3", 3*time.Second)}, true},
		"it pauses":           {[]control.Record{large, ago("2", time.Second), ago("3", 3*time.Second)}, false},
		"its clock is late":   {[]control.Record{ago("2", time.Second), ago("3", 3*time.Second), ago("1", time.Hour)}, false},
		"it has never spoken": {[]control.Record{ago("2", time.Second), ago("3", 3*time.Second)}, false},
	} {
		g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), c.records...), groupmeta.BuildOptions{})
		var found []string
		for _, f := range g.Findings {
			if f.Code == model.FindingSilent {
				found = append(found, f.Object+": "+f.Text)
			}
		}
		if len(found) > 0 != c.want || c.want && (len(found) != 1 || !strings.HasPrefix(found[0], "instance click-1: click-1 has written no status for 10s")) {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// Positions are as old as each status says: where one is older than workers
// write, its age is told beside that of the newest.
func TestPositionsTellTheOldestStatus(t *testing.T) {
	ago := func(n string, d time.Duration, tasks ...control.Task) control.Record {
		return status(n, func(s *control.Status) { s.At, s.Tasks = start().Add(-d), tasks })
	}
	runs, learns := said("0_1", model.Active, 0, 2000, 2000), said("0_0", model.Learner, 600, 400, 1000)
	for name, c := range map[string]struct {
		records []control.Record
		want    string
	}{
		"all write":               {[]control.Record{ago("1", 5*time.Second, runs), ago("2", time.Second, learns), ago("3", time.Second)}, ""},
		"one is late":             {[]control.Record{ago("1", 8*time.Second, runs), ago("2", time.Second, learns), ago("3", time.Second)}, "click-1 8s"},
		"none of its tasks":       {[]control.Record{ago("3", 8*time.Second), ago("1", time.Second, runs), ago("2", time.Second, learns)}, ""},
		"others did not write on": {[]control.Record{ago("2", time.Second, learns), ago("3", time.Second), ago("1", 8*time.Second, runs)}, ""},
	} {
		p := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), c.records...), groupmeta.BuildOptions{}).Positions
		got := ""
		if p.Oldest != nil {
			got = p.OldestName + " " + start().Sub(*p.Oldest).String()
		}
		if got != c.want || p.AsOf == nil {
			t.Errorf("%s: %q, want %q (%+v)", name, got, c.want, p)
		}
	}
}

// While a worker group rebalances, brokers do not tell what its members say of
// themselves: instances go by the names in their statuses, and by their client
// ids where there is none.
func TestWorkersKeepTheirNamesInARebalance(t *testing.T) {
	named := func(n, clientID, left string) control.Record {
		return status(n, func(s *control.Status) { s.ClientID, s.Left = clientID, control.Departure(left) })
	}
	s := withControl(clicks{protocolType: "stream"}.snapshot(), named("1", "pod-a", ""), named("2", "pod-b", "stopped"))
	c := s.Groups[0].Classic
	c.State = "PreparingRebalance"
	c.Members = append(c.Members, c.Members[0])
	for i, id := range []string{"pod-a-w0", "pod-b-w0", "pod-c-w0", "pod-a-w1"} {
		m := &c.Members[i]
		m.ID, m.ClientID, m.Metadata, m.Assignment = id+"-id", id, nil, nil
	}
	var got []string
	for _, in := range build(t, s, groupmeta.BuildOptions{}).Instances {
		for _, m := range in.Members {
			got = append(got, in.Name+" "+m.Name)
		}
	}
	if want := "pod-a pod-a/w0, pod-a pod-a/w1, pod-b-w0 pod-b-w0, pod-c-w0 pod-c-w0"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", strings.Join(got, ", "), want)
	}
}
