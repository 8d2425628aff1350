package kclient_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// A member is out at once, dynamic or static; one that is gone already is no
// error, and one that came back under its static id is left alone.
func TestRemoveMembers(t *testing.T) {
	s := recorded(t, "classic-learners")
	s.Logs = nil
	static := "pod-a-1"
	s.Group("shop").Classic.Members[0].InstanceID = &static
	l, err := lab.Start(lab.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	a := lab.Alive{Group: "shop", Rounds: []*snapshot.Snapshot{s}, Heartbeat: 30 * time.Millisecond, Dead: []string{"pod-a", "pod-b"}}
	if err := l.Live(limited(t), a); err != nil {
		t.Fatal(err)
	}
	c := client(t, l)
	got, err := c.Snapshot(limited(t), kclient.Query{Groups: []string{"shop"}, Describe: true})
	if err != nil {
		t.Fatal(err)
	}
	var list []kclient.MemberToRemove
	for _, m := range got.Group("shop").Classic.Members {
		r := kclient.MemberToRemove{ID: m.ID}
		if m.InstanceID != nil {
			r.InstanceID = *m.InstanceID
		}
		list = append(list, r)
	}
	if len(list) != 4 {
		t.Fatalf("%+v", list)
	}
	fence := l.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.LeaveGroup}, Group: "shop", Resource: "someone-else", Err: kerr.FencedInstanceID, Count: 1})
	wrong := []kclient.MemberToRemove{{ID: "someone-else", InstanceID: static}, {ID: "nobody"}}
	out, err := c.RemoveMembers(limited(t), "shop", wrong, "test")
	if err != nil || out[0].Code != "FENCED_INSTANCE_ID" || out[0].Gone || !out[1].Gone || out[1].Code != "" {
		t.Errorf("%+v, %v", out, err)
	}
	fence.Remove()
	out, err = c.RemoveMembers(limited(t), "shop", list, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out {
		if m.Code != "" || m.Gone {
			t.Errorf("%+v", m)
		}
	}
	if g := l.Cluster().GroupInfo("shop"); g == nil || len(g.Members) != 0 {
		t.Errorf("the broker lists %+v", g)
	}
}

func TestRemoveMembersRefused(t *testing.T) {
	l, c := shop(t)
	l.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.LeaveGroup}, Group: "shop", Err: kerr.GroupAuthorizationFailed, Count: 1})
	_, err := c.RemoveMembers(limited(t), "shop", []kclient.MemberToRemove{{ID: "x"}}, "test")
	if err == nil || !strings.Contains(err.Error(), "GROUP_AUTHORIZATION_FAILED") || len(errs.Hints(err)) != 1 {
		t.Errorf("%v, hints %v", err, errs.Hints(err))
	}
}
