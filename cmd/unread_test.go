package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// A group whose describe was refused gets no verdict: nothing on stdout, the
// missing right on stderr. In a list its numbers are "?", and beside groups that
// could be read it is an error of the document.
func TestRefusedGroupHasNoVerdict(t *testing.T) {
	s := merge(fixture(t, "streams-stable-4.4.0"), fixture(t, "classic-one-instance"))
	refused := s.Group("billing").Streams
	refused.ErrorCode, refused.Members, refused.Topology, refused.State = 29, nil, nil, "" // TOPIC_AUTHORIZATION_FAILED
	c := &fakeCluster{answers: []*snapshot.Snapshot{s}}
	for _, args := range [][]string{
		{"describe", "group", "billing"},
		{"describe", "group", "billing", "-o", "json"},
		{"get", "tasks", "-g", "billing"},
		{"check", "stop", "pod-a", "-g", "billing"},
		{"wait", "billing", "--for", "caught-up", "--timeout", "0"},
	} {
		got := runWith(t, fakeDeps(t, c), args...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.err, "TOPIC_AUTHORIZATION_FAILED") || !strings.Contains(got.err, `the prefix "billing-"`) {
			t.Errorf("%v: exit code %d\nstdout: %s\nstderr: %s", args, got.code, got.out, got.err)
		}
	}
	got := runWith(t, fakeDeps(t, c), "describe", "group", "--all", "-o", "json")
	doc := document(t, got.out)
	items, errors := doc["items"].([]any), doc["errors"].([]any)
	if got.code != 1 || len(items) != 1 || items[0].(map[string]any)["group"] != "shop" || len(errors) != 1 {
		t.Errorf("--all: exit code %d, %d items, errors %v", got.code, len(items), errors)
	}
	got = runWith(t, fakeDeps(t, c), "get", "groups")
	if got.code != 1 || !strings.Contains(got.out, "billing  streams  Stable     ?        ?      ?  -\n") {
		t.Errorf("list: exit code %d\n%s", got.code, got.out)
	}
	got = runWith(t, fakeDeps(t, c), "check", "stop", "pod-z")
	if got.code != 1 || !strings.Contains(got.err, "TOPIC_AUTHORIZATION_FAILED") || !strings.Contains(got.err, `no instance "pod-z" in any of the 2`) {
		t.Errorf("an instance that may be in the group that was refused: exit code %d\n%s", got.code, got.err)
	}
}
