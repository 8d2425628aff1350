//go:build bench

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// contender is one command of a comparison and what its runs took.
type contender struct {
	name string
	argv []string
	runs int

	took []time.Duration
	cpu  []time.Duration // of the process, in it and in the kernel for it
	peak []int64         // bytes of memory
	out  string          // of the last run
}

// race runs the contenders by turns, so that a disturbance meets all of them,
// after one run each that does not count. Who begins changes from round to
// round: what runs after a longer process finds colder caches.
func race(t *testing.T, all ...*contender) {
	t.Helper()
	most := 0
	for _, c := range all {
		c.run(t)
		c.took, c.cpu, c.peak = nil, nil, nil
		most = max(most, c.runs)
	}
	for i := range most {
		for j := range all {
			if c := all[(i+j)%len(all)]; i < c.runs {
				c.run(t)
			}
		}
	}
	for _, c := range all {
		t.Logf("%-46s median %8.1f ms, CPU %7.1f ms, peak %6.1f MiB, %d runs",
			c.name, ms(c.median()), ms(middle(c.cpu)), float64(c.memory())/(1<<20), len(c.took))
	}
}

func (c *contender) run(t *testing.T) {
	t.Helper()
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", c.argv, err, errs.String())
	}
	c.took = append(c.took, time.Since(start))
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	unit := int64(1024) // Linux counts in KiB
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	c.peak = append(c.peak, int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)*unit)
	c.out = out.String()
}

func (c *contender) median() time.Duration { return middle(c.took) }
func (c *contender) memory() int64         { return middle(c.peak) }

func middle[T int64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// buildAt builds a package of the repository into a folder of the test. What it
// gives is a copy of what the linker wrote, as an installed program is: a process
// starts the faster, by a millisecond, the larger the pieces in which its file
// was written.
func buildAt(t *testing.T, pkg string) string {
	t.Helper()
	if bin := os.Getenv("E2E_STREAMCTL"); bin != "" && pkg == "." {
		return bin // one that was built before
	}
	linked := filepath.Join(t.TempDir(), filepath.Base(pkg)+"-linked")
	cmd := exec.Command("go", "build", "-o", linked, pkg)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	bin := filepath.Join(filepath.Dir(linked), filepath.Base(pkg)+"-bin")
	install(t, linked, bin)
	return bin
}

// install copies a program. It does not take it into memory as a whole: the peak
// of a child counts from that of its parent.
func install(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(struct{ io.Writer }{out}, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// bar fails the test when a figure misses its bar, and prints both.
func bar(t *testing.T, what string, got float64, unit string, ok bool, want string) {
	t.Helper()
	line := fmt.Sprintf("%s: %.4g%s (bar: %s)", what, got, unit, want)
	if !ok {
		t.Error("missed  " + line)
		return
	}
	t.Log("holds   " + line)
}

// plainHome keeps the settings of the one who measures out of it.
func plainHome(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	for _, k := range []string{"HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(k, home)
	}
	for _, kv := range os.Environ() {
		if k, _, _ := bytes.Cut([]byte(kv), []byte("=")); bytes.HasPrefix(k, []byte("STREAMCTL_")) {
			os.Unsetenv(string(k))
		}
	}
}
