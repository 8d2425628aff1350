package cmd

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/snapshot"
	"github.com/streamctl/streamctl/internal/ui"
)

// update writes expected output again (make golden).
var update = flag.Bool("update", false, "write expected output again") //nolint:gochecknoglobals // a flag of the tests

func TestMain(m *testing.M) {
	// Stories and live jobs wait for rounds, sessions and heartbeats far longer than
	// they compute: more of them at once than there are processors. -parallel wins.
	if err := flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"streamctl": func() { os.Exit(Main(os.Args[1:], ui.System())) },
	})
}

// TestScript runs the CLI stories. Besides testscript's own commands they have
//
//	exits CODE CMD…  runs a command that must end with that exit code
//	lab FIXTURE…     starts an embedded broker with the groups of snapshots, or
//	                 "builtin", and points STREAMCTL_BOOTSTRAP_SERVER at it
//	silent           a port that accepts and says nothing: $SILENT
//	dead             a port that nothing listens on: $DEAD
//	within D CMD…    runs a command that must end within that time
//	live GROUP FIXTURE [dead=CLIENT] [static=CLIENT] [promote=ROUND] [heartbeat=D]
//	                 starts an embedded broker with one recorded classic group
//	                 whose members live: they take part in rounds
//
// $SNAPSHOTS is the folder of the recorded groups.
func TestScript(t *testing.T) {
	snapshots, err := filepath.Abs(filepath.Join("..", "testdata", "snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("..", "testdata", "script"), UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "lab": scriptLab, "silent": scriptSilent, "dead": scriptDead, "within": scriptWithin,
			"live": scriptLive,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("SNAPSHOTS", snapshots)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			return nil
		},
	})
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE CMD…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptWithin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within DURATION exits CODE CMD…")
	}
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	begin := time.Now()
	scriptExits(ts, false, args[1:])
	if took := time.Since(begin); took > limit {
		ts.Fatalf("took %s, want at most %s", took.Round(time.Millisecond), limit)
	}
}

func scriptLab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: lab builtin | lab FIXTURE…")
	}
	var groups []*snapshot.Snapshot
	for _, name := range args {
		if name == "builtin" {
			list, err := lab.Builtin()
			ts.Check(err)
			groups = append(groups, list...)
			continue
		}
		s, err := readRecorded(ts.Getenv("SNAPSHOTS"), name)
		ts.Check(err)
		groups = append(groups, s)
	}
	l, err := lab.Start(lab.Options{Now: time.Now()})
	ts.Check(err)
	ts.Defer(l.Close)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, s := range groups {
		_, err := l.Replay(ctx, s)
		ts.Check(err)
	}
	ts.Setenv("STREAMCTL_BOOTSTRAP_SERVER", l.Bootstrap())
}

func readRecorded(dir, name string) (*snapshot.Snapshot, error) {
	f, err := os.Open(filepath.Join(dir, name+".json"))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return snapshot.Read(f)
}

func scriptSilent(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() }) //nolint:errcheck // the test is over
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			ts.Defer(func() { c.Close() }) //nolint:errcheck // the test is over
		}
	}()
	ts.Setenv("SILENT", l.Addr().String())
}

func scriptDead(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	addr := l.Addr().String()
	ts.Check(l.Close())
	ts.Setenv("DEAD", addr)
}

// captured runs one command line in this process.
type captured struct {
	code     int
	out, err string
}

// runWith runs one command line with its own streams and cluster.
func runWith(t *testing.T, d *deps, args ...string) captured {
	t.Helper()
	var out, errOut strings.Builder
	d.io.Out, d.io.Err = &out, &errOut
	code := execute(t.Context(), args, d)
	return captured{code, out.String(), errOut.String()}
}
