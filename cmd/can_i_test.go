package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Names of topics are what an ACL is made of: they are shown whole, at any width,
// and so is what each right is for; get groups reads control topics.
func TestCanIShowsWholeNames(t *testing.T) {
	long := "orders-enrichment-service-v2-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog"
	c := &permitted{auth: kclient.Authorization{
		Cluster: kclient.Authorized{Kind: "cluster", Known: true},
		Groups:  []kclient.Authorized{{Kind: "group", Name: "shop", Known: true, Operations: []string{"DESCRIBE"}}},
		Topics: []kclient.Authorized{
			{Kind: "topic", Name: long, Known: true, Operations: []string{"DESCRIBE"}},
			{Kind: "topic", Name: "orders", Known: true, Operations: []string{"DESCRIBE"}},
			{Kind: "topic", Name: "shop-streamctl-control", Known: true, Operations: []string{"DESCRIBE"}},
		},
	}}
	for _, width := range []string{"60", "80", "200"} {
		d := fakeDeps(t, c, "COLUMNS="+width)
		d.io.OutTTY = true
		got := runWith(t, d, "can-i", "-g", "shop", "--color", "never")
		for _, want := range []string{long, "orders", "READ refused optional for get groups: worker groups: what restores", "streams groups: how many standbys the brokers allow"} {
			if !strings.Contains(flat(got.out), want) {
				t.Errorf("width %s: no %q\n%s", width, want, got.out)
			}
		}
		if strings.Contains(got.out, "…") || strings.Contains(flat(got.out), "topic "+long+" ") {
			t.Errorf("width %s: cut, or topics of the same rights apart\n%s", width, got.out)
		}
	}
}

// What only groups of another kind need is neither refused nor missing, once the
// kind of the group is known; without it everything may be needed.
func TestCanIKnowsTheKind(t *testing.T) {
	refused := kclient.Authorization{
		Cluster: kclient.Authorized{Kind: "cluster", Known: true},
		Groups:  []kclient.Authorized{{Kind: "group", Name: "clicks", Known: true, Operations: []string{"DESCRIBE"}}},
	}
	describe := func(answers ...*snapshot.Snapshot) string {
		c := &permitted{auth: refused, fakeCluster: fakeCluster{answers: answers}}
		got := runWith(t, fakeDeps(t, c), "can-i", "mark-leaving", "-g", "clicks")
		return flat(got.out)
	}
	worker, err := clicksGroup(t).Snapshot(t.Context(), kclient.DescribeQuery("clicks"))
	if err != nil {
		t.Fatal(err)
	}
	const standbys, missing = "for mark-leaving: streams groups: --raise-standbys", `missing, optional: ALTER_CONFIGS on group "clicks"`
	if got := describe(worker); !strings.Contains(got, "ALTER_CONFIGS not needed optional "+standbys) || strings.Contains(got, missing) || strings.Contains(got, `READ on group "clicks"`) {
		t.Errorf("a worker group: %s", got)
	}
	if got := describe(); !strings.Contains(got, "ALTER_CONFIGS refused optional "+standbys) || !strings.Contains(got, missing) {
		t.Errorf("a group that cannot be read: %s", got)
	}
}

// The document names the cluster that answered.
func TestCanINamesTheCluster(t *testing.T) {
	l := startLab(t, "classic-learners")
	got, other := against(t, l, "can-i", "-g", "shop", "-o", "json"), against(t, l, "describe", "group", "shop", "-o", "json")
	doc, want := document(t, got.out), document(t, other.out)["cluster_id"]
	if id, ok := doc["cluster_id"].(string); !ok || id != want || doc["taken_at"] == nil {
		t.Errorf("cluster_id %v, want %v; taken_at %v", doc["cluster_id"], want, doc["taken_at"])
	}
}
