//go:build realkafka

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// heartbeat of the streams groups here.
const streamsHeartbeat = 3 * time.Second

// Every target that the broker computes is the one that the plan told from the
// snapshot taken before, with the ids that came; and the time for which tasks
// have no owner is within what it told. It runs alone: that time is measured to
// the second.
func TestPredictedStreams(t *testing.T) {
	for _, version := range []string{v431, v440} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := env.cluster(t, version)
			groups := chosen([]*tried{
				{name: "add-one", quick: true, start: []string{"i1"}, words: []string{"add", "i2"}},
				{name: "stop-with-standbys", quick: true, start: []string{"i1", "i2", "i3"}, settings: map[string]string{plan.KeyStandbys: "1"}, words: []string{"stop", "i3"}},
				{name: "standbys-on", quick: true, start: []string{"i1", "i2"}, words: []string{"standbys"}},
				{name: "add-one-to-two", start: []string{"i1", "i2"}, words: []string{"add", "i3"}},
				{name: "add-two", start: []string{"i1"}, words: []string{"add", "i2", "i3"}},
				{name: "stop-without-standbys", start: []string{"i1", "i2", "i3"}, words: []string{"stop", "i2"}},
				{name: "one-more-thread", start: []string{"i1", "i2"}, words: []string{"thread", "i1"}},
			})
			for _, g := range groups {
				c.setGroup(t, "outlook-"+g.name, "streams.heartbeat.interval.ms", millis(streamsHeartbeat))
				if n := g.settings[plan.KeyStandbys]; n != "" { // of the group, not of the app
					c.setGroup(t, "outlook-"+g.name, "streams.num.standby.replicas", n)
				}
			}
			c.startPredicted(t, groups, "outlook-in", appSpec{streams: true})
			for _, g := range groups {
				g.snapshot(t)
			}
			watch := c.watchStreams(t, groups)
			for _, g := range groups {
				g.makeStreams(t, watch)
			}
			for _, g := range groups {
				seen := watch.wait(t, g)
				t.Run(g.name, func(t *testing.T) { g.compareTargets(t, seen) })
			}
		})
	}
}

// makeStreams makes a change. Members that join together make an epoch each,
// in an order that is not to be foreseen: here the second comes when the target
// with the first is there. A 4.4 broker goes by what each member holds at the
// moment; there the second comes when all hold what they shall.
func (g *tried) makeStreams(t testing.TB, watch *streamsWatch) {
	t.Helper()
	switch g.words[0] {
	case "standbys":
		g.c.setGroup(t, g.group, "streams.num.standby.replicas", "1")
	case "add":
		for k, i := range g.words[1:] {
			g.run(t, i)
			eventually(t, time.Minute, g.group+" has a target with "+i, func() bool {
				list := watch.of(t, g.group)
				if len(list) == 0 {
					return false
				}
				last := list[len(list)-1]
				there := slices.ContainsFunc(last.members, func(m streamsHolder) bool { return m.process == g.process(i) && len(m.active) > 0 })
				return there && (g.c.spec.version != v440 || k == len(g.words)-2 || last.state == "Stable")
			})
		}
	default:
		g.make(t)
	}
}

// setGroup changes a setting of a group.
func (c *cluster) setGroup(t testing.TB, group, key, value string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	cfg.Name, cfg.Op, cfg.Value = key, kmsg.IncrementalAlterConfigOpSet, &value
	res.Configs = append(res.Configs, cfg)
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(t.Context(), c.client)
	if err == nil && resp.Resources[0].ErrorCode != 0 {
		err = fmt.Errorf("code %d: %v", resp.Resources[0].ErrorCode, resp.Resources[0].ErrorMessage)
	}
	if err != nil {
		t.Fatalf("set %s of group %s: %v", key, group, err)
	}
}

// streamsSight is one answer about a group, kept when it differs from the one
// before.
type streamsSight struct {
	at      time.Time
	state   string
	epoch   int32 // of the target
	newest  int32 // of the group: ahead of the target until that is computed
	members []streamsHolder
	unowned map[model.TaskID]bool
	raw     string
}

// streamsHolder is one member; the lists are its target, ascending.
type streamsHolder struct {
	id, process     string
	active, standby []model.TaskID
}

// streamsWatch looks at groups every 25 ms.
type streamsWatch struct {
	mu     sync.Mutex
	sights map[string][]streamsSight // by group
	failed error
}

func (c *cluster) watchStreams(t testing.TB, groups []*tried) *streamsWatch {
	t.Helper()
	w := &streamsWatch{sights: map[string][]streamsSight{}}
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	for _, g := range groups {
		req.Groups = append(req.Groups, g.group)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			resp, err := req.RequestWith(ctx, c.client)
			if err == nil {
				err = w.take(resp, time.Now())
			}
			if err != nil && ctx.Err() == nil {
				w.mu.Lock()
				w.failed = err
				w.mu.Unlock()
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

func (w *streamsWatch) take(resp *kmsg.StreamsGroupDescribeResponse, at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range resp.Groups {
		g := &resp.Groups[i]
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return fmt.Errorf("describe %s: %w", g.Group, err)
		}
		s := sightOf(g, at)
		list := w.sights[g.Group]
		if n := len(list); n > 0 && list[n-1].raw == s.raw {
			continue
		}
		w.sights[g.Group] = append(list, s)
	}
	return nil
}

func sightOf(g *kmsg.StreamsGroupDescribeResponseGroup, at time.Time) streamsSight {
	s := streamsSight{at: at, state: g.State, epoch: g.AssignmentEpoch, newest: g.Epoch, unowned: map[model.TaskID]bool{}}
	for sub := range 2 {
		for p := range int32(6) {
			s.unowned[model.ClassicTask("", int32(sub), p)] = true
		}
	}
	for i := range g.Members {
		m := &g.Members[i]
		s.members = append(s.members, streamsHolder{m.MemberID, m.ProcessID, taskIDs(m.TargetAssignment.ActiveTasks), taskIDs(m.TargetAssignment.StandbyTasks)})
		for _, id := range taskIDs(m.Assignment.ActiveTasks) {
			delete(s.unowned, id)
		}
	}
	s.raw = fmt.Sprint(s.state, s.epoch, s.newest, s.members, s.unowned)
	return s
}

func taskIDs(list []kmsg.TaskIDs) []model.TaskID {
	var out []model.TaskID
	for _, ids := range list {
		for _, p := range ids.Partitions {
			sub, _ := strconv.Atoi(ids.SubtopologyID)
			out = append(out, model.ClassicTask("", int32(sub), p))
		}
	}
	return tidyTasks(out)
}

// of gives what was seen of a group so far.
func (w *streamsWatch) of(t testing.TB, group string) []streamsSight {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		t.Fatal(w.failed)
	}
	return slices.Clone(w.sights[group])
}

// wait waits until the group has come to rest after its change.
func (w *streamsWatch) wait(t testing.TB, g *tried) []streamsSight {
	t.Helper()
	members := len(g.start)
	switch g.words[0] {
	case "add":
		members += len(g.words) - 1
	case "thread":
		members++
	case "stop":
		members--
	}
	var list []streamsSight
	eventually(t, 2*time.Minute, fmt.Sprintf("%s is at rest with %d members", g.group, members), func() bool {
		list = w.of(t, g.group)
		last := list[len(list)-1]
		return last.state == "Stable" && last.epoch > list[0].epoch && len(last.members) == members && time.Since(last.at) > 3*streamsHeartbeat
	})
	return list
}

// streamsChanges are the words as a plan takes them, with the ids of those who
// came, in their order.
func (g *tried) streamsChanges(seen []streamsSight) []plan.Change {
	if g.words[0] != "add" {
		return g.changes() // none for standbys: that is a setting
	}
	var list []plan.Add
	known := map[string]bool{}
	for _, m := range seen[0].members {
		known[m.id] = true
	}
	for _, s := range seen {
		for _, m := range s.members {
			if !known[m.id] {
				known[m.id] = true
				list = append(list, plan.Add{Count: 1, Threads: 1, IDs: []string{m.process}, Members: []string{m.id}})
			}
		}
	}
	if g.c.spec.version != v440 { // together: the second target does not hang on who has let go
		all := plan.Add{Threads: 1}
		for _, a := range list {
			all.Count++
			all.IDs, all.Members = append(all.IDs, a.IDs...), append(all.Members, a.Members...)
		}
		return []plan.Change{all}
	}
	var out []plan.Change
	for i, a := range list {
		if i > 0 {
			out = append(out, plan.Wait{Rounds: 1})
		}
		out = append(out, a)
	}
	return out
}

// compareTargets holds the targets against those of the plan.
func (g *tried) compareTargets(t *testing.T, seen []streamsSight) {
	t.Helper()
	set := map[string]string{}
	if g.words[0] == "standbys" {
		set[plan.KeyStandbys] = "1"
	}
	g.plan(t, g.streamsChanges(seen), set)
	old := map[string]bool{}
	for _, m := range seen[0].members {
		old[m.id] = true
	}
	var told, came []string
	for i, r := range g.forecast {
		var members []streamsHolder
		for _, m := range r.Members {
			members = append(members, streamsHolder{m.ID, m.Process, m.Active, m.Standby})
		}
		told = append(told, targetLines(i, members, old)...)
	}
	n, epoch := 0, seen[0].epoch
	var owners []map[string]string
	for _, s := range seen {
		if s.epoch == epoch {
			continue
		}
		epoch = s.epoch
		came = append(came, targetLines(n, s.members, old)...)
		t.Logf("epoch %d: %.2f s after the first look", epoch, s.at.Sub(seen[0].at).Seconds())
		n++
		owner := map[string]string{}
		for _, m := range s.members {
			for _, task := range m.active {
				owner[task.String()] = m.process
			}
		}
		owners = append(owners, owner)
	}
	g.compareMoves(t, owners)
	if !slices.Equal(told, came) {
		t.Errorf("%v: %d targets were told, %d came\ntold\n%s\nreal\n%s", g.words, len(g.forecast), n, strings.Join(told, "\n"), strings.Join(came, "\n"))
	} else {
		t.Logf("%v: %d targets, all equal", g.words, n)
	}
	g.compareUnowned(t, seen)
}

// targetLines writes a target. The id of a member that came is written as new:
// its process tells which it is.
func targetLines(n int, members []streamsHolder, old map[string]bool) []string {
	var out []string
	for _, m := range members {
		id := "new"
		if old[m.id] {
			id = m.id
		}
		out = append(out, fmt.Sprintf("%d %s %s A %s S %s", n+1, m.process, id, words(m.active), words(m.standby)))
	}
	slices.Sort(out)
	return out
}

// compareUnowned holds the time for which tasks had no owner against the plan:
// phases of heartbeats are not visible, so what it tells is a range.
func (g *tried) compareUnowned(t *testing.T, seen []streamsSight) {
	t.Helper()
	without := map[model.TaskID]time.Duration{}
	most := 0
	for i, s := range seen[:len(seen)-1] {
		most = max(most, len(s.unowned))
		for id := range s.unowned {
			without[id] += seen[i+1].at.Sub(s.at)
		}
	}
	var longest time.Duration
	for _, d := range without {
		longest = max(longest, d)
	}
	tasks, limit := 0, 0.0
	for _, r := range g.document.Rounds {
		if r.Unowned != nil {
			tasks += r.Unowned.Tasks
			limit += r.Unowned.MostS
		}
	}
	t.Logf("%d tasks without an owner at some time, %d at a time, none longer than %.2f s; told %d tasks, up to %.1f s each", len(without), most, longest.Seconds(), tasks, limit)
	if len(without) > tasks || longest.Seconds() > limit+1 {
		t.Errorf("tasks without an owner: %d for up to %.2f s, told %d for up to %.1f s", len(without), longest.Seconds(), tasks, limit)
	}
}
