package cmd

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// withMember returns the group shop of one instance with its first member's
// bytes changed.
func withMember(t *testing.T, change func(m *snapshot.ClassicMember)) *snapshot.Snapshot {
	t.Helper()
	return with(t, fixture(t, "classic-one-instance"), func(s *snapshot.Snapshot) { change(&s.Groups[0].Classic.Members[0]) })
}

// frame is a member's subscription around user data.
func frame(t *testing.T, userData []byte) []byte {
	t.Helper()
	b, err := (&groupmeta.ConsumerSubscription{Version: 1, Topics: []string{"orders"}, UserData: userData}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// everywhere runs every reading command on one snapshot.
func everywhere(t *testing.T, s *snapshot.Snapshot, check func(args []string, got captured)) {
	t.Helper()
	member := s.Groups[0].Classic.Members[0].ID
	for _, c := range [][]string{
		{"get", "groups"}, {"get", "instances", "shop"}, {"get", "members", "shop"}, {"get", "tasks", "shop"}, {"get", "groups", "--lag"},
		{"describe", "group", "shop"}, {"describe", "group", "shop", "--threads"}, {"describe", "group", "shop", "--by", "subtopology"},
		{"describe", "member", member, "-g", "shop"}, {"describe", "instance", member, "-g", "shop"}, {"check", "stop", member, "-g", "shop"},
		{"wait", "shop", "--for", "stable", "--timeout", "0"},
	} {
		for _, format := range []string{"table", "wide", "json"} {
			args := append(c, "-o", format)
			check(args, runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), args...))
		}
	}
}

// A version from the future must not end the program.
func TestFieldCase35NewerMetadataIsShown(t *testing.T) {
	future := append([]byte{0, 0, 0, 99, 0, 0, 0, 99}, bytes.Repeat([]byte{0xab}, 20)...)
	s := withMember(t, func(m *snapshot.ClassicMember) { m.Metadata = frame(t, future) })
	everywhere(t, s, func(args []string, got captured) {
		if got.code != 0 && args[0] != "check" {
			t.Errorf("%v: exit code %d\n%s", args, got.code, got.err)
		}
	})
	id := s.Groups[0].Classic.Members[0].ID
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), args...)
	}
	got := run("describe", "member", id, "-g", "shop", "-o", "json")
	meta, _ := document(t, got.out)["metadata"].(map[string]any)
	raw, _ := meta["user_data_base64"].(string)
	if b, _ := base64.StdEncoding.DecodeString(raw); !bytes.Equal(b, future) || meta["status"] != "newer" {
		t.Errorf("metadata %v, want the bytes and status newer", meta)
	}
	if got = run("describe", "member", id, "-g", "shop"); !strings.Contains(got.out, "99") || !strings.Contains(got.out, "newer than this build knows (11)") {
		t.Errorf("the screen does not say so:\n%s", got.out)
	}
	// What it is about does not rest on such a member.
	if got = run("check", "stop", id, "-g", "shop"); got.code != 3 || !strings.Contains(got.out, "cannot tell") {
		t.Errorf("check stop: exit code %d\n%s", got.code, got.out)
	}
}

// Metadata of every format that Kafka Streams ever wrote is decoded.
func TestFieldCase36EveryFormatIsDescribed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "wire", "kafka-*.jsonl"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files of captured bytes: %v", len(files), err)
	}
	seen := map[int]bool{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var c struct {
				Kind    string
				Version int `json:"format_version"`
				Hex     string
			}
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			if c.Kind != "subscription" || c.Version > 11 || seen[c.Version] {
				continue
			}
			seen[c.Version] = true
			raw, err := hex.DecodeString(c.Hex)
			if err != nil {
				t.Fatal(err)
			}
			s := withMember(t, func(m *snapshot.ClassicMember) { m.Metadata = frame(t, raw) })
			got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "describe", "member", s.Groups[0].Classic.Members[0].ID, "-g", "shop", "-o", "json")
			meta, _ := document(t, got.out)["metadata"].(map[string]any)
			if used, _ := meta["used_version"].(json.Number); meta["status"] != "ok" || used.String() != itoa(c.Version) {
				t.Errorf("format %d: exit code %d, metadata %v", c.Version, got.code, meta)
			}
		}
		f.Close() //nolint:errcheck // only read
	}
	for v := 1; v <= 11; v++ {
		if !seen[v] {
			t.Errorf("no captured bytes of format %d", v)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) } //nolint:errcheck // a number

// Nothing assigned while the group prepares is a state, not a decode error.
func TestFieldCase38EmptyAssignmentsWhilePreparing(t *testing.T) {
	s := with(t, fixture(t, "classic-one-instance"), func(s *snapshot.Snapshot) {
		c := s.Groups[0].Classic
		c.State, c.Protocol = "PreparingRebalance", ""
		for i := range c.Members {
			c.Members[i].Metadata, c.Members[i].Assignment = []byte{}, []byte{}
		}
	})
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), args...)
	}
	got := run("get", "groups", "-o", "json")
	row, _ := document(t, got.out)["groups"].([]any)[0].(map[string]any)
	if got.code != 0 || row["tasks"] != nil || row["notes"].([]any)[0] != "rebalancing" {
		t.Errorf("exit code %d, row %v, want tasks null and rebalancing", got.code, row)
	}
	if got = run("get", "groups"); !strings.Contains(got.out, " -  rebalancing") {
		t.Errorf("TASKS is not -:\n%s", got.out)
	}
	got = run("describe", "group", "shop")
	if got.code != 0 || strings.Contains(got.out+got.err, "undecodable") || !strings.Contains(got.out, "rebalancing") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// A member without an assignment breaks no command.
func TestFieldCase39MemberWithoutAssignment(t *testing.T) {
	none, err := (&groupmeta.ConsumerAssignment{Version: 1}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, assignment := range map[string][]byte{"null": nil, "no bytes": {}, "no topics": none} {
		s := withMember(t, func(m *snapshot.ClassicMember) { m.Assignment = assignment })
		everywhere(t, s, func(args []string, got captured) {
			if got.code != 0 && args[0] != "check" || args[len(args)-1] == "json" && document(t, got.out)["kind"] == nil {
				t.Errorf("assignment of %s: %v: exit code %d\n%s%s", name, args, got.code, got.out, got.err)
			}
		})
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "describe", "group", "shop", "-o", "json")
		members, _ := document(t, got.out)["instances"].([]any)[0].(map[string]any)["members"].([]any)
		if tasks, _ := members[0].(map[string]any)["tasks"].([]any); len(members) != 2 || len(tasks) != 0 {
			t.Errorf("assignment of %s: %d members, the first with tasks %v", name, len(members), tasks)
		}
	}
}

// What cannot be decoded is shown as bytes, with field and offset.
func TestFieldCase43CutMetadataIsShownAsBytes(t *testing.T) {
	whole, err := (&groupmeta.SubscriptionInfo{Version: 8, LatestSupportedVersion: 8}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := withMember(t, func(m *snapshot.ClassicMember) { m.Metadata = frame(t, whole[:19]) })
	id := s.Groups[0].Classic.Members[0].ID
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), args...)
	}
	got := run("describe", "member", id, "-g", "shop", "-o", "json")
	meta, _ := document(t, got.out)["metadata"].(map[string]any)
	problem, _ := meta["error"].(map[string]any)
	raw, _ := meta["user_data_base64"].(string)
	if b, _ := base64.StdEncoding.DecodeString(raw); got.code != 0 || !bytes.Equal(b, whole[:19]) || problem["field"] == nil || problem["offset"] == nil {
		t.Errorf("exit code %d, metadata %v", got.code, meta)
	}
	got = run("describe", "member", id, "-g", "shop")
	digits := strings.NewReplacer(" ", "", "\n", "").Replace(got.out)
	if got.code != 0 || !strings.Contains(digits, hex.EncodeToString(whole[:8])) {
		t.Errorf("no hex on the screen, exit code %d:\n%s", got.code, got.out)
	}
	if got = run("describe", "group", "shop"); got.code != 0 || !strings.Contains(got.out, "undecodable") {
		t.Errorf("exit code %d\n%s", got.code, got.out)
	}
}
