package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/snapshot"
	"github.com/streamctl/streamctl/internal/ui"
)

// startLab runs an embedded broker with the groups of recorded snapshots.
func startLab(t *testing.T, names ...string) *lab.Lab {
	t.Helper()
	l, err := lab.Start(lab.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range names {
		if _, err := l.Replay(ctx, fixture(t, n)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// against runs one command line against an embedded broker.
func against(t *testing.T, l *lab.Lab, args ...string) captured {
	t.Helper()
	return runWith(t, newDeps(&ui.Streams{In: strings.NewReader("")}), append(args, "--bootstrap-server", l.Bootstrap())...)
}

// An error of the coordinator is retried, and in the end an error with its
// name: never a zero, never a wrong lag.
func TestFieldCase30CoordinatorThatNeverSettles(t *testing.T) {
	l := startLab(t, "classic-standbys")
	moves := 1 // answers that send the reader away
	l.Cluster().ControlKey(int16(kmsg.DescribeGroups), func(req kmsg.Request) (kmsg.Response, error, bool) {
		l.Cluster().KeepControl()
		if moves == 0 {
			return nil, nil, false
		}
		moves--
		resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for _, id := range req.(*kmsg.DescribeGroupsRequest).Groups {
			g := kmsg.NewDescribeGroupsResponseGroup()
			g.Group, g.ErrorCode = id, kerr.NotCoordinator.Code
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
	got := against(t, l, "describe", "group", "stats", "-o", "json")
	if doc := document(t, got.out); got.code != 0 || doc["state"] != "Stable" {
		t.Errorf("one NOT_COORDINATOR: exit code %d, state %v\n%s", got.code, doc["state"], got.err)
	}
	moves = 1 << 30
	begin := time.Now()
	got = against(t, l, "describe", "group", "stats", "-o", "json", "--timeout", "2s")
	if got.code != 1 || !strings.Contains(got.err, "NOT_COORDINATOR") || time.Since(begin) > 4*time.Second {
		t.Errorf("for ever: exit code %d after %s\n%s", got.code, time.Since(begin), got.err)
	}
	if got.out != "" {
		t.Errorf("something is said about what was not read: %s", got.out)
	}
	got = against(t, l, "get", "groups", "--lag", "--timeout", "2s", "--color", "never")
	if got.code != 1 || !strings.Contains(got.err, `error: describe group "stats"`) || !regexp.MustCompile(`stats +\S+ +\S+ +\? +\? +\? +- +-`).MatchString(got.out) {
		t.Errorf("list: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// A group and a snapshot taken of it give the same document, but for the time.
func TestSnapshotGivesTheSameDocument(t *testing.T) {
	l := startLab(t, "classic-standbys")
	file := filepath.Join(t.TempDir(), "stats.json")
	if got := against(t, l, "snapshot", "stats", "-f", file); got.code != 0 {
		t.Fatal(got.err)
	}
	taken := regexp.MustCompile(`"taken_at":"[^"]*"`)
	for _, args := range [][]string{
		{"describe", "group", "stats"}, {"get", "instances", "stats"}, {"get", "members", "stats"}, {"get", "tasks", "stats"},
		{"describe", "task", "0_1", "-g", "stats"}, {"check", "stop", "pod-b", "-g", "stats"},
	} {
		args = append(args, "-o", "json")
		live := taken.ReplaceAllString(against(t, l, args...).out, "")
		file := taken.ReplaceAllString(runWith(t, newDeps(&ui.Streams{}), append(args, "--from", file)...).out, "")
		if live != file || live == "" {
			t.Errorf("%v differ:\n%s\n%s", args, live, file)
		}
	}
}

// A snapshot holds what the cluster answered, in the file form.
func TestSnapshotFileReadsBack(t *testing.T) {
	l := startLab(t, "classic-learners")
	got := against(t, l, "snapshot", "shop")
	s, err := snapshot.Read(bytes.NewReader([]byte(got.out)))
	if err != nil || got.code != 0 || s.Group("shop") == nil || len(s.Group("shop").Classic.Members) != 4 || len(s.APIVersions) != 1 {
		t.Errorf("exit code %d, %v\n%s", got.code, err, got.err)
	}
	file := filepath.Join(t.TempDir(), "no", "such", "folder.json")
	if got = against(t, l, "snapshot", "shop", "-f", file); got.code != 1 || got.out != "" {
		t.Errorf("no folder: exit code %d, stdout %q", got.code, got.out)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there")
	}
}

// A member that joins a live group is seen, counted and named as the cause.
func TestWatchSeesALiveRebalance(t *testing.T) {
	l := startLab(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	topics, err := kgo.NewClient(kgo.SeedBrokers(l.Bootstrap()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(topics.Close)
	if _, err := kadm.NewClient(topics).CreateTopics(ctx, 4, 1, nil, "mail"); err != nil {
		t.Fatal(err)
	}
	join := func(id string) {
		c, err := kgo.NewClient(kgo.SeedBrokers(l.Bootstrap()), kgo.ClientID(id), kgo.ConsumerGroup("mailers"), kgo.ConsumeTopics("mail"), kgo.HeartbeatInterval(100*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
	}
	join("first")
	stable := func() captured {
		return against(t, l, "wait", "mailers", "--for", "stable", "--settle", "300ms", "--interval", "100ms")
	}
	got := stable()
	for ; got.code == 1 && ctx.Err() == nil; got = stable() {
		time.Sleep(20 * time.Millisecond) // the group is not there before the member asks for it
	}
	if got.code != 0 {
		t.Fatalf("not stable: exit code %d\n%s", got.code, got.err)
	}
	time.AfterFunc(500*time.Millisecond, func() { join("second") })
	got = against(t, l, "watch", "mailers", "--for", "30s", "--interval", "100ms", "--fail-on", "rebalances=1")
	if got.code != 3 || !strings.Contains(got.out, "rebalance 1") || !strings.Contains(got.out, "joined") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// A list with lags knows the lag of an Empty app, which only its topics tell
// from a plain consumer group; -g keeps the row of one group.
func TestListOfOneGroupWithLag(t *testing.T) {
	l := startLab(t, "classic-empty", "classic-one-instance")
	got := against(t, l, "get", "groups", "--lag", "-o", "tsv", "--no-headers", "-g", "ledger")
	if f := strings.Split(got.out, "\t"); got.code != 0 || strings.Count(got.out, "\n") != 1 || f[0] != "ledger" || f[6] != "0" {
		t.Errorf("exit code %d: %q\n%s", got.code, got.out, got.err)
	}
	if got = against(t, l, "get", "groups", "-g", "nope"); got.code != 1 || got.out != "" || !strings.Contains(got.err, `group "nope" not found`) {
		t.Errorf("exit code %d: %q\n%s", got.code, got.out, got.err)
	}
}
