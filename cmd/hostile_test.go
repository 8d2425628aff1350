package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// Names from a broker never reach the terminal raw, on stdout or stderr, and
// JSON stays valid.
func TestHostileNames(t *testing.T) {
	hostile := "a\x1b[31m\u202eb\r\n\tc\x00\u009b1m" + strings.Repeat("x", 230)
	s := with(t, fixture(t, "classic-learners"), func(s *snapshot.Snapshot) {
		g := &s.Groups[0]
		g.ID = hostile
		for i := range g.Classic.Members {
			m := &g.Classic.Members[i]
			m.ClientID, m.Host, m.ID = hostile+m.ClientID, hostile, hostile+m.ID
			m.InstanceID = &hostile
		}
		s.Topics[0].Name = hostile
		s.Errors = append(s.Errors, snapshot.Error{Object: "broker 7", Text: "said " + hostile, Hint: hostile})
	})
	for _, args := range [][]string{
		{"get", "groups"}, {"get", "groups", "--lag"}, {"get", "instances"}, {"get", "members"}, {"get", "tasks"},
		{"describe", "group"}, {"describe", "group", "nosuch" + hostile}, {"describe", "group", hostile, "--threads"}, {"describe", "task", "0_0"},
		{"describe", "member", hostile}, {"describe", "instance", "pod-z" + hostile}, {"check", "stop", hostile}, {"snapshot", "nosuch" + hostile}, {"snapshot", hostile},
		{"wait", "--for", "converged", "--timeout", "0"}, {"get", "tasks", "--sort-by", hostile}, {"describe", "group", "--regex", "nosuch" + "\u202e"},
	} {
		if args[0] == "snapshot" && args[1] == hostile {
			got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), args...)
			if back, err := snapshot.Read(strings.NewReader(got.out)); err != nil || back.Group(hostile) == nil {
				t.Errorf("the snapshot does not read back: %v", err)
			}
		}
		for _, format := range []string{"table", "wide", "json", "yaml", "tsv", "csv", "name"} {
			got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append(args, "-o", format)...)
			for stream, text := range map[string]string{"stdout": got.out, "stderr": got.err} {
				if i := strings.IndexAny(text, "\x1b\x00\r\u202e\u009b"); i >= 0 {
					t.Errorf("%q -o %s: %s has a raw %q", args, format, stream, text[max(0, i-20):min(len(text), i+20)])
				}
			}
			if format == "json" && got.out != "" {
				document(t, got.out)
			}
		}
	}
}
