package cmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// zoo is one group of each kind that a cluster may list.
func zoo(t *testing.T) *snapshot.Snapshot {
	s := merge(fixture(t, "classic-one-instance"), fixture(t, "plain-mailer"), fixture(t, "streams-stable-4.4.0"))
	other := func(id, protocolType string) snapshot.Group {
		return snapshot.Group{ID: id, Listed: &snapshot.Listed{ProtocolType: protocolType, Type: "classic", State: "Stable"},
			Classic: &snapshot.ClassicGroup{State: "Stable", ProtocolType: protocolType, Protocol: "compatible", Members: []snapshot.ClassicMember{
				{ID: id + "-1", ClientID: id + "-1", Host: "/10.0.0.1", Metadata: []byte{1, 2, 3}, Assignment: []byte{0xff, 0xff}},
			}}}
	}
	s.Groups = append(s.Groups, other("sink", "connect"), other("schemas", "sr"),
		snapshot.Group{ID: "shared", Listed: &snapshot.Listed{ProtocolType: "share", Type: "share", State: "Stable"}},
		snapshot.Group{ID: "next", Listed: &snapshot.Listed{ProtocolType: "consumer", Type: "consumer", State: "Stable"},
			Classic:  &snapshot.ClassicGroup{ErrorCode: 69, ErrorMessage: ptr("Group next is not a classic group."), State: "Dead"},
			Consumer: &snapshot.ConsumerGroup{State: "Stable", Epoch: 4, Assignor: "uniform", Members: []snapshot.ConsumerMember{{ID: "m1", ClientID: "n1", ClientHost: "/10.0.0.2"}}}})
	s.Normalize()
	return s
}

func ptr[T any](v T) *T { return &v }

// Groups of other protocol types are left out, shown by kind with --all-kinds,
// and never decoded.
func TestFieldCase42OtherKindsOfGroups(t *testing.T) {
	c := &fakeCluster{answers: []*snapshot.Snapshot{zoo(t)}}
	got := runWith(t, fakeDeps(t, c), "get", "groups", "-o", "name")
	if got.code != 0 || got.out != "billing\nshop\n" {
		t.Errorf("exit code %d, stream groups:\n%s", got.code, got.out)
	}
	got = runWith(t, fakeDeps(t, c), "get", "groups", "--all-kinds", "-o", "tsv")
	kinds := map[string]string{}
	for _, l := range strings.Split(strings.TrimSpace(got.out), "\n")[1:] {
		f := strings.Split(l, "\t")
		kinds[f[0]] = f[1]
	}
	want := map[string]string{"billing": "streams", "shop": "classic", "mailer": "consumer", "next": "consumer", "sink": "connect", "schemas": "other", "shared": "share"}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	if got = runWith(t, fakeDeps(t, c), "get", "groups", "--all-kinds"); !strings.Contains(got.out, "other (sr)") {
		t.Errorf("the protocol type of a schema registry is not shown:\n%s", got.out)
	}
	for _, id := range []string{"sink", "schemas", "shared", "mailer"} {
		got = runWith(t, fakeDeps(t, c), "describe", "group", id)
		if got.code != 0 || strings.Contains(got.out, "undecodable") || !strings.Contains(got.out, "Stable") {
			t.Errorf("describe %s: exit code %d\n%s%s", id, got.code, got.out, got.err)
		}
	}
	if got = runWith(t, fakeDeps(t, c), "get", "groups", "--kind", "connect", "-o", "name"); got.out != "sink\n" {
		t.Errorf("--kind connect: %q", got.out)
	}
}

// A KIP-848 group is no dead one; it says what it is.
func TestFieldCase60NewKindOfGroupIsNotDead(t *testing.T) {
	c := &fakeCluster{answers: []*snapshot.Snapshot{zoo(t)}}
	got := runWith(t, fakeDeps(t, c), "describe", "group", "next", "-o", "json")
	doc := document(t, got.out)
	if got.code != 0 || doc["group_kind"] != "consumer" || doc["state"] != "Stable" {
		t.Errorf("exit code %d, %v %v", got.code, doc["group_kind"], doc["state"])
	}
	// A name says nothing about its kind: every describe is asked for at once.
	if q := c.queries[0]; q.ListAll || !slices.Equal(q.Groups, []string{"next"}) || !q.Describe {
		t.Errorf("query %+v", q)
	}
	got = runWith(t, fakeDeps(t, c), "check", "stop", "n1", "-g", "next")
	if got.code != 1 || got.out != "" || !strings.Contains(got.err, "is a consumer group") {
		t.Errorf("check stop: exit code %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
}

// A topic deleted under a group is one row, not the end.
func TestFieldCase52TopicDeleted(t *testing.T) {
	s := with(t, fixture(t, "classic-empty"), func(s *snapshot.Snapshot) {
		gone := func(topic string) bool { return topic == "entries" }
		s.Topics = slices.DeleteFunc(s.Topics, func(x snapshot.Topic) bool { return gone(x.Name) })
		s.Logs = slices.DeleteFunc(s.Logs, func(x snapshot.Log) bool { return gone(x.Topic) })
		s.Missing = append(s.Missing, snapshot.MissingTopic{Name: "entries", ErrorCode: 3})
	})
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), args...)
	}
	got := run("describe", "group", "ledger", "-o", "wide")
	row := regexp.MustCompile(`(?m)^entries +0 +1,084 +- +- +- .*topic deleted`)
	if got.code != 1 || !row.MatchString(got.out) || !strings.Contains(got.out, "ledger-byvalue-repartition") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got = run("describe", "group", "ledger", "-o", "wide", "--ignore-missing-topics"); got.code != 0 || !row.MatchString(got.out) {
		t.Errorf("with --ignore-missing-topics: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// The same answers in any order give the same bytes.
func TestFieldCase59OrderOfAnswersMeansNothing(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "snapshot", "[cps]*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no snapshots: %v", err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, path := range files {
		s := fixture(t, strings.TrimSuffix(filepath.Base(path), ".json"))
		id := s.Groups[0].ID
		for _, args := range [][]string{{"describe", "group", id, "-o", "json"}, {"get", "tasks", id, "-o", "tsv"}, {"get", "groups", "--all-kinds"}} {
			var first captured
			for i := range 3 {
				other := with(t, s, func(s *snapshot.Snapshot) {
					if i == 0 {
						return
					}
					shuffle(rnd, s.Topics)
					shuffle(rnd, s.Logs)
					shuffle(rnd, s.LogSizes)
					shuffle(rnd, s.Groups[0].Commits)
					shuffle(rnd, s.Groups[0].Configs)
					if c := s.Groups[0].Classic; c != nil {
						shuffle(rnd, c.Members)
					}
				})
				got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{other}}), args...)
				if i == 0 {
					first = got
				} else if got != first {
					t.Errorf("%s %v: differs\n%s\n%s", path, args, first.out, got.out)
				}
			}
		}
	}
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// Colour goes to terminals only, in a fixed order of precedence.
func TestFieldCase63ColourOrder(t *testing.T) {
	escaped := func(d *deps, tty bool, args ...string) bool {
		d.io.OutTTY = tty
		return strings.Contains(runWith(t, d, append([]string{"describe", "group", "shop"}, args...)...).out, "\x1b")
	}
	c := &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}
	for _, x := range []struct {
		name string
		env  []string
		tty  bool
		args []string
		want bool
	}{
		{"file", nil, false, nil, false},
		{"terminal", nil, true, nil, true},
		{"NO_COLOR", []string{"NO_COLOR=1"}, true, nil, false},
		{"NO_COLOR empty", []string{"NO_COLOR="}, true, nil, true},
		{"dumb terminal", []string{"TERM=dumb"}, true, nil, false},
		{"always beats NO_COLOR", []string{"NO_COLOR=1"}, false, []string{"--color=always"}, true},
		{"never", nil, true, []string{"--color=never"}, false},
		{"json beats always", nil, true, []string{"--color=always", "-o", "json"}, false},
		{"tsv beats always", nil, true, []string{"--color=always", "-o", "tsv"}, false},
	} {
		if got := escaped(fakeDeps(t, c, x.env...), x.tty, x.args...); got != x.want {
			t.Errorf("%s: escape bytes %v, want %v", x.name, got, x.want)
		}
	}
}

// A list asks for what it shows and no more; with --lag partial rows are rows.
func TestFieldCase69ListsAskForLittle(t *testing.T) {
	c := &fakeCluster{answers: []*snapshot.Snapshot{zoo(t)}}
	if got := runWith(t, fakeDeps(t, c), "get", "groups"); got.code != 0 {
		t.Fatal(got.err)
	}
	if q := c.queries[0]; len(c.queries) != 1 || q.Commits || q.Logs || q.InternalTopics || q.LogSizes || q.Configs || len(q.Topics) > 0 {
		t.Errorf("%d queries, %+v", len(c.queries), q)
	}
	if got := runWith(t, fakeDeps(t, c), "get", "groups", "--lag", "--kind", "classic"); got.code != 0 {
		t.Fatal(got.err)
	}
	q := c.queries[1]
	for id, want := range map[string]bool{"shop": true, "billing": false, "mailer": false} {
		if got := q.OffsetsFor(c.answers[0].Group(id)); got != want {
			t.Errorf("offsets of %s: %v, want %v", id, got, want)
		}
	}
	// Only a group that does not tell what it is costs a look at the topics.
	u := &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-empty")}}
	if got := runWith(t, fakeDeps(t, u), "get", "groups"); len(u.queries) != 1 || !strings.Contains(got.out, "classic~") {
		t.Errorf("topics known: %d queries\n%s", len(u.queries), got.out)
	}
	bare := with(t, fixture(t, "classic-empty"), func(s *snapshot.Snapshot) { s.Topics, s.Logs, s.Groups[0].Commits = nil, nil, nil })
	u = &fakeCluster{answers: []*snapshot.Snapshot{bare, fixture(t, "classic-empty")}}
	if got := runWith(t, fakeDeps(t, u), "get", "groups"); len(u.queries) != 2 || !u.queries[1].InternalTopics || !strings.Contains(got.out, "classic~") {
		t.Errorf("topics not known: %d queries\n%s", len(u.queries), got.out)
	}
	// What that look could not read is said, in the document too.
	for _, second := range []*fakeCluster{
		{answers: []*snapshot.Snapshot{bare, bare}, errs: []error{nil, errors.New("broker 3 hangs")}},
		{answers: []*snapshot.Snapshot{bare, with(t, bare, func(s *snapshot.Snapshot) {
			s.Errors = append(s.Errors, snapshot.Error{Object: "cluster", Text: "broker 3 hangs"})
		})}},
	} {
		got := runWith(t, fakeDeps(t, second), "get", "groups", "-o", "json")
		if got.code != 1 || !strings.Contains(got.err, "broker 3 hangs") || len(document(t, got.out)["errors"].([]any)) != 1 {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
		}
	}
	late := with(t, zoo(t), func(s *snapshot.Snapshot) {
		g := s.Group("billing")
		g.Streams, g.Commits, g.CommitsRead = nil, nil, false
		s.Errors = append(s.Errors, snapshot.Error{Object: "group billing", Code: "REQUEST_TIMED_OUT", Text: "coordinator 2 did not answer within 5s"})
	})
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{late}}), "get", "groups", "--lag")
	if got.code != 1 || !strings.Contains(got.out, "shop") || !strings.Contains(got.err, "coordinator 2 did not answer") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// A partition whose leader is away is a row without numbers, and exit code 1.
func TestFieldCase70MissingRowsAreSaid(t *testing.T) {
	s := with(t, fixture(t, "classic-empty"), func(s *snapshot.Snapshot) {
		for i := range s.Logs {
			if l := &s.Logs[i]; l.Topic == "entries" && l.Partition == 2 {
				l.Start, l.End, l.StableEnd, l.ErrorCode = nil, nil, nil, 5
			}
		}
		s.Errors = append(s.Errors, snapshot.Error{Object: "topic entries", Code: "LEADER_NOT_AVAILABLE", Text: "read ends of partition 2: LEADER_NOT_AVAILABLE"})
	})
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "describe", "group", "ledger", "-v")
	if got.code != 1 || strings.Count(got.out, "\nentries ") != 6 || !strings.Contains(got.err, "11 of 12 partitions read") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-empty")}}), "describe", "group", "ledger", "-v")
	if got.code != 0 || !strings.Contains(got.err, "12 of 12 partitions read") {
		t.Errorf("all there: exit code %d\n%s", got.code, got.err)
	}
}

// Several groups with one call; a name is a name, never a prefix.
func TestFieldCase72SeveralGroups(t *testing.T) {
	rename := func(id string) *snapshot.Snapshot {
		return with(t, fixture(t, "classic-one-instance"), func(s *snapshot.Snapshot) { s.Groups[0].ID = id })
	}
	s := merge(rename("app"), rename("app-v1"), fixture(t, "classic-empty"))
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append([]string{"describe", "group"}, args...)...)
	}
	if got := run("--regex", "^app", "-o", "name"); got.code != 0 || got.out != "app\napp-v1\n" {
		t.Errorf("names of what is described: exit code %d\n%s", got.code, got.out)
	}
	if got := run("app", "-o", "name"); got.out != "app\n" {
		t.Errorf("name of the group that is described: %q", got.out)
	}
	if got := run("app", "-o", "json"); got.code != 0 || document(t, got.out)["group"] != "app" {
		t.Errorf("app: exit code %d\n%s", got.code, got.err)
	}
	for _, x := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"app", "app-v1", "nope"}, 1, "[app app-v1]"},
		{[]string{"--regex", "^app"}, 0, "[app app-v1]"},
		{[]string{"--all"}, 0, "[app app-v1 ledger]"},
	} {
		got := run(append(x.args, "-o", "json")...)
		var ids []string
		doc := document(t, got.out)
		items, _ := doc["items"].([]any)
		for _, i := range items {
			ids = append(ids, i.(map[string]any)["group"].(string))
		}
		if got.code != x.code || fmt.Sprint(ids) != x.want || doc["kind"] != "GroupDescriptionList" {
			t.Errorf("%v: exit code %d, %v groups %v, want %d and %s", x.args, got.code, doc["kind"], ids, x.code, x.want)
		}
	}
	for _, args := range [][]string{{"--regex", "^zzz"}, {"nope"}, {"ap"}} {
		if got := run(args...); got.code != 1 || got.out != "" {
			t.Errorf("%v: exit code %d, stdout %q", args, got.code, got.out)
		}
	}
}

// permitted is a cluster whose login may do these operations.
type permitted struct {
	fakeCluster
	auth kclient.Authorization
}

// Snapshot tells no group where the test has none.
func (p *permitted) Snapshot(ctx context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	if len(p.answers) == 0 {
		return nil, errFake
	}
	return p.fakeCluster.Snapshot(ctx, q)
}

func (p *permitted) Describe() string { return `SCRAM user "op"` }
func (p *permitted) Authorized(context.Context, []string, []string) (*kclient.Authorization, error) {
	return &p.auth, nil
}

// A group can be read without the right to list; can-i says what is missing.
func TestFieldCase73LeastRights(t *testing.T) {
	c := &permitted{auth: kclient.Authorization{
		Cluster: kclient.Authorized{Kind: "cluster", Known: true},
		Groups:  []kclient.Authorized{{Kind: "group", Name: "shop", Known: true, Operations: []string{"DESCRIBE"}}},
		Topics:  []kclient.Authorized{{Kind: "topic", Name: "orders", Error: "TOPIC_AUTHORIZATION_FAILED"}},
	}}
	got := runWith(t, fakeDeps(t, c), "can-i", "describe", "-g", "shop")
	if got.code != 3 || !strings.Contains(got.out, `DESCRIBE on topic "orders" for SCRAM user "op"`) {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	c.auth.Topics[0] = kclient.Authorized{Kind: "topic", Name: "orders", Known: true, Operations: []string{"DESCRIBE", "READ"}}
	got = runWith(t, fakeDeps(t, c), "can-i", "describe", "-g", "shop", "-o", "json")
	if doc := document(t, got.out); got.code != 0 || doc["allowed"] != true {
		t.Errorf("exit code %d, allowed %v", got.code, doc["allowed"])
	}
	// Naming a group asks for no list.
	c.answers = []*snapshot.Snapshot{fixture(t, "classic-one-instance")}
	if got = runWith(t, fakeDeps(t, c), "describe", "group", "shop"); got.code != 0 || c.queries[0].ListAll {
		t.Errorf("exit code %d, query %+v", got.code, c.queries[0])
	}
	// An empty list is never "there are none".
	empty := &permitted{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{snapshot.New()}}}
	if got = runWith(t, fakeDeps(t, empty), "get", "groups"); got.code != 0 || !strings.Contains(got.err, `no group is visible to SCRAM user "op": listing needs DESCRIBE`) {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	if got = runWith(t, fakeDeps(t, c), "can-i", "descrbe"); got.code != 2 || !strings.Contains(got.err, `did you mean "describe"`) {
		t.Errorf("unknown command: exit code %d\n%s", got.code, got.err)
	}
}

// Flags and arguments are checked before anything is sent.
func TestUsageErrorsSendNothing(t *testing.T) {
	for _, line := range []string{
		"get groups --kind kstreams", "get groups --sort-by size", "get groups --fail-on nope", "get tasks --sort-by nope",
		"describe group a --by colour", "describe group a b -o csvv", "describe task x1 -g a", "describe instance",
		"wait a --for x", "wait a --for drained", "wait a --for stable --instance b", "wait a --for stable --settle 2m --timeout 1m",
		"watch a --fail-on 3", "watch a -o tsv", "check stop", "can-i nope", "snapshot a -o yaml", "get groups -w --interval 1ms",
		"describe group a --standbys x", "describe group a --topology " + filepath.Join(os.TempDir(), "nosuch", "file"), "config view --sort-by nope",
		"describe group a --sample 5s --from x.json", "get groups -w --from x.json", "diff a", "diff a b --from c", "get tasks a --all",
	} {
		got := runWith(t, fakeDeps(t, nil), strings.Fields(line)...)
		if got.code != 2 || got.out != "" || !strings.HasPrefix(got.err, "error: ") {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", line, got.code, got.out, got.err)
		}
	}
}

func TestFailOnKnowsSeverity(t *testing.T) {
	g := []*model.Group{{ID: "a", Findings: []model.Finding{{Code: model.FindingEmpty, Severity: model.Info}}}}
	if err := (&failOn{codes: []string{"any"}}).unmet(g); err != nil {
		t.Errorf("information counts for any: %v", err)
	}
	if err := (&failOn{codes: []string{"empty"}}).unmet(g); err == nil {
		t.Error("a code that was named does not count")
	}
}

func TestEveryFormatIsOffered(t *testing.T) {
	if got := fmt.Sprint(formats()); got != fmt.Sprint(render.Formats()) {
		t.Errorf("completion offers %s", got)
	}
}
