package cmd

import (
	"strings"
	"testing"
)

// HOST is the name by which people know a host, a worker's own where it says one;
// what the broker sees is in the wide form and the documents.
func TestHostIsTheNameThatPeopleKnow(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, 0)
	for _, args := range [][]string{{"get", "members"}, {"get", "instances", "-o", "wide"}, {"describe", "instance", "pod-a"}, {"describe", "member", "pod-a"}} {
		got := j.run(t.Context(), append(args, "-g", "clicks")...)
		host := strings.Contains(got.out, "pod-a  ") || strings.Contains(flat(got.out), "Host pod-a")
		if got.code != 0 || !host || args[1] != "member" && strings.Contains(got.out, "127.0.0.1") {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
	got := j.run(t.Context(), "get", "members", "-g", "clicks", "-o", "json")
	items, ok := document(t, got.out)["items"].([]any)
	if !ok || len(items) != 2 {
		t.Fatalf("%s%s", got.out, got.err)
	}
	m, _ := items[0].(map[string]any)
	address, _ := m["address"].(string)
	if m["host"] != "pod-a" || !strings.HasPrefix(strings.TrimPrefix(address, "/"), "127.0.0.1") {
		t.Errorf("host %v, address %v", m["host"], m["address"])
	}
}
