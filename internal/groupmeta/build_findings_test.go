package groupmeta_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func TestErrorCodesOfTheLeader(t *testing.T) {
	for code, want := range map[groupmeta.ErrorCode]string{
		groupmeta.ErrorIncompleteSourceTopicMetadata: model.FindingIncompleteSourceTopics,
		groupmeta.ErrorAssignment:                    model.FindingAssignmentError,
		groupmeta.ErrorShutdownRequested:             model.FindingShutdownRequested,
		groupmeta.ErrorCode(77):                      model.FindingAssignmentError,
	} {
		g := build(t, twelve(appMember{process: "a", code: code}, appMember{process: "b", code: code}).snapshot(), groupmeta.BuildOptions{})
		if f := finding(g, want); !strings.Contains(f, "2 members") || g.OK() {
			t.Errorf("%s: %v", code, g.Findings)
		}
		if finding(g, model.FindingIdleThreads) != "" {
			t.Errorf("%s: members that were given nothing are called idle: %v", code, g.Findings)
		}
	}
	if f := finding(build(t, twelve(appMember{process: "a", code: 77}).snapshot(), groupmeta.BuildOptions{}), model.FindingAssignmentError); !strings.Contains(f, "unknown (77)") {
		t.Errorf("got %q", f)
	}
}

func TestIncompleteSourceTopicsNamesThem(t *testing.T) {
	s := twelve(appMember{process: "a", code: groupmeta.ErrorIncompleteSourceTopicMetadata}).snapshot()
	for i := range s.Topics {
		if s.Topics[i].Name == "orders" {
			s.Topics = append(s.Topics[:i], s.Topics[i+1:]...)
			break
		}
	}
	s.Missing = []snapshot.MissingTopic{{Name: "orders", ErrorCode: 3}}
	g := build(t, s, groupmeta.BuildOptions{})
	if f := finding(g, model.FindingIncompleteSourceTopics); !strings.Contains(f, "missing or not visible are orders") {
		t.Errorf("got %q", f)
	}
}

func TestUnbalancedAndUnassigned(t *testing.T) {
	a := twelve(
		appMember{process: "a", active: all0 + " 1_0 1_1 1_2 1_3", sums: running(all0)},
		appMember{process: "b", active: "1_4"},
	)
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	wantText(t, "unassigned", finding(g, model.FindingUnassigned), "1 task is run by nobody: 1_5")
	wantText(t, "unbalanced", finding(g, model.FindingUnbalanced), "b runs 1 of 12 tasks, expected 6 (r 2 allows 3 to 12)")
	if g.Findings[0].Code != model.FindingUnassigned || g.Balance.Balanced || g.Balance.MaxOverExpected != 10.0/6 {
		t.Errorf("findings %v, balance %+v", g.Findings, g.Balance)
	}
	strict := build(t, a.snapshot(), groupmeta.BuildOptions{BalancingFactor: 1.25})
	if in := instance(t, strict, "a"); in.Low != 5 || in.High != 7 || in.Balanced {
		t.Errorf("r 1.25: %+v", in)
	}
	// A member that cannot be read may have anything: nothing is said about what it lacks.
	s := a.snapshot()
	s.Groups[0].Classic.Members[1].Assignment = []byte{0, 3, 0xff}
	g = build(t, s, groupmeta.BuildOptions{})
	if codes(g) != model.FindingUndecodable || len(g.Unassigned) != 0 {
		t.Errorf("findings %v", g.Findings)
	}
	// A hand-over under way explains it.
	a.members[1].next = atOnce
	g = build(t, a.snapshot(), groupmeta.BuildOptions{})
	if len(g.Moving) != 1 || len(g.Unassigned) != 0 || finding(g, model.FindingUnbalanced) != "" {
		t.Errorf("moving %v, unassigned %v, findings %v", g.Moving, g.Unassigned, g.Findings)
	}
}

func TestIdleThreads(t *testing.T) {
	a := plainApp(2, appMember{process: "a", active: "0_0"}, appMember{process: "b", active: "0_1"}, appMember{process: "c"}, appMember{process: "d"})
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	wantText(t, "finding", finding(g, model.FindingIdleThreads), "2 threads have nothing to do (4 threads, 2 tasks): c/T1 d/T1")
	if !g.OK() {
		t.Errorf("idle threads alone are not a fault: %v", g.Findings)
	}
}

// The same fault of many members is one line, many different ones are counted.
func TestManyMembersAreOneFinding(t *testing.T) {
	var members []appMember
	for i := range 30 {
		members = append(members, appMember{process: fmt.Sprintf("p%02d", i)})
	}
	s := twelve(members...).snapshot()
	frame := groupmeta.ConsumerSubscription{Version: 3, UserData: future()}
	for i := range s.Groups[0].Classic.Members {
		s.Groups[0].Classic.Members[i].Metadata = must(frame.Encode())
	}
	g := build(t, s, groupmeta.BuildOptions{})
	wantText(t, "one", finding(g, model.FindingNotUnderstood),
		"metadata v99 of 30 members (p00/T1 p01/T1 p02/T1 p03/T1 p04/T1 p05/T1 p06/T1 p07/T1 and 22 more): newer than this build knows (11); can speak up to v99")
	for i := range s.Groups[0].Classic.Members {
		raw := must(groupmeta.DecodeConsumerSubscription(twelve(members[i]).snapshot().Groups[0].Classic.Members[0].Metadata))
		raw.UserData = raw.UserData[:i+4]
		s.Groups[0].Classic.Members[i].Metadata = must(raw.Encode())
	}
	g = build(t, s, groupmeta.BuildOptions{})
	if n := len(g.Findings); n > 25 {
		t.Errorf("%d findings", n)
	}
}

func TestManyInstancesAreCounted(t *testing.T) {
	a := plainApp(30)
	tasks := ""
	for i := range 30 {
		tasks += fmt.Sprintf(" 0_%d", i)
	}
	a.members = []appMember{{process: "all", active: tasks}}
	for i := range 14 {
		a.members = append(a.members, appMember{process: fmt.Sprintf("p%02d", i)})
	}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	var unbalanced []model.Finding
	for _, f := range g.Findings {
		if f.Code == model.FindingUnbalanced {
			unbalanced = append(unbalanced, f)
		}
	}
	if len(unbalanced) != 10 || unbalanced[0].Object != "instance all" {
		t.Fatalf("got %v", unbalanced)
	}
	wantText(t, "last", unbalanced[9].Text, "the same kind of thing with 6 instances more: p08 p09 p10 p11 p12 p13")
}

func TestErrorsThatConcernTheGroup(t *testing.T) {
	s := plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
	s.Errors = []snapshot.Error{
		{Object: "group app", Code: "NOT_COORDINATOR", Text: "x"},
		{Object: "group other", Code: "NOT_COORDINATOR", Text: "x"},
		{Object: "topic in", Code: "LEADER_NOT_AVAILABLE", Text: "x"},
		{Object: "topic elsewhere", Code: "LEADER_NOT_AVAILABLE", Text: "x"},
		{Object: "topic app-count-changelog", Code: "LEADER_NOT_AVAILABLE", Text: "x"},
		{Object: "broker 3", Text: "request timed out", Hint: "raise --timeout"},
	}
	g := build(t, s, groupmeta.BuildOptions{})
	var got []string
	for _, e := range g.Errors {
		got = append(got, e.Object)
	}
	wantText(t, "objects", strings.Join(got, ", "), "broker 3, group app, topic app-count-changelog, topic in")
	if g.Errors[0].Hint == "" {
		t.Error("the hint is lost")
	}
}

// A describe that was refused leaves a group with its list row and the reason.
func TestRefusedGroup(t *testing.T) {
	s := snapshot.New()
	s.Groups = []snapshot.Group{{ID: "shop", Listed: &snapshot.Listed{ProtocolType: "consumer", State: "Stable"}, Classic: &snapshot.ClassicGroup{ErrorCode: 30}}}
	g := build(t, s, groupmeta.BuildOptions{})
	if g.Kind != model.Unknown || g.State != "Stable" || len(g.Errors) != 1 || g.Errors[0].Code != "GROUP_AUTHORIZATION_FAILED" || g.Errors[0].Hint != `needs DESCRIBE on group "shop"` {
		t.Errorf("got %+v", g)
	}
	s.Errors = []snapshot.Error{{Object: "group shop", Code: "GROUP_AUTHORIZATION_FAILED", Text: "describe", Hint: "h"}}
	if g := build(t, s, groupmeta.BuildOptions{}); len(g.Errors) != 1 || g.Errors[0].Text != "describe" {
		t.Errorf("said twice: %+v", g.Errors)
	}
}
