package groupmeta_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

func names(g *model.Group) string {
	var out []string
	for _, in := range g.Instances {
		for _, m := range in.Members {
			out = append(out, m.Name)
		}
	}
	return strings.Join(out, " ")
}

func TestNamesOfInstancesAndThreads(t *testing.T) {
	const one, two = "11111111-1111-4111-8111-111111111111", "11111111-2222-4222-8222-222222222222"
	thread := func(process, base string, n int) appMember {
		return appMember{process: process, client: fmt.Sprintf("%s-StreamThread-%d-consumer", base, n)}
	}
	for name, c := range map[string]struct {
		members []appMember
		want    string
	}{
		"client id of the user":      {[]appMember{thread(one, "pod-a", 2), thread(one, "pod-a", 1), thread(two, "pod-b", 1)}, "pod-a/T1 pod-a/T2 pod-b/T1"},
		"tenth thread after ninth":   {[]appMember{thread(one, "pod-a", 10), thread(one, "pod-a", 9)}, "pod-a/T9 pod-a/T10"},
		"client id made of the UUID": {[]appMember{thread(one, "shop-"+one, 1)}, "11111111/T1"},
		"UUIDs that begin alike":     {[]appMember{thread(one, "shop-"+one, 1), thread(two, "shop-"+two, 1)}, "11111111-1/T1 11111111-2/T1"},
		"one client id for all":      {[]appMember{thread(one, "shop", 1), thread("b", "shop", 1)}, "11111111/T1 62626262/T1"},
		"named like another's UUID":  {[]appMember{thread(one, "shop-"+one, 1), thread(two, "11111111", 1)}, "11111111/T1 11111111-1/T1"},
		"no thread in the client id": {[]appMember{{process: one, client: "pod-a"}}, "pod-a"},
		"the same thread twice":      {[]appMember{thread(one, "pod-a", 1), thread(one, "pod-a", 1)}, "pod-a/T1 pod-a/T1#2"},
		"hostile":                    {[]appMember{thread(one, "\x1b[31mred\x00", 1)}, "\x1b[31mred\x00/T1"},
	} {
		g := build(t, twelve(c.members...).snapshot(), groupmeta.BuildOptions{})
		wantText(t, name, names(g), c.want)
	}
}

// Metadata are empty in a rebalance: a client id that Streams made itself still
// tells the process, any other stands for itself, and hosts tell apart
// processes that share one.
func TestNamesInARebalance(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	a := twelve(
		appMember{process: id, client: "shop-" + id + "-StreamThread-1-consumer", noMetadata: true, active: all0},
		appMember{process: "x", client: "pod-b-StreamThread-1-consumer", noMetadata: true, active: all1, host: "/10.0.0.1"},
		appMember{process: "y", client: "same-StreamThread-1-consumer", noMetadata: true, host: "/10.0.0.2"},
		appMember{process: "z", client: "same-StreamThread-1-consumer", noMetadata: true, host: "/10.0.0.3"},
	)
	a.state = model.StateCompletingRebalance
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	var got []string
	for _, in := range g.Instances {
		got = append(got, in.Name+"="+in.ID)
	}
	wantText(t, "instances", strings.Join(got, ", "),
		"11111111="+id+", pod-b=client:pod-b, same on 10.0.0.2=client:same on 10.0.0.2, same on 10.0.0.3=client:same on 10.0.0.3")
	if g.KindBasis != model.BasisAssignment || g.AssignmentBasis != model.AssignmentPrevious || g.Totals.Active != 12 || g.NextRebalance != nil {
		t.Errorf("basis %s, %s, totals %+v", g.KindBasis, g.AssignmentBasis, g.Totals)
	}
}

// One process may reach the broker from several addresses.
func TestOneProcessWithSeveralHosts(t *testing.T) {
	a := twelve(
		appMember{process: "x", client: "pod-a-StreamThread-1-consumer", noMetadata: true, host: "127.0.0.1:46002"},
		appMember{process: "x", client: "pod-a-StreamThread-2-consumer", noMetadata: true, host: "127.0.0.1:46003"},
		appMember{process: "x", client: "pod-a-StreamThread-3-consumer", noMetadata: true, host: "/10.0.0.7"},
	)
	a.state = model.StatePreparingRebalance
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	wantText(t, "members", names(g), "pod-a/T1 pod-a/T2 pod-a/T3")
	if len(g.Instances) != 1 {
		t.Errorf("%d instances", len(g.Instances))
	}
}

func TestNamesAreUnique(t *testing.T) {
	var members []appMember
	for i := range 40 {
		members = append(members, appMember{process: fmt.Sprintf("%08x-1111-4111-8111-111111111111", i%7), client: []string{"a", "b", "00000001", "a/T1", ""}[i%5] + "-StreamThread-1-consumer"})
	}
	g := build(t, twelve(members...).snapshot(), groupmeta.BuildOptions{})
	seen := make(map[string]bool)
	for _, in := range g.Instances {
		if in.Name == "" || seen[in.Name] {
			t.Errorf("instance name %q is empty or there twice", in.Name)
		}
		seen[in.Name] = true
		if got, err := model.ResolveInstance(g, in.ID); err != nil || got.Name != in.Name {
			t.Errorf("%s: %v", in.ID, err)
		}
		members := make(map[string]bool)
		for _, m := range in.Members {
			if members[m.Name] {
				t.Errorf("member name %q is there twice", m.Name)
			}
			members[m.Name] = true
		}
	}
}
