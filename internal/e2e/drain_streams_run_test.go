//go:build realkafka

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// drainDoc is the document of mark-leaving on a streams group.
type drainDoc struct {
	Done     bool
	Standbys struct {
		Before, Set, Left *string
		Need              *int
		PutBack           bool `json:"put_back"`
		Safe              *string
		Departures        []struct {
			Task, Answer string
			To           []string
		}
	}
	Leaving *struct {
		HandedOver []struct {
			Task, To string
			Cold     *bool
		} `json:"handed_over"`
	}
	Wait *struct{ Met bool }
}

// drainRun is a streamctl process that drains, with what it says.
type drainRun struct {
	g   *drainGroup
	cmd *exec.Cmd
	out bytes.Buffer

	mu    sync.Mutex
	lines []string
	done  chan struct{}
}

// The beginnings of what it says at its steps.
const (
	stepNoted  = "noted in topic"
	stepMarked = "marked:"
	stepSet    = "set:"
	stepSafe   = "safe to stop:"
	stepGone   = "pod-c is gone;"
	stepBack   = "put back:"
)

// drain starts mark-leaving of pod-c and calls at for each line on stderr, in
// order, as soon as it comes.
func (g *drainGroup) drain(t *testing.T, at func(d *drainRun, line string), args ...string) *drainRun {
	t.Helper()
	args = append([]string{"mark-leaving", "pod-c", "-g", g.group, "-o", "json", "--bootstrap-server", g.c.addrs[0]}, args...)
	d := &drainRun{g: g, cmd: streamctlCmd(context.Background(), t, args...), done: make(chan struct{})}
	d.cmd.Stdout = &d.out
	pipe, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		for sc := bufio.NewScanner(pipe); sc.Scan(); {
			line := strings.TrimSpace(sc.Text())
			d.mu.Lock()
			d.lines = append(d.lines, line)
			d.mu.Unlock()
			if at != nil {
				at(d, line)
			}
		}
	}()
	t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // where the test failed half-way
	return d
}

// signalled sends a signal when a line begins so.
func signalled(begins string, s os.Signal) func(*drainRun, string) {
	return func(d *drainRun, line string) {
		if strings.HasPrefix(line, begins) {
			_ = d.cmd.Process.Signal(s) // Wait tells
		}
	}
}

// says waits for a line.
func (d *drainRun) says(t *testing.T, begins string) {
	t.Helper()
	eventually(t, 90*time.Second, "mark-leaving says "+begins, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return slices.ContainsFunc(d.lines, func(l string) bool { return strings.HasPrefix(l, begins) }) || d.ended(t)
	})
}

func (d *drainRun) ended(t *testing.T) bool {
	select {
	case <-d.done:
		t.Fatalf("mark-leaving has ended: %s\n%s", strings.Join(d.lines, "\n"), d.out.String())
	default:
	}
	return false
}

// end waits for the process; its code is -1 when a signal killed it.
func (d *drainRun) end(t *testing.T) (int, drainDoc, string) {
	t.Helper()
	select {
	case <-d.done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("mark-leaving does not end; it said\n%s", strings.Join(d.lines, "\n"))
	}
	_ = d.cmd.Wait() // the code tells
	var doc drainDoc
	if d.out.Len() > 0 {
		if err := json.Unmarshal(d.out.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %s", err, d.out.String())
		}
	}
	return d.cmd.ProcessState.ExitCode(), doc, strings.Join(d.lines, "\n")
}
