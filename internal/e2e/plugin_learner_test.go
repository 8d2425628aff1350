//go:build realkafka

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/scenario"
)

// drawnRounds is how many rounds the two learners are compared on.
const drawnRounds = 5000

// TestPluginLearner draws groups in any state at all and has each round decided
// by streamctl's learner and by that of the plug-in: the results are equal to
// the byte.
func TestPluginLearner(t *testing.T) {
	t.Parallel()
	if _, err := env.plugin(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(6, 924))
	var lines, want [][]byte
	for n := range drawnRounds {
		line, err := json.Marshal(drawRound(random, n))
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.ParseLearner(n+1, line)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := scenario.AnswerLearner(n+1, line)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		var result struct{ Result json.RawMessage }
		if err := json.Unmarshal(answer, &result); err != nil {
			t.Fatal(err)
		}
		lines, want = append(lines, line), append(want, result.Result)
	}
	got := askPlugin(t, lines, pluginTestClasses(), "io.github.streamctl.streams.learner.Scenarios") // the rules need no Kafka
	compareAnswers(t, lines, got, want)
}

// TestPluginTargets does the same with whole rounds of an app: what the plug-in
// aims at is what a plan says it will.
func TestPluginTargets(t *testing.T) {
	t.Parallel()
	if _, err := env.plugin(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(6, 1071))
	var lines, want [][]byte
	for n := range drawnRounds {
		round, before := drawTarget(random, n)
		line, err := json.Marshal(round)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.ParseLearner(n+1, line)
		if err != nil {
			t.Fatal(err)
		}
		known := before.known(t, s.Input.Topology)
		r := assign.PlugIn(s.Input, known)
		lines, want = append(lines, line), append(want, s.AppendResult(nil, &r))
	}
	versions := []string{v431}
	if everyChange() {
		versions = append(versions, v440)
		versions = append(versions, fetchOlder(t)...)
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			path := pluginTestClasses() + string(os.PathListSeparator) + env.classpath(v)
			compareAnswers(t, lines, askPlugin(t, lines, path, "io.github.streamctl.streams.Targets"), want)
		})
	}
}

// askPlugin has a program of the module answer lines.
func askPlugin(t *testing.T, lines [][]byte, path, class string) [][]byte {
	t.Helper()
	cmd := exec.Command("java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", path, class)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(bytes.Join(lines, []byte("\n")), '\n')), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(out), []byte("\n"))
}

func compareAnswers(t *testing.T, lines, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d lines", len(got), len(want))
	}
	bad, learners := 0, 0
	for i := range want {
		if bytes.Contains(want[i], []byte(`"learner":["`)) {
			learners++
		}
		if !bytes.Equal(got[i], want[i]) {
			if bad++; bad <= 3 {
				t.Errorf("%s\nJava %s\nGo   %s", lines[i], got[i], want[i])
			}
		}
	}
	t.Logf("%d rounds, %d with learners, %d differ", len(want), learners, bad)
	if bad > 0 || learners < len(want)/4 {
		t.Errorf("%d of %d rounds differ, %d have learners", bad, len(want), learners)
	}
}

// pluginTestClasses is the class path of what the module's tests consist of.
func pluginTestClasses() string {
	target := filepath.Join(env.root, "jvm", "target")
	return filepath.Join(target, "test-classes") + string(os.PathListSeparator) + filepath.Join(target, "classes") +
		string(os.PathListSeparator) + filepath.Join(target, "test-lib", "*")
}

type drawnTask struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	BeingLearned bool   `json:"being_learned,omitempty"`
	Ready        bool   `json:"ready,omitempty"`
	Lag          *int64 `json:"lag,omitempty"`
}

// drawRound draws a scenario: mostly sound groups of which some members missed
// their last assignment, with marks, learners and old copies, and some nonsense;
// every other one with numbers at the ends of what may be.
func drawRound(random *rand.Rand, n int) map[string]any {
	extreme := n%2 == 1
	size := 1 + random.IntN(12)
	if n%50 == 0 {
		size = 40
	}
	var subtopologies []map[string]any
	var tasks []string
	stateful := map[string]bool{}
	for id := range 1 + random.IntN(3) {
		partitions, state := random.IntN(3*size)+1, random.IntN(4) > 0
		if extreme && random.IntN(8) == 0 {
			partitions = 0
		}
		subtopologies = append(subtopologies, map[string]any{"id": id * 2, "partitions": partitions, "stateful": state})
		for p := range partitions {
			name := fmt.Sprintf("%d_%d", id*2, p)
			tasks, stateful[name] = append(tasks, name), state
		}
	}
	config, lags := drawSettings(random, extreme)
	held := make([]map[string]drawnTask, size)
	for i := range held {
		held[i] = map[string]drawnTask{}
	}
	busy := 1 + random.IntN(size) // the others have just joined
	if extreme && random.IntN(2) == 0 {
		busy = 1
	}
	for _, task := range tasks {
		drawHolders(random, held, busy, task, stateful[task], lags)
	}
	var processes []map[string]any
	marked, most := random.IntN(3), 4 // of none, few, many; workers of an instance
	if extreme {
		marked, most = random.IntN(4), []int{1, 4, 40}[random.IntN(3)]
	}
	for i := range held {
		list := []drawnTask{}
		for _, task := range tasks {
			if h, ok := held[i][task]; ok {
				list = append(list, h)
			}
		}
		p := map[string]any{
			"id": fmt.Sprintf("%08x-0000-4000-8000-%012x", random.Uint32(), i), "workers": 1 + random.IntN(most),
			"generation": 5 + random.IntN(2), "tasks": list,
		}
		if marked > 0 && random.IntN(4-marked) == 0 {
			p["leaving"], p["deadline_passed"] = true, random.IntN(4) == 0
			if random.IntN(2) == 0 {
				p["remaining_ms"] = random.IntN(3) * 1000
			}
		}
		processes = append(processes, p)
	}
	return map[string]any{
		"name": fmt.Sprintf("drawn-%d", n), "assignor": scenario.NameLearner, "config": config, "subtopologies": subtopologies, "processes": processes,
	}
}

// drawSettings draws settings, and the lags that copies may have with them.
func drawSettings(random *rand.Rand, extreme bool) (map[string]any, []int64) {
	config := map[string]any{
		"balancing_factor": json.Number(fmt.Sprintf("%d.%d", 1+random.IntN(3), random.IntN(10))), "max_learners": nil,
		"num_standby_replicas": random.IntN(3), "acceptable_recovery_lag": 100,
	}
	if random.IntN(2) == 0 {
		config["max_learners"] = 1 + random.IntN(6)
	}
	if !extreme {
		return config, []int64{0, 70, 140, 210, 280}
	}
	factors := []json.Number{"1", "1.001", "1.05", "1.2", "1.333", "2", "17.5", "999.999"}
	config["balancing_factor"] = factors[random.IntN(len(factors))]
	config["num_standby_replicas"] = []int{0, 1, 5, 60}[random.IntN(4)]
	acceptable := []int64{0, 1, 10_000, drawnMost}[random.IntN(4)]
	config["acceptable_recovery_lag"] = acceptable
	return config, []int64{0, 1, acceptable, min(acceptable, drawnMost-1) + 1, drawnMost, random.Int64N(drawnMost)}
}

// drawnMost is the largest lag that the plug-in tells from an unknown one.
const drawnMost = math.MaxInt64 - 1

// drawHolders says who owns a task and who has which copies of it.
func drawHolders(random *rand.Rand, held []map[string]drawnTask, busy int, task string, stateful bool, lags []int64) {
	if random.IntN(8) > 0 {
		held[random.IntN(busy)][task] = drawnTask{ID: task, Role: "active", BeingLearned: stateful && random.IntN(3) == 0}
	}
	for i := range held {
		if _, has := held[i][task]; has || random.IntN(len(held)) > 1 {
			continue
		}
		h := drawnTask{ID: task, Role: "standby"}
		if k := random.IntN(len(lags) + 1); k < len(lags) {
			h.Lag = &lags[k]
		}
		switch {
		case random.IntN(20) == 0:
			h.Role = "active" // a second claim
		case !stateful:
			continue
		case random.IntN(2) == 0:
			h.Role, h.Ready = "learner", random.IntN(2) == 0
		}
		held[i][task] = h
	}
}

// drawnBefore is what is known of the round before; nil: nothing.
type drawnBefore struct {
	Leaving  []string       `json:"leaving"`
	Learners []drawnLearner `json:"learners"`
}

type drawnLearner struct {
	Task  string `json:"task"`
	By    string `json:"by"`
	Owner string `json:"owner"`
}

func (b *drawnBefore) known(t *testing.T, top *assign.Topology) *assign.PlugInBefore {
	t.Helper()
	if b == nil {
		return nil
	}
	out := &assign.PlugInBefore{Leaving: b.Leaving}
	for _, l := range b.Learners {
		id, err := model.ParseTaskID(l.Task)
		if err != nil {
			t.Fatal(err)
		}
		task, ok := top.Find(id)
		if !ok {
			t.Fatalf("task %s is not in the topology", l.Task)
		}
		out.Learners = append(out.Learners, assign.PlugInLearner{Task: task, By: l.By, Owner: l.Owner})
	}
	return out
}

// drawTarget draws a round of an app: no roles but claims and copies, no tags,
// and now and then learners of the round before, of which some are gone.
func drawTarget(random *rand.Rand, n int) (map[string]any, *drawnBefore) {
	round := drawRound(random, n)
	var before *drawnBefore
	if random.IntN(2) == 0 {
		before = &drawnBefore{Leaving: []string{}, Learners: []drawnLearner{}}
		round["before"] = before
	}
	processes := round["processes"].([]map[string]any)
	owner := map[string]string{}
	for _, p := range processes {
		p["generation"] = 0
		for _, task := range p["tasks"].([]drawnTask) {
			if task.Role == "active" && owner[task.ID] == "" {
				owner[task.ID] = p["id"].(string)
			}
		}
		if before != nil && random.IntN(4) == 0 {
			before.Leaving = append(before.Leaving, p["id"].(string))
		}
	}
	for _, p := range processes {
		list := p["tasks"].([]drawnTask)
		for i := range list {
			if list[i].Role == "learner" && before != nil && owner[list[i].ID] != "" {
				before.Learners = append(before.Learners, drawnLearner{list[i].ID, p["id"].(string), owner[list[i].ID]})
			}
			if list[i].Role != "active" {
				list[i].Role = "standby"
			}
			list[i].BeingLearned, list[i].Ready = false, false
		}
	}
	return round, before
}
