package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
	"github.com/streamctl/streamctl/internal/ui"
)

// fakeCluster answers with one snapshot after the other; the last one stays.
type fakeCluster struct {
	answers []*snapshot.Snapshot
	errs    []error // of the answers in turn; nil or missing: none
	queries []kclient.Query
	every   time.Duration // time that an answer stands for; 0: each query gets the next
	began   time.Time
}

func (f *fakeCluster) Snapshot(_ context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	i := len(f.queries)
	if f.every > 0 {
		if f.began.IsZero() {
			f.began = time.Now()
		}
		i = int(time.Since(f.began) / f.every)
	}
	f.queries = append(f.queries, q)
	if i < len(f.errs) && f.errs[i] != nil {
		return nil, f.errs[i]
	}
	s := *f.answers[min(i, len(f.answers)-1)]
	if !q.ListAll {
		s.Groups = slices.DeleteFunc(slices.Clone(s.Groups), func(g snapshot.Group) bool { return !slices.Contains(q.Groups, g.ID) })
	} else if q.Match != nil {
		s.Groups = slices.DeleteFunc(slices.Clone(s.Groups), func(g snapshot.Group) bool { return !q.Match(g.ID) })
	}
	return &s, nil
}

func (f *fakeCluster) Close() {}

// fakeDeps are deps whose cluster is c; nil means that dialling is a failure of
// the test.
func fakeDeps(t *testing.T, c Cluster, env ...string) *deps {
	t.Helper()
	d := newDeps(&ui.Streams{In: strings.NewReader("")})
	d.io.Env = func(name string) (string, bool) {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v, true
			}
		}
		if name == "STREAMCTL_BOOTSTRAP_SERVER" {
			return "fake:9092", true
		}
		return "", false
	}
	d.dial = func(context.Context, config.Connection, kclient.Options) (Cluster, error) {
		if c == nil {
			t.Error("dialled, though nothing was to be sent")
		}
		return c, nil
	}
	return d
}

// fixture reads a recorded snapshot.
func fixture(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "snapshot", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	s, err := snapshot.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// merge puts the groups of several snapshots into one.
func merge(list ...*snapshot.Snapshot) *snapshot.Snapshot {
	out := *list[0]
	out.Groups, out.Topics, out.Logs = nil, nil, nil
	for _, s := range list {
		out.Groups = append(out.Groups, s.Groups...)
		out.Topics = append(out.Topics, s.Topics...)
		out.Logs = append(out.Logs, s.Logs...)
	}
	out.Normalize()
	return &out
}

// with returns a deep copy of a snapshot, changed.
func with(t *testing.T, s *snapshot.Snapshot, change func(*snapshot.Snapshot)) *snapshot.Snapshot {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := new(snapshot.Snapshot)
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	change(out)
	return out
}

// document reads a JSON document out of stdout; anything else on it fails.
func document(t *testing.T, out string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s", err, out)
	}
	if d.More() {
		t.Fatalf("more than one document on stdout:\n%s", out)
	}
	return v
}
