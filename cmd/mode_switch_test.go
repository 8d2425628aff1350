package cmd

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/ui"
	"github.com/streamctl/streamctl/worker"
)

// count counts records by key, in the store.
type count struct{}

func (count) Process(r worker.Record, s worker.Store) error {
	var n uint64
	if b, ok := s.Get(r.Key); ok {
		n = binary.BigEndian.Uint64(b)
	}
	s.Put(r.Key, binary.BigEndian.AppendUint64(nil, n+1))
	return nil
}

// clicks is an embedded cluster with a worker group of three real workers, and
// the command line that reaches it.
func clicks(t *testing.T) (*lab.Lab, func(...string) captured) {
	t.Helper()
	l, err := lab.Start(lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.LetTypesChange()
	if err := l.Cluster().CreateTopic("views", 6, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		name := fmt.Sprintf("pod-%c", 'a'+i)
		in, err := worker.Start(t.Context(), worker.Config{
			Group: "clicks", Topology: []worker.Subtopology{{ID: 0, Sources: []string{"views"}, Changelog: "clicks-counts-changelog"}},
			NewProcessor: func(worker.TaskID) worker.Processor { return count{} }, Client: []kgo.Opt{kgo.SeedBrokers(l.Bootstrap())},
			ClientID: name, Host: name, StateDir: t.TempDir(), Settings: worker.DefaultSettings(),
			SessionTimeout: 6 * time.Second, RebalanceTimeout: 10 * time.Second, Heartbeat: 100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(in.Kill)
	}
	run := func(args ...string) captured {
		d := newDeps(&ui.Streams{In: strings.NewReader(""), Env: func(string) (string, bool) { return "", false }})
		return runWith(t, d, append(args, "--bootstrap-server", l.Bootstrap())...)
	}
	for range 200 {
		if got := run("describe", "group", "clicks", "-o", "json"); got.code == 0 && strings.Contains(got.out, `"state":"Stable"`) && strings.Count(got.out, `"endpoint"`) == 3 {
			return l, run
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the group does not come up")
	return nil, nil
}

// There and back, with the pause measured, so not parallel; what it runs in
// already is no switch.
func TestModeSetSwitchesAWorkerGroup(t *testing.T) {
	_, run := clicks(t)
	got := run("mode", "set", "clicks", "upgrading", "--dry-run")
	if got.code != 0 || !strings.Contains(got.out, "dry run: nothing was switched") || !strings.Contains(got.err, "switching from incremental to") || !strings.Contains(got.err, "protocol type consumer") {
		t.Fatalf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	for i, mode := range []string{"upgrading", "incremental"} {
		got := run("mode", "set", "clicks", mode, "--yes", "--reason", "test", "-o", "json")
		if got.code != 0 {
			t.Fatalf("%s: exit code %d: %s%s", mode, got.code, got.out, got.err)
		}
		m := document(t, got.out)["mode"].(map[string]any)
		if fmt.Sprint(m["epoch"]) != fmt.Sprint(i+1) || m["pause_ms"] == nil || m["rolled_back"] != false || m["to"] != mode {
			t.Errorf("%s: %v", mode, m)
		}
		var ms int64
		if fmt.Sscan(fmt.Sprint(m["pause_ms"]), &ms); ms > 5000 {
			t.Errorf("%s: a pause of %d ms", mode, ms)
		}
		t.Logf("%s: pause %v ms\n%s", mode, m["pause_ms"], got.err)
		if got := run("mode", "get", "clicks"); got.code != 0 || !strings.Contains(got.out, mode+" (protocol type") || !strings.Contains(got.out, fmt.Sprintf("epoch %d", i+1)) || !strings.Contains(got.out, "3 of 3 instances follow") {
			t.Errorf("mode get: exit code %d: %s%s", got.code, got.out, got.err)
		}
		if got := run("mode", "set", "clicks", mode, "--yes"); got.code != 0 || !strings.Contains(got.out, "already, nothing was done") {
			t.Errorf("again: exit code %d: %s%s", got.code, got.out, got.err)
		}
	}
	for _, args := range [][]string{{"mode", "set", "clicks", "sideways", "--yes"}, {"mode", "set", "clicks"}, {"mode", "set", "clicks", "upgrading"}, {"mode"}, {"mode", "set", "clicks", "upgrading", "--yes", "--allowed", "1ms"}} {
		if got := run(args...); got.code != 2 || got.out != "" {
			t.Errorf("%v: exit code %d: %s", args, got.code, got.err)
		}
	}
}

// A member of the old type that does not follow: the preflight refuses, since it
// is none of ours; forced, all go back, and it is named.
func TestModeSetRollsBack(t *testing.T) {
	t.Parallel()
	l, run := clicks(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(l.Bootstrap()), kgo.ConsumerGroup("clicks"), kgo.GroupProtocol("stream"), kgo.ClientID("stranger"),
		kgo.ConsumeTopics("views"), kgo.Balancers(stranger{}), kgo.HeartbeatInterval(100*time.Millisecond), kgo.SessionTimeout(6*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range 200 {
		if g := l.Cluster().GroupInfo("clicks"); g != nil && len(g.Members) == 4 && g.State == "Stable" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	got := run("mode", "set", "clicks", "upgrading", "--yes")
	if got.code != 1 || !strings.Contains(got.err, "would not follow as a whole") || !strings.Contains(got.err, "nothing was done") {
		t.Fatalf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	// It goes once the workers have: while it leads the group nobody gets anything.
	time.AfterFunc(4*time.Second, cl.Close)
	got = run("mode", "set", "clicks", "upgrading", "--yes", "--force", "--allowed", "2s")
	if got.code != 1 || !strings.Contains(got.out, "not switched: clicks is back in mode incremental, epoch 2") || !strings.Contains(got.out, "stranger") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	t.Log(got.out, got.err)
}

// A switch right after an instance was drained, while it may still be in the
// group: nobody waits for it.
func TestModeSetRightAfterADrain(t *testing.T) {
	t.Parallel()
	_, run := clicks(t)
	if got := run("mark-leaving", "pod-c", "-g", "clicks", "--wait", "--timeout", "60s"); got.code != 0 || !strings.Contains(got.out, "safe to stop") {
		t.Fatalf("mark-leaving: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	got := run("mode", "set", "clicks", "upgrading", "--yes")
	if got.code != 0 || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "with all 2 instances; pause ") {
		t.Errorf("mode set: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// stranger is no worker.
type stranger struct{}

func (stranger) ProtocolName() string { return "learner" }
func (stranger) IsCooperative() bool  { return true }
func (stranger) JoinGroupMetadata([]string, map[string][]int32, int32) []byte {
	return []byte("not ours")
}
func (stranger) ParseSyncAssignment([]byte) (map[string][]int32, error) { return nil, nil }
func (stranger) MemberBalancer([]kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	return stranger{}, map[string]struct{}{"views": {}}, nil
}
func (stranger) Balance(map[string]int32) kgo.IntoSyncAssignment            { return stranger{} }
func (stranger) IntoSyncAssignment() []kmsg.SyncGroupRequestGroupAssignment { return nil }
