package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// Thousands of healthy groups or instances take no more lines than a screen
// has: the answer, some rows and a number.
func TestManyHealthyTakeOneScreen(t *testing.T) {
	var groups []*model.Group
	for i := range 1000 {
		g := healthy()
		g.ID = fmt.Sprintf("app-%04d", i)
		groups = append(groups, g)
	}
	out := text(t, NewGroupDescriptionList(groups, true, DescribeOptions{}))
	if !strings.HasPrefix(out, "OK: all 1,000 groups\n\nHEALTHY") || !strings.HasSuffix(out, "960 more (-o wide)\n") || strings.Count(out, "\n") > 50 {
		t.Errorf("many groups:\n%s", out)
	}
	g := healthy()
	one := g.Instances[0]
	for i := range 999 {
		one.Name, one.ID = fmt.Sprintf("pod-%03d", i), fmt.Sprintf("id-%03d", i)
		g.Instances = append(g.Instances, one)
	}
	out = text(t, describe(g))
	row(t, out, "1,000", "instances", "1,000", "2")
	refuses(t, out, "more\n", "total")
	if n := strings.Count(out, "\n"); n > 30 {
		t.Errorf("%d lines:\n%s", n, out)
	}
}
