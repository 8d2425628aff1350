package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/kclient"
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
