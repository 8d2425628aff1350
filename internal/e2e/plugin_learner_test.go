//go:build realkafka

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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
		lines, want = append(lines, line), append(want, answer)
	}
	cmd := exec.Command("java", "-cp", pluginTestClasses(), "io.github.streamctl.streams.learner.Scenarios") // the rules need no Kafka
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(bytes.Join(lines, []byte("\n")), '\n')), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := bufio.NewScanner(bytes.NewReader(out))
	got.Buffer(nil, 1<<20)
	seen, bad, learners := 0, 0, 0
	for ; got.Scan(); seen++ {
		var answer struct{ Result json.RawMessage }
		if err := json.Unmarshal(want[seen], &answer); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(answer.Result, []byte(`"learner":[],`)) || bytes.Contains(answer.Result, []byte(`"learner":["`)) {
			learners++
		}
		if !bytes.Equal(got.Bytes(), answer.Result) {
			if bad++; bad <= 3 {
				t.Errorf("%s\nJava %s\nGo   %s", lines[seen], got.Bytes(), answer.Result)
			}
		}
	}
	if got.Err() != nil || seen != drawnRounds || bad > 0 || learners < drawnRounds/2 {
		t.Errorf("%d of %d rounds, %d with learners, %d differ: %v", seen, drawnRounds, learners, bad, got.Err())
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
// their last assignment, with marks, learners and old copies, and some nonsense.
func drawRound(random *rand.Rand, n int) map[string]any {
	size := 1 + random.IntN(12)
	if n%50 == 0 {
		size = 40
	}
	var subtopologies []map[string]any
	var tasks []string
	stateful := map[string]bool{}
	for id := range 1 + random.IntN(3) {
		partitions, state := random.IntN(3*size)+1, random.IntN(4) > 0
		subtopologies = append(subtopologies, map[string]any{"id": id * 2, "partitions": partitions, "stateful": state})
		for p := range partitions {
			name := fmt.Sprintf("%d_%d", id*2, p)
			tasks, stateful[name] = append(tasks, name), state
		}
	}
	config := map[string]any{
		"balancing_factor": json.Number(fmt.Sprintf("%d.%d", 1+random.IntN(3), random.IntN(10))), "max_learners": nil,
		"num_standby_replicas": random.IntN(3), "acceptable_recovery_lag": 100,
	}
	if random.IntN(2) == 0 {
		config["max_learners"] = 1 + random.IntN(6)
	}
	held := make([]map[string]drawnTask, size)
	for i := range held {
		held[i] = map[string]drawnTask{}
	}
	busy := 1 + random.IntN(size) // the others have just joined
	for _, task := range tasks {
		drawHolders(random, held, busy, task, stateful[task])
	}
	var processes []map[string]any
	marked := random.IntN(3) // of none, few, many
	for i := range held {
		list := []drawnTask{}
		for _, task := range tasks {
			if h, ok := held[i][task]; ok {
				list = append(list, h)
			}
		}
		p := map[string]any{
			"id": fmt.Sprintf("%08x-0000-4000-8000-%012x", random.Uint32(), i), "workers": 1 + random.IntN(4),
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

// drawHolders says who owns a task and who has which copies of it.
func drawHolders(random *rand.Rand, held []map[string]drawnTask, busy int, task string, stateful bool) {
	if random.IntN(8) > 0 {
		held[random.IntN(busy)][task] = drawnTask{ID: task, Role: "active", BeingLearned: stateful && random.IntN(3) == 0}
	}
	for i := range held {
		if _, has := held[i][task]; has || random.IntN(len(held)) > 1 {
			continue
		}
		h := drawnTask{ID: task, Role: "standby"}
		if lag := int64(random.IntN(6)) * 70; lag < 350 {
			h.Lag = &lag
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
