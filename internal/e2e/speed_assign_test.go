//go:build realkafka && bench

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/scenario"
)

// assignRace is one run of the JVM's own assignors on scenarios that it makes,
// and the bars that ours has to reach on the same ones.
type assignRace struct {
	version, assignor string
	sizes, modes      string
	runs, warmup      int
	racks             string // strategy; "" for none
	heapMiB           int
	unchecked         bool // the JVM's result is too long in coming to be compared
	bar               map[string]float64
}

// jvmTiming is a line of AssignOracle --bench.
type jvmTiming struct {
	Tasks    int             `json:"tasks"`
	Clients  int             `json:"clients"`
	Mode     string          `json:"mode"`
	Error    string          `json:"error"`
	AssignMs float64         `json:"assign_ms_median"` // the call of the assignor alone
	Scenario json.RawMessage `json:"scenario"`
	Result   json.RawMessage `json:"result"`
}

// The same scenarios, in one run: the JVM's call of the assignor, and ours from
// the parsed scenario to the finished assignment, with the same result.
func TestSpeedAssign(t *testing.T) {
	for _, r := range []assignRace{
		{
			version: v431, assignor: assign.NameHighAvailability, sizes: "1000x50,5000x200", modes: "steady,add", runs: 3, warmup: 1, heapMiB: 3072,
			bar: map[string]float64{"5000x200": 50},
		},
		{
			version: v431, assignor: assign.NameHighAvailability, sizes: "100x10", modes: "steady,add", runs: 3, warmup: 1, racks: "min_traffic", heapMiB: 2048,
			bar: map[string]float64{"100x10": 1},
		},
		{
			version: v431, assignor: assign.NameHighAvailability, sizes: "100x10", modes: "steady,add", runs: 3, warmup: 1, racks: "balance_subtopology", heapMiB: 2048,
			bar: map[string]float64{"100x10": 1},
		},
		{
			version: v431, assignor: assign.NameStreamsSticky, sizes: "5000x200,50000x1000", modes: "scratch,steady,add", runs: 7, warmup: 10, heapMiB: 2048,
			bar: map[string]float64{"5000x200": 3, "50000x1000": 3},
		},
		{
			version: v440, assignor: assign.NameStreamsSticky, sizes: "5000x200,50000x1000", modes: "scratch,steady,add", runs: 7, warmup: 10, heapMiB: 2048,
			bar: map[string]float64{"5000x200": 3, "50000x1000": 3},
		},
	} {
		r.run(t)
	}
}

// Beyond 5,000 x 200 the JVM's high-availability assignor takes minutes and
// gigabytes.
func TestSpeedFullAssign(t *testing.T) {
	r := assignRace{
		version: v431, assignor: assign.NameHighAvailability, sizes: "20000x1000", modes: "add", runs: 1, heapMiB: 12 * 1024, unchecked: true,
		bar: map[string]float64{"20000x1000": 200},
	}
	r.run(t)
}

func (r assignRace) run(t *testing.T) {
	name := r.assignor + " " + r.version + " " + r.racks
	t.Run(strings.TrimSpace(name), func(t *testing.T) {
		argv := []string{
			"java", "-Xmx" + strconv.Itoa(r.heapMiB) + "m", "-XX:+UseSerialGC", "-cp", env.classpath(r.version), "AssignOracle",
			"--bench", r.assignor, "--sizes", r.sizes, "--modes", r.modes, "--runs", strconv.Itoa(r.runs), "--warmup", strconv.Itoa(r.warmup), "--with-scenario", "x",
		}
		if !r.unchecked {
			argv = append(argv, "--with-result", "x")
		}
		if r.racks != "" {
			argv = append(argv, "--racks", r.racks)
		}
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", argv, err)
		}
		n := 0
		for line := range bytes.Lines(out) {
			var x jvmTiming
			if err := json.Unmarshal(line, &x); err != nil || x.Error != "" || x.AssignMs <= 0 {
				t.Fatalf("%v %s: %.200s", err, x.Error, line)
			}
			n++
			r.compare(t, &x)
		}
		if want := (1 + strings.Count(r.sizes, ",")) * (1 + strings.Count(r.modes, ",")); n != want {
			t.Errorf("%d measurements, want %d", n, want)
		}
	})
}

func (r assignRace) compare(t *testing.T, x *jvmTiming) {
	t.Helper()
	s, err := scenario.ParseKafka(1, x.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	a, err := assign.Find(r.assignor, r.version)
	if err != nil {
		t.Fatal(err)
	}
	const runs = 11
	var took []time.Duration
	var res *assign.Result
	for range 2 + runs {
		runtime.GC() // as the JVM does before each of its runs
		start := time.Now()
		if res, err = a.Assign(s.Group); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took[2:])
	ours := middle(took[2:])
	if !r.unchecked {
		var got, want any
		if err := json.Unmarshal(s.AppendResult(nil, res), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(x.Result, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s %dx%d %s: another result than the JVM's (%v)", r.assignor, x.Tasks, x.Clients, x.Mode, err)
		}
	}
	size := strconv.Itoa(x.Tasks) + "x" + strconv.Itoa(x.Clients)
	ratio := x.AssignMs / ms(ours)
	t.Logf("%-11s %-8s JVM %10.1f ms, ours %8.2f ms", size, x.Mode, x.AssignMs, ms(ours))
	if least := r.bar[size]; least > 0 {
		bar(t, "faster than the JVM, "+size+" "+x.Mode, ratio, "x", ratio >= least, "at least "+strconv.FormatFloat(least, 'f', -1, 64)+"x")
	}
}
