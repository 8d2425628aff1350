package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

func manyGroups(n int) []*model.Group {
	out := make([]*model.Group, n)
	for i := range out {
		g := newGroup(fmt.Sprintf("group-%05d", i), model.Classic, model.StateStable)
		addInstance(g, "pod-a", 2)
		g.Totals.Tasks = 12
		if i%10 == 0 {
			find(g, model.FindingUnbalanced, "instance pod-a", "runs 12 of 12")
		}
		out[i] = g
	}
	return out
}

func benchmark(b *testing.B, f render.Format, build func() render.Report) {
	b.ReportAllocs()
	for b.Loop() {
		if err := render.Write(io.Discard, render.Options{Format: f}, build()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGroups10000(b *testing.B) {
	groups := manyGroups(10_000)
	for _, f := range []render.Format{render.Table, render.Wide, render.JSON, render.TSV, render.YAML} {
		b.Run(string(f), func(b *testing.B) {
			benchmark(b, f, func() render.Report { return NewGroupList(groups, ListOptions{}) })
		})
	}
}

func BenchmarkDescribe10000Tasks(b *testing.B) {
	g := large(500, 10_000)
	for _, f := range []render.Format{render.Table, render.Wide, render.JSON} {
		b.Run(string(f), func(b *testing.B) {
			benchmark(b, f, func() render.Report { return NewGroupDescription(g, DescribeOptions{}) })
		})
	}
}

// 10,000 tasks do not scroll the verdict away, and every one is counted.
func TestLargeGroupStaysOnTheScreen(t *testing.T) {
	out := text(t, describe(large(500, 10_000)))
	if n := strings.Count(out, "\n"); n > 100 {
		t.Errorf("%d lines", n)
	}
	wants(t, out, "460 more", "4,960 more stand out", "5,000 more run undisturbed: streamctl get tasks -g large")
}
