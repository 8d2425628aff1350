package cmd

import (
	"strings"
	"testing"
)

// A worker group has workers, not threads, on all screens, and settings of
// workers, which are no config of the group.
func TestWordsOfWorkerGroups(t *testing.T) {
	for _, args := range [][]string{
		{"get", "instances", "-g", "clicks"}, {"get", "instances", "-g", "clicks", "-o", "wide"}, {"describe", "group", "clicks"},
		{"describe", "group", "clicks", "-o", "wide"}, {"describe", "instance", "pod-a", "-g", "clicks"},
	} {
		got := runWith(t, fakeDeps(t, clicksGroup(t)), args...)
		if got.code != 0 || !strings.Contains(got.out, "WORKER") || strings.Contains(got.out, "THREAD") {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
	got := runWith(t, fakeDeps(t, clicksGroup(t)), "plan", "clicks", "--add", "1", "-o", "json")
	if got.code != 0 || !strings.Contains(got.out, `"source":"worker settings"`) || strings.Contains(got.out, "group config") {
		t.Errorf("plan: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got = runWith(t, fakeDeps(t, clicksGroup(t)), "plan", "clicks", "--add", "1", "-v"); !strings.Contains(flat(got.out), "worker settings") {
		t.Errorf("plan -v: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}
