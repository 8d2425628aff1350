package groupmeta_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// large is an app of n threads, four a process, and about m tasks in ten
// sub-topologies, each with a standby, commits and sizes.
func large(n, m int) *snapshot.Snapshot {
	const subs = 10
	each := int32(m / subs)
	a := &app{group: "shop"}
	for i := range int32(subs) {
		a.subs = append(a.subs, appSub{
			id: i, partitions: each, sources: []string{fmt.Sprintf("shop-s%d-repartition", i)}, changelogs: []string{fmt.Sprintf("shop-s%d-changelog", i)},
		})
	}
	active, standby := make([][]string, n), make([][]string, n)
	sums := make([]map[string]int64, n)
	for i := range sums {
		sums[i] = make(map[string]int64)
	}
	for i := range m {
		id := fmt.Sprintf("%d_%d", i%subs, i/subs)
		owner, second := i%n, (i+n/2+1)%n
		active[owner], standby[second] = append(active[owner], id), append(standby[second], id)
		sums[owner][id], sums[second][id] = groupmeta.SumRunning, 90
	}
	for i := range n {
		a.members = append(a.members, appMember{
			process: fmt.Sprintf("%08x-1111-4111-8111-111111111111", i/4), client: fmt.Sprintf("pod-%d-StreamThread-%d-consumer", i/4, i%4+1),
			active: strings.Join(active[i], " "), standby: strings.Join(standby[i], " "), sums: sums[i], next: start().Add(time.Minute).UnixMilli(),
		})
	}
	s := a.snapshot()
	for _, t := range s.Topics {
		for _, p := range t.Partitions {
			if strings.HasSuffix(t.Name, "-changelog") {
				s.LogSizes = append(s.LogSizes, snapshot.LogSize{Topic: t.Name, Partition: p.Partition, Broker: 1, Bytes: 1 << 20})
			} else {
				commit(s, t.Name, p.Partition, 95)
			}
		}
	}
	return s
}

// A group of 1,000 threads and 10,000 tasks takes less than 0.1 s of a core;
// the limit leaves room for a busy machine and none for anything quadratic.
func TestLargeGroupIsBuiltInAMoment(t *testing.T) {
	s := large(1000, 10_000)
	best := time.Hour
	var g *model.Group
	for range 3 {
		from := time.Now()
		g = build(t, s, groupmeta.BuildOptions{})
		best = min(best, time.Since(from))
	}
	if g.Totals.Active != 10_000 || g.Totals.Standby != 10_000 || len(g.Instances) != 250 || len(g.Offsets) != 10_000 || num(g.Totals.Lag) != "50000" {
		t.Errorf("totals %+v, %d instances, lag %s", g.Totals, len(g.Instances), num(g.Totals.Lag))
	}
	if best > 3*time.Second {
		t.Errorf("took %s", best)
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, size := range [][2]int{{4, 12}, {100, 1000}, {1000, 10_000}} {
		s := large(size[0], size[1]/10*10)
		b.Run(fmt.Sprintf("members=%d/tasks=%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				build(b, s, groupmeta.BuildOptions{})
			}
		})
	}
}

func BenchmarkBuildAllListed(b *testing.B) {
	s := snapshot.New()
	for i := range 10_000 {
		s.Groups = append(s.Groups, listedGroup(fmt.Sprintf("group-%05d", i), "classic", "consumer", "range", "Stable"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(groupmeta.BuildAll(s, groupmeta.BuildOptions{SkipOffsets: true})); n != 10_000 {
			b.Fatal(n)
		}
	}
}
