//go:build realkafka

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// Every round of a drain is what assign.PlugIn makes of what the members told
// the leader, to the task: the plug-in goes by nothing that a tool cannot see.
func pluginFidelity(t *testing.T) {
	t.Parallel()
	for standbys, least := range []int{6, 2} {
		t.Run(fmt.Sprintf("%d standbys", standbys), func(t *testing.T) {
			t.Parallel()
			predictDrain(t, standbys, least)
		})
	}
}

// predictDrain drains one of three instances in so many rounds at least.
func predictDrain(t *testing.T, standbys, least int) {
	t.Helper()
	c := env.cluster(t, v431)
	group := fmt.Sprintf("plug-exact%d", standbys)
	p := c.startPlugin(t, group, map[string]string{
		"max.warmup.replicas": "2", "num.standby.replicas": strconv.Itoa(standbys), "app.restore.delay.ms": "1500",
	})
	for _, i := range []string{"i1", "i2", "i3"} {
		p.run(t, i)
	}
	p.waitCounts(t, 2*time.Minute, map[string]int{"i1": 4, "i2": 4, "i3": 4})
	c.produce(t, group+"-in", stateRecords, 600, 480)
	c.waitCommitted(t, p.group, group+"-in", p.group+"-byvalue-repartition")
	p.settle(t)
	from := len(p.log.of(t, p.group))
	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	p.waitCounts(t, time.Minute, map[string]int{"i1": 6, "i2": 0, "i3": 6})
	p.settle(t)

	top, err := assign.NewTopology([]assign.Subtopology{{ID: "0", Partitions: 6, Stateful: true}, {ID: "1", Partitions: 6, Stateful: true}})
	if err != nil {
		t.Fatal(err)
	}
	v := &pluginView{p: p, top: top, ends: p.changelogEnds(t, top), marked: p.process("i2")}
	v.set = assign.LearnerSettings{Factor: 1000, MaxLearners: 2, Standbys: standbys, AcceptableLag: pluginLag}
	rounds := p.log.of(t, p.group)[from:]
	before := &assign.PlugInBefore{}
	for i, r := range rounds {
		before = v.compare(t, i, r, before)
	}
	t.Logf("%d rounds, all as predicted", len(rounds))
	if len(rounds) < least {
		t.Errorf("%d rounds are too few to say anything", len(rounds))
	}
	if t.Failed() {
		p.logRounds(t, from)
	}
}

// changelogEnds gives by task where its changelog ends. Nothing is written any
// more.
func (p *pluginApp) changelogEnds(t testing.TB, top *assign.Topology) []int64 {
	t.Helper()
	ends := make([]int64, top.Len())
	for i, store := range []string{"bykey", "byvalue"} {
		topic := p.group + "-" + store + "-changelog"
		list, err := p.c.admin.ListEndOffsets(t.Context(), topic)
		if err != nil || list.Error() != nil {
			t.Fatal(err, list.Error())
		}
		first, _ := top.Tasks(i)
		for partition, end := range list[topic] {
			ends[first+assign.Task(partition)] = end.Offset
		}
	}
	return ends
}

// pluginView is what a tool knows of an app beside its members' metadata.
type pluginView struct {
	p      *pluginApp
	top    *assign.Topology
	ends   []int64
	set    assign.LearnerSettings
	marked string
}

// compare holds a round against its prediction, and gives what it leaves to the
// next one. A task that another member still owned is withheld: its new process
// has it as a copy meanwhile, if it had one.
func (v *pluginView) compare(t *testing.T, n int, r coordinatorRound, before *assign.PlugInBefore) *assign.PlugInBefore {
	t.Helper()
	in := assign.LearnerInput{Settings: v.set, Topology: v.top}
	owned, copies := map[assign.Task]string{}, map[string][]assign.Task{}
	for i := range r.value.Members {
		inst := v.member(t, r.value.Members[i].Subscription)
		for _, task := range inst.Workers[0].Tasks {
			if task.Role == model.Active {
				owned[task.Task] = inst.ID
			} else {
				copies[inst.ID] = append(copies[inst.ID], task.Task)
			}
		}
		if at := slices.IndexFunc(in.Instances, func(x assign.LearnerInstance) bool { return x.ID == inst.ID }); at >= 0 {
			in.Instances[at].Workers = append(in.Instances[at].Workers, inst.Workers...)
		} else {
			in.Instances = append(in.Instances, inst)
		}
	}
	want := assign.PlugIn(in, before)
	next, owner := &assign.PlugInBefore{Leaving: []string{v.marked}}, map[assign.Task]string{}
	for _, s := range want.Instances {
		for _, task := range s.Active {
			owner[task] = s.ID
		}
	}
	for _, s := range want.Instances {
		active, standby := map[assign.Task]bool{}, map[assign.Task]bool{}
		for _, task := range s.Active {
			by := owned[task]
			switch {
			case by == "" || by == s.ID:
				active[task] = true
			case slices.Contains(copies[s.ID], task):
				standby[task] = true
			}
		}
		for _, task := range slices.Concat(s.Learner, s.Standby) {
			standby[task] = true
		}
		for _, task := range s.Learner {
			next.Learners = append(next.Learners, assign.PlugInLearner{Task: task, By: s.ID, Owner: owner[task]})
		}
		gotActive, gotStandby := map[assign.Task]bool{}, map[assign.Task]bool{}
		for _, m := range r.members {
			if m.process == s.ID {
				v.add(t, gotActive, m.active)
				v.add(t, gotStandby, m.standby)
			}
		}
		if !maps.Equal(active, gotActive) || !maps.Equal(standby, gotStandby) {
			t.Errorf("round %d, %s: active %v standby %v, predicted %v and %v", n, s.ID[:8], keys(gotActive), keys(gotStandby), keys(active), keys(standby))
		}
	}
	return next
}

func keys(m map[assign.Task]bool) []assign.Task { return slices.Sorted(maps.Keys(m)) }

func (v *pluginView) add(t *testing.T, to map[assign.Task]bool, list []model.TaskID) {
	t.Helper()
	for _, id := range list {
		task, ok := v.top.Find(id)
		if !ok {
			t.Fatalf("task %s is not in the topology", id)
		}
		to[task] = true
	}
}

// member is what one member told the leader (docs/protocol/plug-in.md, What the
// members say).
func (v *pluginView) member(t *testing.T, subscription []byte) assign.LearnerInstance {
	t.Helper()
	frame, err := groupmeta.DecodeConsumerSubscription(subscription)
	if err != nil {
		t.Fatal(err)
	}
	said, err := groupmeta.DecodeSubscriptionInfo(frame.UserData)
	if err != nil {
		t.Fatal(err)
	}
	inst := assign.LearnerInstance{ID: said.ProcessID.String(), RemainingMs: assign.LearnerNoDeadline, Workers: make([]assign.LearnerWorker, 1)}
	inst.Leaving = inst.ID == v.marked
	has := map[assign.Task]bool{}
	for _, o := range frame.Owned {
		first, _ := v.top.Tasks(0)
		if strings.HasSuffix(o.Topic, "-repartition") {
			first, _ = v.top.Tasks(1)
		}
		for _, partition := range o.Partitions {
			task := first + assign.Task(partition)
			has[task] = true
			inst.Workers[0].Tasks = append(inst.Workers[0].Tasks, assign.LearnerTask{Task: task, Role: model.Active})
		}
	}
	for _, o := range said.TaskOffsetSums {
		task, ok := v.top.Find(o.ID())
		if !ok || has[task] {
			continue
		}
		x := assign.LearnerTask{Task: task, Role: model.Standby, Lag: v.ends[task] - o.OffsetSum}
		switch {
		case o.OffsetSum == assign.SumRunning:
			x = assign.LearnerTask{Task: task, Role: model.Active}
		case o.OffsetSum < 0:
			x.Lag = assign.LearnerLagUnknown
		case x.Lag < 0:
			x.Lag = v.ends[task]
		}
		inst.Workers[0].Tasks = append(inst.Workers[0].Tasks, x)
	}
	return inst
}
