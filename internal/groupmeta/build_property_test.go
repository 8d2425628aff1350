package groupmeta_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// captures are the snapshots of real groups, by name.
func captures(t testing.TB) map[string]*snapshot.Snapshot {
	t.Helper()
	files, err := filepath.Glob("../../testdata/snapshot/*.json")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]*snapshot.Snapshot)
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if strings.HasPrefix(name, "raw-") {
			continue
		}
		r, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Read(r)
		r.Close()
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out[name] = s
	}
	if len(out) < 15 {
		t.Fatalf("only %d captures", len(out))
	}
	return out
}

// clone copies a snapshot by its file form.
func clone(t testing.TB, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	var buf bytes.Buffer
	if err := s.Write(&buf); err != nil {
		t.Fatal(err)
	}
	out, err := snapshot.Read(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// shuffleAll puts every list into another order. That of a streams group's
// members decides ties of the broker's assignor, nothing in the model.
func shuffleAll(r *rand.Rand, s *snapshot.Snapshot) {
	shuffle(r, s.Brokers)
	shuffle(r, s.Topics)
	shuffle(r, s.Logs)
	shuffle(r, s.LogSizes)
	shuffle(r, s.Missing)
	shuffle(r, s.Errors)
	shuffle(r, s.Groups)
	for i := range s.Topics {
		shuffle(r, s.Topics[i].Partitions)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		shuffle(r, g.Commits)
		shuffle(r, g.Configs)
		if g.Classic != nil {
			shuffle(r, g.Classic.Members)
		}
		if g.Streams != nil {
			shuffle(r, g.Streams.Members)
		}
	}
}

// The order of the answers means nothing: any gives the same model.
func TestFieldCase59_ShuffledAnswersGiveTheSameModel(t *testing.T) {
	all := captures(t)
	all["mixed versions"] = twelve(
		appMember{process: "a", active: all0, standby: all1, sums: running(all0), next: atOnce},
		appMember{process: "b", active: all1, standby: "0_0 0_1", sums: map[string]int64{"0_0": 5, "1_1": -2}, next: start().UnixMilli()},
		appMember{process: "c", standby: "0_0", code: groupmeta.ErrorAssignment},
		appMember{process: "c", format: 8, noAssignment: true},
	).snapshot()
	all["workers"] = clicks{protocolType: "consumer", leaving: true}.snapshot()
	for name, s := range all {
		want := must(json.Marshal(build(t, s, groupmeta.BuildOptions{})))
		for seed := range uint64(20) {
			other := clone(t, s)
			shuffleAll(rand.New(rand.NewPCG(seed, 1)), other)
			if got := must(json.Marshal(build(t, other, groupmeta.BuildOptions{}))); !bytes.Equal(got, want) {
				t.Fatalf("%s, seed %d:\n got %s\nwant %s", name, seed, got, want)
			}
		}
	}
}

// The snapshot is not changed by building.
func TestBuildLeavesTheSnapshotAlone(t *testing.T) {
	for name, s := range captures(t) {
		before := must(json.Marshal(s))
		build(t, s, groupmeta.BuildOptions{})
		if after := must(json.Marshal(s)); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
	}
}

// Whatever bytes members send, the group is built, all members are in it, and
// it can be written as JSON.
func TestBuildTakesAnyBytes(t *testing.T) {
	base := []*snapshot.Snapshot{
		twelve(
			appMember{process: "a", active: all0, standby: all1, sums: running(all0), next: start().UnixMilli()},
			appMember{process: "b", active: all1, sums: map[string]int64{"0_0": 5, "1_1": -2}},
		).snapshot(),
		clicks{protocolType: "stream", leaving: true}.snapshot(),
		clicks{protocolType: "consumer"}.snapshot(),
	}
	rapid.Check(t, func(t *rapid.T) {
		from := base[rapid.IntRange(0, len(base)-1).Draw(t, "group")]
		s := *from
		s.Groups = slices.Clone(from.Groups)
		c := *from.Groups[0].Classic
		c.Members = slices.Clone(c.Members)
		s.Groups[0].Classic = &c
		for i := range c.Members {
			c.Members[i].Metadata = mutate(t, c.Members[i].Metadata)
			c.Members[i].Assignment = mutate(t, c.Members[i].Assignment)
		}
		if rapid.Bool().Draw(t, "rebalancing") {
			c.State, c.Protocol = "PreparingRebalance", ""
		}
		g, err := groupmeta.Build(&s, s.Groups[0].ID, groupmeta.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		members := 0
		for _, in := range g.Instances {
			members += len(in.Members)
		}
		if members != len(c.Members) {
			t.Fatalf("%d members of %d", members, len(c.Members))
		}
		if _, err := json.Marshal(g); err != nil {
			t.Fatal(err)
		}
	})
}

// mutate changes some bytes, cuts the rest off, or leaves all as it is.
func mutate(t *rapid.T, raw []byte) []byte {
	out := slices.Clone(raw)
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		if len(out) > 0 {
			out[rapid.IntRange(0, len(out)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
	}
	if len(out) > 0 && rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		out = out[:rapid.IntRange(0, len(out)).Draw(t, "length")]
	}
	return out
}
