package groupmeta_test

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func TestFieldCase34_MixedVersions(t *testing.T) {
	a := twelve(
		appMember{process: "a", active: "0_0 0_1 0_2 0_3"}, appMember{process: "b", active: "0_4 0_5 1_0 1_1"}, appMember{process: "c", active: "1_2 1_3 1_4 1_5"},
		appMember{process: "d", latest: 11}, appMember{process: "e", latest: 11},
	)
	a.format = 10
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	wantText(t, "finding", finding(g, model.FindingMixedVersions), "metadata v10 (3 members support up to 10, 2 up to 11)")
	for _, name := range []string{"d", "e"} {
		if !instance(t, g, name).Members[0].VersionProbing {
			t.Errorf("%s has nothing while versions differ: not marked", name)
		}
	}
	if instance(t, g, "a").Members[0].VersionProbing {
		t.Error("a has tasks and is marked")
	}
	if finding(g, model.FindingIdleThreads) != "" || finding(g, model.FindingVersionProbing) == "" {
		t.Errorf("findings %v", g.Findings)
	}
	// A member of a newer format than the leader knows.
	a.members[3].format, a.members[4].format = 11, 10
	g = build(t, a.snapshot(), groupmeta.BuildOptions{})
	wantText(t, "used differs", finding(g, model.FindingMixedVersions), "metadata of several versions: 4 members use v10, 1 v11; 3 members support up to 10, 2 up to 11")
	// All at the newest: nothing to say. All held below what they support: the same.
	for _, latest := range []int32{10, 11} {
		a := twelve(appMember{process: "a", active: all0}, appMember{process: "b", active: all1})
		a.format, a.latest = 10, latest
		if g := build(t, a.snapshot(), groupmeta.BuildOptions{}); g.Metadata.Mixed || g.Metadata.GroupVersion != 10 {
			t.Errorf("latest %d: %+v", latest, g.Metadata)
		}
	}
}

func future() []byte {
	info := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 99), 99)
	return append(info, make([]byte, 20)...)
}

func TestFieldCase35_VersionFromTheFutureBesideOthers(t *testing.T) {
	s := twelve(appMember{process: "a", active: all0, sums: running(all0)}, appMember{process: "b"}).snapshot()
	frame := groupmeta.ConsumerSubscription{Version: 3, Topics: []string{"orders"}, UserData: future()}
	s.Groups[0].Classic.Members[1].Metadata = must(frame.Encode())
	g := build(t, s, groupmeta.BuildOptions{})
	m := instance(t, g, "b").Members[0]
	if m.Metadata.Status != model.MetadataNewer || m.Metadata.UsedVersion != 99 || m.Metadata.SupportedVersion != 99 || len(m.Metadata.UserData) != 28 {
		t.Errorf("got %+v", m.Metadata)
	}
	if in := instance(t, g, "a"); in.Active != 6 || in.Members[0].Metadata.Status != model.MetadataOK {
		t.Errorf("the other member: %+v", in)
	}
	if len(g.Notes) != 1 || !strings.Contains(g.Notes[0], "metadata v99 of b/T1: newer than this build knows (11); can speak up to v99") {
		t.Errorf("notes %q", g.Notes)
	}
	if f := finding(g, model.FindingNotUnderstood); !strings.Contains(f, "newer than this build knows (11)") || len(g.Errors) != 0 {
		t.Errorf("finding %q, errors %v", f, g.Errors)
	}
}

// Empty bytes while a group prepares are normal.
func TestFieldCase38_EmptyBytesWhilePreparing(t *testing.T) {
	a := twelve(
		appMember{process: "a", noMetadata: true, noAssignment: true},
		appMember{process: "b", noMetadata: true, noAssignment: true},
	)
	a.state = model.StatePreparingRebalance
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	if g.Kind != model.Classic || g.KindBasis != model.BasisClientIDs || !g.KindBasis.Inferred() || g.AssignmentBasis != model.AssignmentNone {
		t.Errorf("kind %s by %s, basis %s", g.Kind, g.KindBasis, g.AssignmentBasis)
	}
	wantText(t, "findings", codes(g), model.FindingRebalancing)
	wantText(t, "text", g.Findings[0].Text, "2 members, no assignment is given meanwhile; watch shop follows")
	for _, in := range g.Instances {
		m := in.Members[0]
		if m.Metadata.Status != model.MetadataEmpty || m.Metadata.Error != "" || m.Assignment.Error != "" || len(m.Tasks) != 0 {
			t.Errorf("%s: %+v %+v", m.Name, m.Metadata, m.Assignment)
		}
	}
	if len(g.Instances) != 2 || g.Instances[0].ID != "client:a" || len(g.Unassigned) != 0 {
		t.Errorf("instances %+v, unassigned %v", g.Instances, g.Unassigned)
	}
}

func TestFieldCase39_MemberWithoutAssignmentInAStableGroup(t *testing.T) {
	empty := must((&groupmeta.ConsumerAssignment{Version: 3}).Encode())
	nothing := must((&groupmeta.ConsumerAssignment{Version: 3, UserData: must((&groupmeta.AssignmentInfo{Version: 11, CommonlySupportedVersion: 11, NextRebalanceMs: groupmeta.NoRebalance}).Encode())}).Encode())
	for name, raw := range map[string][]byte{"null": nil, "0 bytes": {}, "a frame alone": empty, "no tasks": nothing} {
		s := twelve(appMember{process: "a"}).snapshot()
		s.Groups[0].Classic.Members[0].Assignment = raw
		g := build(t, s, groupmeta.BuildOptions{})
		if in := instance(t, g, "a"); len(in.Members[0].Tasks) != 0 || in.Members[0].Assignment.Error != "" || finding(g, model.FindingUndecodable) != "" {
			t.Errorf("%s: %+v, findings %v", name, in.Members[0].Assignment, g.Findings)
		}
	}
}

// What cannot be decoded on one member hides nothing of the others.
func TestFieldCase41_TrailingBytesAreAFindingOnTheMember(t *testing.T) {
	build := func(version int16, extra int) *model.Group {
		s := twelve(appMember{process: "a", active: all0, sums: running(all0)}, appMember{process: "b", active: all1}).snapshot()
		m := &s.Groups[0].Classic.Members[1]
		frame := must(groupmeta.DecodeConsumerSubscription(m.Metadata))
		frame.Version = version
		m.Metadata = append(must(frame.Encode()), make([]byte, extra)...)
		return build(t, s, groupmeta.BuildOptions{})
	}
	for _, c := range []struct {
		version  int16
		extra    int
		trailing int
		finding  bool
	}{{1, 0, 0, false}, {3, 0, 0, false}, {9, 4, 4, false}, {3, 4, 4, true}} {
		g := build(c.version, c.extra)
		in := instance(t, g, "b")
		if m := in.Members[0].Metadata; m.TrailingBytes != c.trailing || m.Status != model.MetadataOK || (m.Error != "") != c.finding || in.Active != 6 {
			t.Errorf("version %d and %d bytes: %+v, active %d", c.version, c.extra, m, in.Active)
		}
		if (finding(g, model.FindingNotUnderstood) != "") != c.finding {
			t.Errorf("version %d and %d bytes: findings %v", c.version, c.extra, g.Findings)
		}
	}
}

func TestFieldCase43_MalformedBesideOthers(t *testing.T) {
	s := twelve(appMember{process: "a", active: all0, sums: running(all0)}, appMember{process: "b", active: all1}).snapshot()
	m := &s.Groups[0].Classic.Members[1]
	frame := must(groupmeta.DecodeConsumerSubscription(m.Metadata))
	frame.UserData = frame.UserData[:19]
	m.Metadata = must(frame.Encode())
	g := build(t, s, groupmeta.BuildOptions{})
	in := instance(t, g, "b")
	got := in.Members[0].Metadata
	if got.Status != model.MetadataMalformed || got.ErrorField != "processId" || got.ErrorOffset != 8 || len(got.UserData) != 19 || got.UsedVersion != 11 {
		t.Errorf("got %+v", got)
	}
	if in.ID != "client:b" || in.Active != 6 || instance(t, g, "a").Active != 6 {
		t.Errorf("instance %+v", in)
	}
	if f := g.Findings[0]; f.Code != model.FindingUndecodable || f.Object != "member b/T1" || f.Severity != model.Bad {
		t.Errorf("findings %v", g.Findings)
	}
	frame.UserData = nil
	m.Metadata = must(frame.Encode())
	g = build(t, s, groupmeta.BuildOptions{})
	wantText(t, "null user data", finding(g, model.FindingUndecodable), "metadata of b/T1: no Streams metadata")
}

func listedGroup(id, kind, protocolType, protocol, state string) snapshot.Group {
	g := snapshot.Group{ID: id, Listed: &snapshot.Listed{Type: kind, ProtocolType: protocolType, State: state}}
	if kind == "" || kind == "classic" {
		g.Classic = &snapshot.ClassicGroup{State: state, ProtocolType: protocolType, Protocol: protocol, Members: []snapshot.ClassicMember{
			{ID: id + "-1", ClientID: "client", Host: "/10.0.0.1", Metadata: []byte{1, 2, 3}, Assignment: []byte{0xff}},
		}}
	}
	return g
}

func TestFieldCase42_EveryKindOfGroup(t *testing.T) {
	s := snapshot.New()
	s.Groups = []snapshot.Group{
		listedGroup("connect-a", "classic", "connect", "sessioned", "Stable"),
		listedGroup("schemas", "classic", "sr", "v0", "Stable"),
		listedGroup("plain", "classic", "consumer", "range", "Stable"),
		listedGroup("app", "classic", "consumer", "stream", "Stable"),
		listedGroup("clicks", "classic", "stream", "learner", "Stable"),
		listedGroup("upgrading", "classic", "consumer", "learner", "Stable"),
		listedGroup("shared", "share", "share", "", "Stable"),
		listedGroup("new", "Streams", "streams", "", "Stable"),
		listedGroup("kip848", "consumer", "consumer", "", "Stable"),
		listedGroup("fresh", "classic", "", "", "Empty"),
	}
	want := map[string]model.Kind{
		"connect-a": model.Connect, "schemas": model.Other, "plain": model.Consumer, "app": model.Classic, "clicks": model.Worker, "upgrading": model.Worker,
		"shared": model.Share, "new": model.Streams, "kip848": model.Consumer, "fresh": model.Unknown,
	}
	groups := groupmeta.BuildAll(s, groupmeta.BuildOptions{SkipOffsets: true})
	if len(groups) != len(want) {
		t.Fatalf("%d groups", len(groups))
	}
	for _, g := range groups {
		if g.Kind != want[g.ID] || g.State == "" {
			t.Errorf("%s: kind %s, state %s", g.ID, g.Kind, g.State)
		}
		if !g.Kind.IsStream() && g.Kind != model.Unknown && len(g.Findings) > 0 {
			t.Errorf("%s is not decoded, findings %v", g.ID, g.Findings)
		}
	}
	b := groupmeta.NewBuilder(s)
	for _, g := range groups {
		if one, err := b.Build(g.ID, groupmeta.BuildOptions{SkipOffsets: true}); err != nil || !reflect.DeepEqual(one, g) {
			t.Errorf("%s: one by one %+v, %v", g.ID, one, err)
		}
	}
	if g, err := groupmeta.Build(s, "schemas", groupmeta.BuildOptions{}); err != nil || g.ProtocolType != "sr" || len(g.Instances) != 1 || g.Instances[0].Members[0].ID != "schemas-1" {
		t.Errorf("schemas: %+v, %v", g, err)
	}
}

// A list of groups needs no offsets: what it says does not rest on them.
func TestWithoutOffsets(t *testing.T) {
	s := captures(t)["classic-learners"]
	g := build(t, s, groupmeta.BuildOptions{SkipOffsets: true})
	if codes(g) != "learning unbalanced" || len(g.Offsets) != 0 || g.Totals.Lag != nil || g.Totals.RemainingRecords != nil || g.Totals.Active != 12 {
		t.Errorf("findings %v, totals %+v", g.Findings, g.Totals)
	}
	for _, in := range g.Instances {
		if in.Lag != nil {
			t.Errorf("%s: lag %d", in.Name, *in.Lag)
		}
	}
}

func answer(code int16, message, state string) *snapshot.ClassicGroup {
	c := &snapshot.ClassicGroup{ErrorCode: code, State: state}
	if message != "" {
		c.ErrorMessage = &message
	}
	return c
}

func TestFieldCase57_MissingGroup(t *testing.T) {
	s := snapshot.New()
	s.Groups = []snapshot.Group{
		{ID: "v6", Classic: answer(69, "Group v6 not found.", "Dead"), Streams: &snapshot.StreamsGroup{ErrorCode: 69, ErrorMessage: text("Group v6 not found.")}},
		{ID: "v5", Classic: answer(0, "", "Dead")},
		{ID: "gone", Classic: answer(0, "", "Dead"), Listed: &snapshot.Listed{ProtocolType: "consumer", State: "Stable"}},
	}
	for _, id := range []string{"v6", "v5", "gone"} {
		wantNotFound(t, s, id)
	}
	if got := groupmeta.BuildAll(s, groupmeta.BuildOptions{}); len(got) != 0 {
		t.Errorf("BuildAll gives %d groups", len(got))
	}
	if _, err := groupmeta.Build(s, "other", groupmeta.BuildOptions{}); !errors.Is(err, groupmeta.ErrNoAnswer) {
		t.Errorf("a group that was not asked for: %v", err)
	}
}

// The old call says that groups of the new kinds are not there; its message, or
// another answer, says that they are.
func TestFieldCase60_GroupsOfTheNewKinds(t *testing.T) {
	s := snapshot.New()
	s.Groups = []snapshot.Group{
		{ID: "app", Classic: answer(69, "Group app is not a classic group.", "Dead"), Streams: &snapshot.StreamsGroup{State: "Stable"}},
		{ID: "consumers", Classic: answer(69, "Group consumers is not a classic group.", "Dead"), Consumer: &snapshot.ConsumerGroup{State: "Stable", Epoch: 3}},
		{ID: "old-broker", Classic: answer(0, "", "Dead"), Consumer: &snapshot.ConsumerGroup{State: "Stable"}},
		{ID: "refused", Classic: answer(69, "Group refused is not a classic group.", "Dead"), Streams: &snapshot.StreamsGroup{ErrorCode: 29}},
		{ID: "listed", Listed: &snapshot.Listed{Type: "streams", State: "Stable"}},
		{ID: "classic", Classic: &snapshot.ClassicGroup{State: "Stable", ProtocolType: "consumer", Protocol: "range"}, Streams: &snapshot.StreamsGroup{ErrorCode: 69, ErrorMessage: text("Group classic is not a streams group.")}},
		{ID: "no-type", Listed: &snapshot.Listed{ProtocolType: "consumer"}, Classic: &snapshot.ClassicGroup{State: "Stable", ProtocolType: "consumer", Protocol: "stream"}},
	}
	want := map[string]model.Kind{
		"app": model.Streams, "consumers": model.Consumer, "old-broker": model.Consumer, "refused": model.Streams, "listed": model.Streams,
		"classic": model.Consumer, "no-type": model.Classic,
	}
	for id, kind := range want {
		g, err := groupmeta.Build(s, id, groupmeta.BuildOptions{})
		if err != nil || g.Kind != kind {
			t.Errorf("%s: %+v, %v; want %s", id, g, err, kind)
			continue
		}
		if refused := len(g.Errors) > 0; refused != (id == "refused") {
			t.Errorf("%s: errors %+v", id, g.Errors)
		}
	}
	g, err := groupmeta.Build(s, "refused", groupmeta.BuildOptions{})
	if err != nil || !strings.Contains(g.Errors[0].Hint, "DESCRIBE on all topics of the group") {
		t.Errorf("refused: %+v, %v", g, err)
	}
}
