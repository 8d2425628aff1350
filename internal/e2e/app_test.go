//go:build realkafka

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// appSpec is a Streams app to start; its instances come afterwards, with add.
type appSpec struct {
	version  string // of Kafka Streams; "" is the cluster's
	group    string // application.id
	topic    string
	streams  bool              // group.protocol=streams
	plugin   bool              // our assignor is on the class path
	settings map[string]string // on top of those of every app
}

// app is one JVM with instances of a Streams app.
type app struct {
	spec appSpec
	dir  string
	proc *proc
}

// threadTasks is what a thread of an app says it has, sorted.
type threadTasks struct {
	Active  []string `json:"active"`
	Standby []string `json:"standby"` // warm-ups included: an app does not tell them apart
}

// startApp starts a JVM for instances of an app; it ends with the test.
func (c *cluster) startApp(t testing.TB, spec appSpec) *app {
	t.Helper()
	if spec.version == "" {
		spec.version = c.spec.version
	}
	props := map[string]string{
		"application.id":             spec.group,
		"bootstrap.servers":          strings.Join(c.addrs, ","),
		"statestore.cache.max.bytes": "0", // from 3.4
		"cache.max.bytes.buffering":  "0", // before
		"commit.interval.ms":         "200",
		"auto.offset.reset":          "earliest",
		"replication.factor":         "-1",
		"num.stream.threads":         "2",
	}
	if spec.streams {
		props["group.protocol"] = "streams"
	} else {
		props["session.timeout.ms"], props["heartbeat.interval.ms"] = "10000", "500"
	}
	maps.Copy(props, spec.settings)
	a := &app{spec: spec, dir: t.TempDir()}
	file := filepath.Join(a.dir, "app.properties")
	if err := writeProps(file, props); err != nil {
		t.Fatal(err)
	}
	argv := env.java(spec.version, 512, "StreamsApp", file, spec.topic)
	if spec.plugin {
		argv = env.withPlugin(t, argv)
	}
	p, err := env.start("app "+spec.group, argv)
	if err != nil {
		t.Fatal(err)
	}
	a.proc = p
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.failure("output"))
		}
		p.kill()
	})
	return a
}

// add starts an instance with settings of its own (key=value).
func (a *app) add(t testing.TB, client string, settings ...string) {
	t.Helper()
	words := append([]string{"add", client, "state.dir=" + filepath.Join(a.dir, client)}, settings...)
	if err := a.proc.say(strings.Join(words, " ")); err != nil {
		t.Fatal(a.proc.failure(err.Error()))
	}
}

// closeInstance closes one instance cleanly.
func (a *app) closeInstance(t testing.TB, client string) {
	t.Helper()
	if err := a.proc.say("close " + client); err != nil {
		t.Fatal(a.proc.failure(err.Error()))
	}
	a.waitState(t, client, "NOT_RUNNING")
}

// waitState waits until the instance was last in the given state.
func (a *app) waitState(t testing.TB, client, state string) {
	t.Helper()
	eventually(t, 60*time.Second, fmt.Sprintf("%s of %s is %s", client, a.spec.group, state), func() bool {
		if a.proc.ended() {
			t.Fatal(a.proc.failure("ended"))
		}
		return a.last("STATE", client) == state
	})
}

// last gives what follows the last line that starts with "WORD CLIENT ".
func (a *app) last(word, client string) string {
	lines := a.proc.output()
	for _, l := range slices.Backward(lines) {
		if rest, ok := strings.CutPrefix(l, word+" "+client+" "); ok {
			return rest
		}
	}
	return ""
}

// tasks gives what the instance itself said last, by thread name.
func (a *app) tasks(t testing.TB, client string) map[string]threadTasks {
	t.Helper()
	text := a.last("TASKS", client)
	if text == "" {
		return nil
	}
	var out map[string]threadTasks
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("line of %s: %v: %s", client, err, text)
	}
	return out
}

// count sums up the tasks of an instance over its threads.
func (a *app) count(t testing.TB, client string) (active, standby int) {
	t.Helper()
	for _, th := range a.tasks(t, client) {
		active += len(th.Active)
		standby += len(th.Standby)
	}
	return active, standby
}

// waitActive waits until the instance says that it has n active tasks.
func (a *app) waitActive(t testing.TB, client string, n int) {
	t.Helper()
	eventually(t, 60*time.Second, fmt.Sprintf("%s of %s has %d active tasks", client, a.spec.group, n), func() bool {
		if a.proc.ended() {
			t.Fatal(a.proc.failure("ended"))
		}
		active, _ := a.count(t, client)
		return active == n && a.last("STATE", client) == "RUNNING"
	})
}
