package cmd

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is streamctl as a process of its own: the test binary under its name.
func process(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	c := &exec.Cmd{Path: exe, Args: append([]string{"streamctl"}, args...), Env: []string{"HOME=" + t.TempDir()}, Stdout: &out, Stderr: &errOut}
	t.Cleanup(func() {
		if c.Process != nil {
			c.Process.Kill() //nolint:errcheck // gone already when all went well
		}
	})
	return c, &out, &errOut
}

// code is the exit code of a process that ended.
func code(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// silentPort accepts connections, tells of the first, and says nothing.
func silentPort(t *testing.T) (addr string, reached <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	first := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() }) //nolint:errcheck // the test is over
			first <- struct{}{}
		}
	}()
	return l.Addr().String(), first
}

// Ctrl-C and SIGTERM end a command at once, with their own exit codes and
// nothing on stdout.
func TestSignalsEndACommand(t *testing.T) {
	for _, c := range []struct {
		signal os.Signal
		code   int
		word   string
	}{{os.Interrupt, 130, "interrupted"}, {syscall.SIGTERM, 143, "terminated"}} {
		for _, args := range [][]string{{"describe", "group", "shop", "-o", "json"}, {"get", "groups"}, {"watch", "shop"}, {"wait", "shop", "--for", "stable"}} {
			addr, reached := silentPort(t)
			p, out, errOut := process(t, append(args, "--bootstrap-server", addr)...)
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			begin := time.Now()
			if err := p.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			got := code(t, p.Wait())
			if got != c.code || out.Len() > 0 || !strings.HasPrefix(errOut.String(), c.word) {
				t.Errorf("%v %v: exit code %d, stdout %q, stderr %q", args, c.signal, got, out, errOut)
			}
			if took := time.Since(begin); took > graceAfterSignal+time.Second {
				t.Errorf("%v: took %s to end", args, took)
			}
		}
	}
}

// A command that is stuck in something else than the network ends too.
func TestSignalWhileReadingStdin(t *testing.T) {
	p, _, errOut := process(t, "decode", "subscription", "-")
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // the process is gone
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: once it is written the process reads.
	if _, err := in.Write(bytes.Repeat([]byte{'0'}, 256<<10)); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	p.Process.Signal(os.Interrupt) //nolint:errcheck // Wait tells
	if got := code(t, p.Wait()); got != 130 || !strings.HasPrefix(errOut.String(), "interrupted") {
		t.Errorf("exit code %d, stderr %q", got, errOut)
	}
	if took := time.Since(begin); took >= graceAfterSignal {
		t.Errorf("took %s to end", took)
	}
}

// A reader that went away is no error worth a word.
func TestClosedPipeIsQuiet(t *testing.T) {
	p, _, errOut := process(t, "get", "tasks", "--from", filepath.Join("..", "testdata", "snapshot", "classic-learners.json"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close() //nolint:errcheck // nobody reads
	p.Stdout = io.Writer(w)
	err = p.Run()
	w.Close() //nolint:errcheck // the process is gone
	if err == nil || errOut.Len() > 0 {
		t.Errorf("%v, stderr %q", err, errOut)
	}
}
