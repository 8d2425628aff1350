package cmd

import (
	"bytes"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/ui"
)

// A worker is found by the name that it gives its host, whatever the broker sees
// and whatever its client id is; by the address only where no name means it.
func TestSelfByTheHostThatAWorkerNames(t *testing.T) {
	g := &model.Group{ID: "clicks", Instances: []model.Instance{
		{ID: podA, Name: "clicks-1", Host: "node-7", Members: []model.Member{{ID: "m1", ClientID: "clicks-1", Host: "/10.0.3.7"}}},
		{ID: podC, Name: "clicks-2", Host: "node-71", Members: []model.Member{{ID: "m2", ClientID: "clicks-2", Host: "/10.0.3.8"}}},
	}}
	for _, c := range []struct {
		names, addrs []string
		want         string
	}{
		{[]string{"node-7"}, nil, "clicks-1"},
		{[]string{"node-71.cluster.local", "node-71"}, []string{"10.0.3.7"}, "clicks-2"},
		{[]string{"node-9"}, []string{"10.0.3.7"}, "clicks-1"},
		{[]string{"node"}, []string{"10.0.3.9"}, ""},
	} {
		in, _, err := selfIn([]*model.Group{g}, [][]string{c.names, c.addrs})
		got := ""
		if err == nil {
			got = in.Name
		}
		if got != c.want {
			t.Errorf("%v %v: %q, %v", c.names, c.addrs, got, err)
		}
	}
}

// Hints that are commands to copy stand indented; nothing else of a note does.
func TestNotesKeepTheirIndent(t *testing.T) {
	var errOut bytes.Buffer
	d := newDeps(&ui.Streams{Err: &errOut})
	d.note("  streamctl describe group %s", " clicks\n")
	d.note("%s", "  a text of others\r\n")
	d.warn(" x")
	if got, want := errOut.String(), "  streamctl describe group  clicks\na text of others\nwarning:  x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
