//go:build realkafka

package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/kclient"
)

// Settings of the apps with our assignor.
const (
	pluginClass = "io.github.streamctl.streams.LearnerTaskAssignor"
	pluginLag   = 100 // records
)

// withPlugin puts the jar behind the class path of a JVM.
func (r *rig) withPlugin(t testing.TB, argv []string) []string {
	t.Helper()
	jar, err := r.plugin()
	if err != nil {
		t.Fatal(err)
	}
	argv = slices.Clone(argv)
	argv[slices.Index(argv, "-cp")+1] += string(os.PathListSeparator) + jar
	return argv
}

// pluginApp is a Streams app with our assignor, 12 stateful tasks, and the
// control topic of its group.
type pluginApp struct {
	*app
	c     *cluster
	group string
	topic *controltopic.Topic
	log   *coordinatorLog
}

// startPlugin starts the app's JVM without instances.
func (c *cluster) startPlugin(t testing.TB, group string, settings map[string]string) *pluginApp {
	t.Helper()
	return c.startPluginOf(t, group, "", settings)
}

// startPluginOf is startPlugin with a release of Kafka Streams.
func (c *cluster) startPluginOf(t testing.TB, group, version string, settings map[string]string) *pluginApp {
	t.Helper()
	all := map[string]string{
		"task.assignor.class": pluginClass, "num.stream.threads": "1", "acceptable.recovery.lag": strconv.Itoa(pluginLag),
		"streamctl.followup.interval.ms": "1000", "streamctl.worker.balancing.factor": "1", "max.warmup.replicas": "12",
	}
	maps.Copy(all, settings)
	in := group + "-in"
	c.createTopic(t, in, 6)
	p := &pluginApp{c: c, group: group, log: c.follow(t)}
	p.app = c.startApp(t, appSpec{version: version, group: group, topic: in, plugin: true, settings: all})
	topic, err := controltopic.Open([]kgo.Opt{kgo.SeedBrokers(c.addrs...)}, group)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(topic.Close)
	p.topic = topic
	return p
}

// process is the process id of an instance, the same in every run.
func (p *pluginApp) process(instance string) string {
	sum := sha256.Sum256([]byte(p.group + " " + instance))
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // as Java draws them
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func (p *pluginApp) run(t testing.TB, instance string) {
	t.Helper()
	p.add(t, instance, "app.process.id="+p.process(instance))
}

// waitCounts waits until each instance says that it has so many active tasks.
func (p *pluginApp) waitCounts(t testing.TB, within time.Duration, want map[string]int) {
	t.Helper()
	eventually(t, within, fmt.Sprintf("%s has active tasks %v", p.group, want), func() bool {
		if p.proc.ended() {
			t.Fatal(p.proc.failure("ended"))
		}
		for instance, n := range want {
			if active, _ := p.count(t, instance); active != n || p.last("STATE", instance) != "RUNNING" {
				return false
			}
		}
		return true
	})
}

// settle waits until the group rests: no round follows by itself.
func (p *pluginApp) settle(t testing.TB) {
	t.Helper()
	eventually(t, time.Minute, p.group+" rests", func() bool {
		rounds := p.log.of(t, p.group)
		return len(rounds) > 0 && rounds[len(rounds)-1].settled()
	})
}

// mark writes a leaving mark by hand.
func (p *pluginApp) mark(t testing.TB, instance, id string, timeout time.Duration) {
	t.Helper()
	l := control.Leaving{Mark: id, At: time.Now(), Who: "e2e"}
	if timeout > 0 {
		l.Timeout = &timeout
	}
	r, err := l.Record(p.process(instance))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, r)
}

// write makes the topic if need be and writes a record.
func (p *pluginApp) write(t testing.TB, r control.Record) {
	t.Helper()
	if _, err := p.topic.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.topic.Write(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// rebalance asks the group for a round.
func (p *pluginApp) rebalance(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cl, err := kclient.Dial(ctx, config.Connection{
		Bootstrap: p.c.addrs, ClientID: "streamctl", RequestTimeout: 10 * time.Second, DialTimeout: 10 * time.Second,
	}, kclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	eventually(t, 30*time.Second, p.group+" can be asked for a round", func() bool {
		_, err = cl.Visit(ctx, p.group, nil)
		return err == nil
	})
}

// status gives what a process said last, nil when it said nothing.
func (p *pluginApp) status(t testing.TB, instance string) *control.Status {
	t.Helper()
	all, err := p.topic.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := control.Fold(all.Records)
	if s, ok := state.Status[p.process(instance)]; ok {
		return &s
	}
	return nil
}

// newestRound gives the newest round that a leader told of.
func (p *pluginApp) newestRound(t testing.TB, instances ...string) *control.Status {
	t.Helper()
	var newest *control.Status
	for _, i := range instances {
		if s := p.status(t, i); s != nil && s.Round != nil && (newest == nil || s.Offset > newest.Offset) {
			newest = s
		}
	}
	return newest
}

// restores lists what active tasks restored beyond the acceptable lag, since a
// line of the output.
func (p *pluginApp) restores(from int, acceptable int64) []string {
	var out []string
	for _, l := range p.proc.output()[from:] {
		words := strings.Fields(l)
		if len(words) != 4 || words[0] != "RESTORE" {
			continue
		}
		if n, err := strconv.ParseInt(words[3], 10, 64); err != nil || n > acceptable {
			out = append(out, l)
		}
	}
	return out
}

// compareOwners holds every round since the first that is given against the
// rule that a task has one owner, or is on its way to one in a round that
// follows at once.
func (p *pluginApp) compareOwners(t testing.TB, from int) {
	t.Helper()
	rounds := p.log.of(t, p.group)
	for i := from; i < len(rounds); i++ {
		owners, atOnce := map[string]int{}, false
		for _, m := range rounds[i].members {
			atOnce = atOnce || m.next == "now"
			for _, task := range m.active {
				owners[task.String()]++
			}
		}
		for task, n := range owners {
			if n > 1 {
				t.Errorf("round %d: task %s has %d owners", i, task, n)
			}
		}
		if len(owners) != 12 && !atOnce {
			t.Errorf("round %d: %d of 12 tasks have an owner, and no round follows at once", i, len(owners))
		}
	}
	if t.Failed() {
		p.logRounds(t, from)
	}
}

// longestGap is the longest time that a task was without owner, by the times at
// which the coordinator wrote the rounds down.
func (p *pluginApp) longestGap(t testing.TB, from int) time.Duration {
	t.Helper()
	rounds, longest, since := p.log.of(t, p.group)[from:], time.Duration(0), map[string]time.Time{}
	for i, r := range rounds {
		owners := ownersOf(r)
		if i > 0 {
			for task := range ownersOf(rounds[i-1]) {
				if _, has := owners[task]; !has {
					since[task] = r.at
				}
			}
		}
		for task := range owners {
			if at, was := since[task]; was {
				longest = max(longest, r.at.Sub(at))
				delete(since, task)
			}
		}
	}
	for task := range since {
		t.Errorf("task %s has no owner at the end", task)
	}
	return longest
}

// endsByTask are the ends of the changelogs by task.
func (p *pluginApp) endsByTask(t testing.TB) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for i, store := range []string{"bykey", "byvalue"} {
		topic := p.group + "-" + store + "-changelog"
		list, err := p.c.admin.ListEndOffsets(t.Context(), topic)
		if err != nil || list.Error() != nil {
			t.Fatal(err, list.Error())
		}
		for n, end := range list[topic] {
			out[fmt.Sprintf("%d_%d", i, n)] = end.Offset
		}
	}
	return out
}

func (p *pluginApp) logRounds(t testing.TB, from int) {
	t.Helper()
	for i, r := range p.log.of(t, p.group) {
		if i < from {
			continue
		}
		for _, m := range r.members {
			t.Logf("%s round %d %s/%d A %s S %s %s reported %s", r.at.Format("05.000"), i, m.process[:8], m.thread, words(m.active), words(m.standby), m.next, m.reported)
		}
	}
}
