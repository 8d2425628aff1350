package lab

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A lab is found by its socket and does what it is told; what another lab left
// behind is passed over, and replaced.
func TestLabIsSteeredThroughItsSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	ctx := context.Background()
	if _, err := Find(ctx, dir, 0, nil); !errors.Is(err, ErrNoLab) {
		t.Fatal(err)
	}
	j := job(t, JobOptions{Instances: 1, Tasks: 2})
	_, port, err := net.SplitHostPort(j.l.Bootstrap())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{port, "1"} { // sockets that nobody listens on
		leaveSocket(t, dir, p)
	}
	if err := j.Serve(ctx, dir); err != nil {
		t.Fatal(err)
	}
	r, err := Find(ctx, dir, 0, nil)
	if err != nil || strconv.Itoa(r.Port) != port {
		t.Fatal(r, err)
	}
	a, err := r.Do(ctx, Order{Do: OrderAdd, Names: []string{"x", "y"}})
	if err != nil || a.Error != "" || !slices.Equal(a.Names, []string{"x", "y"}) || len(a.Status.Instances) != 3 {
		t.Fatal(a, err)
	}
	for _, name := range []string{"x", "\x1b[31m"} { // one is there, the other no name: nothing was started
		if a, err = r.Do(ctx, Order{Do: OrderAdd, Names: []string{"z", name}}); err != nil || a.Error == "" || len(a.Names) != 0 || len(a.Status.Instances) != 3 {
			t.Errorf("%v, %v", a, err)
		}
	}
	if a, err = r.Do(ctx, Order{Do: OrderKill, Names: []string{"x", "no", "y"}}); err != nil || !strings.Contains(a.Error, `"no"`) || !slices.Equal(a.Names, []string{"x", "y"}) {
		t.Errorf("%v, %v", a, err)
	}
	if a, err = r.Do(ctx, Order{Do: OrderRestoreRate, Value: 7}); err != nil || a.Status.RestoreRate != 7 {
		t.Errorf("%v, %v", a, err)
	}
	if a, err = r.Do(ctx, Order{Do: "dance"}); err != nil || a.Error != "" { // nothing to carry it out on
		t.Errorf("%v, %v", a, err)
	}
	if a, err = r.Do(ctx, Order{Do: "dance", Names: []string{"x"}}); err != nil || !strings.Contains(a.Error, "not known") {
		t.Errorf("%v, %v", a, err)
	}
	if _, err = r.Do(ctx, Order{Do: OrderAdd, Names: []string{strings.Repeat("x", maxOrder)}}); err == nil {
		t.Error("an order without end was taken")
	}
	i, err := os.Stat(filepath.Join(dir, port+socketEnd))
	if err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", i, err)
	}
}

func leaveSocket(t *testing.T, dir, port string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var c net.ListenConfig
	l, err := c.Listen(context.Background(), "unix", filepath.Join(dir, port+socketEnd))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// Of several labs the port says which, or a bootstrap address of this machine.
func TestFindOneOfSeveral(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, port := range []int{4001, 4002} {
		l, err := listen(ctx, dir, port)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	}
	for _, c := range []struct {
		port      int
		addresses []string
		want      int
		err       string
	}{
		{0, nil, 0, "several labs run: ports 4001, 4002"},
		{4002, nil, 4002, ""},
		{4003, nil, 0, "port 4003: no lab"},
		{0, []string{"b1:4001", "127.0.0.1:4002"}, 4002, ""},
		{0, []string{"localhost:4001"}, 4001, ""},
		{0, []string{"b1:4001", "nonsense"}, 0, "several"},
		{0, []string{"127.0.0.1:4003"}, 0, "port 4003: no lab with a live job runs on this machine; there are labs on ports 4001, 4002"},
	} {
		r, err := Find(ctx, dir, c.port, c.addresses)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v: %v", c, err)
		case c.err == "" && (err != nil || r.Port != c.want):
			t.Errorf("%+v: %v, %v", c, r, err)
		}
	}
	if _, err := listen(ctx, dir, 4001); err == nil {
		t.Error("the socket of a lab that runs was taken over")
	}
}

// The only lab is meant by whoever names none, not by whoever names another that
// has ended.
func TestFindTheOnlyOne(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	l, err := listen(t.Context(), dir, 4001)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	for _, addresses := range [][]string{nil, {"b1.example:9092"}, {"[::1]:4003", "localhost:4001"}} {
		if r, err := Find(t.Context(), dir, 0, addresses); err != nil || r.Port != 4001 {
			t.Errorf("%q: %v, %v", addresses, r, err)
		}
	}
	for _, a := range []string{"127.0.0.1:4003", "localhost:9092", "[::1]:4003"} {
		if r, err := Find(t.Context(), dir, 0, []string{a}); !errors.Is(err, ErrNoLab) {
			t.Errorf("%s: %v, %v", a, r, err)
		}
	}
}

// A directory that others may write to is not trusted.
func TestSocketDirMustBePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o770); err != nil { //nolint:gosec // the point of the test
		t.Fatal(err)
	}
	if _, err := listen(context.Background(), dir, 1); err == nil || !strings.Contains(err.Error(), "open to other users") {
		t.Errorf("listen: %v", err)
	}
	if _, err := Find(context.Background(), dir, 0, nil); err == nil || errors.Is(err, ErrNoLab) {
		t.Errorf("find: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(context.Background(), link, 1); err == nil {
		t.Error("a link was taken for the directory")
	}
	if got := SocketDir("relative"); !filepath.IsAbs(got) {
		t.Errorf("%q", got)
	}
}

// The ledger tells lost counts from such that were made twice, key by key, so
// that one does not hide the other.
func TestLedgerTellsLostFromTwice(t *testing.T) {
	l := newLedger(1)
	store := fakeStore{}
	// 1000 records: each key counted twice but one, which has one less, and one more.
	for k := range int64(keysPerTask) {
		store.put(jobKey(0, k), 2)
	}
	store.put(jobKey(0, 3), 1)
	store.put(jobKey(0, 4), 3)
	store.put("of another", 9)
	l.look(taskID(0), 1000, store)
	if r := l.records(1000); r.Lost != 1 || r.Twice != 1 || r.Counted != 1000 || r.Waiting != 0 || r.Foreign {
		t.Errorf("%+v", r)
	}
	l.count(record(jobKey(0, 1000), 1000), 3)
	if r := l.records(1003); r.Lost != 1 || r.Twice != 1 || r.Counted != 1001 || r.Waiting != 2 {
		t.Errorf("%+v", r)
	}
	l.count(record("else", 1001), 1)
	if r := l.records(1003); !r.Foreign {
		t.Errorf("%+v", r)
	}
	at := time.Unix(100, 0)
	l.started(taskID(0), "a", at)
	l.stopped(taskID(0), "b", at)
	if idle, longest := l.idle(at); len(idle) != 0 || longest != 0 {
		t.Errorf("idle %v, %s", idle, longest)
	}
	l.gone("a", at)
	if idle, longest := l.idle(at.Add(time.Second)); len(idle) != 1 || longest != time.Second {
		t.Errorf("idle %v, %s", idle, longest)
	}
	l.resumed(taskID(0), "b", at.Add(3*time.Second))
	l.resumed(taskID(0), "a", at.Add(9*time.Second))
	if idle, longest := l.idle(at.Add(time.Hour)); len(idle) != 0 || longest != 3*time.Second || l.tasks[0].owner != "b" {
		t.Errorf("idle %v, %s", idle, longest)
	}
}
