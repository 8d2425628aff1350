package report

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// Who has the plug-in, who led the last round with it, and of whom it is not
// known: a line of the screen, and an object of the document.
func TestPlugInShown(t *testing.T) {
	at := time.Date(2026, 11, 30, 1, 14, 0, 0, time.UTC)
	g := &model.Group{ID: "shop", Kind: model.Classic, State: model.StateStable, Instances: []model.Instance{{ID: "id-a", Name: "pod-a"}, {ID: "id-b", Name: "pod-b"}}}
	for _, c := range []struct {
		p    *model.PlugIn
		want string
	}{
		{nil, ""},
		{&model.PlugIn{Has: []string{"id-a", "id-b"}, Leader: "id-a", Version: "0.3.0", At: &at, Fresh: true}, "streamctl's plug-in 0.3.0, led the last round on pod-a; 2 of 2 instances have it"},
		{&model.PlugIn{Has: []string{"id-a"}, Lacks: []string{"id-b"}}, "streamctl's plug-in, no round of its told (no control topic before the first mark, or it cannot be seen); 1 of 2 instances have it, not known of pod-b (client.tag.streamctl tells)"},
		{&model.PlugIn{Has: []string{"id-a"}, Lacks: []string{"id-b"}, Leader: "id-a", Version: "0.3.0", Stale: "task 0_1"}, "streamctl's plug-in 0.3.0, not known to have led the last round; 1 of 2 instances have it, not known of pod-b (client.tag.streamctl tells)"},
	} {
		g.PlugIn = c.p
		page := &render.Page{}
		if got := plugInText(page, g); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
		d := NewGroupDescription(g, DescribeOptions{})
		if (d.PlugIn == nil) != (c.p == nil) || c.p != nil && (len(d.PlugIn.Has) != len(c.p.Has) || d.PlugIn.Lacks == nil || d.PlugIn.Fresh != c.p.Fresh) {
			t.Errorf("document: %+v", d.PlugIn)
		}
		m := NewMode(g)
		if c.p != nil && !strings.Contains(m.instead(page), c.want) {
			t.Errorf("mode: %q", m.instead(page))
		}
	}
}
