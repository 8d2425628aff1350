package kclient

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
)

// silentPort accepts connections and never answers.
func silentPort(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
		}
	}()
	return l
}

// A silent bootstrap server costs a moment when another one answers.
func TestOneBootstrapServerSilent(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	conn := f.connection()
	conn.Bootstrap = append([]string{silentPort(t).Addr().String()}, conn.Bootstrap...)
	for range 4 { // kgo begins with any of them
		start := time.Now()
		s, err := dialTest(t, conn).Snapshot(within(t, 2*time.Second), DescribeQuery("shop"))
		if err != nil || len(s.Errors) != 0 || s.Group("shop").Classic == nil || time.Since(start) > 1500*time.Millisecond {
			t.Fatalf("after %v: %v, %+v", time.Since(start), err, s)
		}
	}
}

// Field case 57: a port that accepts and says nothing ends within the time
// given.
func TestFieldCase57SilentBroker(t *testing.T) {
	l := silentPort(t)
	c := dialTest(t, config.Connection{Bootstrap: []string{l.Addr().String()}, RequestTimeout: 10 * time.Second})
	start := time.Now()
	s, err := c.Snapshot(within(t, time.Second), DescribeQuery("shop"))
	if took := time.Since(start); err == nil || s != nil || took > 2*time.Second {
		t.Errorf("after %v: %v, %v", took, s, err)
	}
	if !strings.Contains(err.Error(), l.Addr().String()+" accepted the connection and said nothing") {
		t.Errorf("error: %v", err)
	}
	a, ok := c.trace.settled(l.Addr().String())
	if !ok || a.step != config.StepVersions || a.read {
		t.Errorf("attempt: %+v", a)
	}
}

// Field case 58: a port where nothing listens is an error at once.
func TestFieldCase58DeadPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c := dialTest(t, config.Connection{Bootstrap: []string{addr}})
	start := time.Now()
	_, err = c.Snapshot(within(t, 10*time.Second), ListQuery())
	if took := time.Since(start); err == nil || took > time.Second {
		t.Errorf("after %v: %v", took, err)
	}
	if !strings.Contains(err.Error(), "nothing listens on "+addr) || len(errs.Hints(err)) == 0 || errs.ExitCode(err) != errs.Failed {
		t.Errorf("error: %v", err)
	}
	if a, _ := c.trace.settled(addr); a.step != config.StepDial {
		t.Errorf("attempt: %+v", a)
	}
}

// A dead bootstrap server costs nothing when another one answers.
func TestOneBootstrapServerDead(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	conn := f.connection()
	conn.Bootstrap = append([]string{"127.0.0.1:1", "127.0.0.1:2"}, conn.Bootstrap...)
	for range 3 {
		s, err := dialTest(t, conn).Snapshot(within(t, 5*time.Second), DescribeQuery("shop"))
		if err != nil || len(s.Errors) != 0 || s.Group("shop").Classic == nil {
			t.Fatalf("%v, %+v", err, s)
		}
	}
}

// A broker that dies costs its own part; its name and address are told.
func TestAdvertisedBrokerUnknown(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(2))
	shop(t, f)
	dead := f.CoordinatorFor("shop")
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.MetadataResponse); ok {
			for i := range r.Brokers {
				if r.Brokers[i].NodeID == dead {
					r.Brokers[i].Host = "broker-7.invalid"
				}
			}
		}
	})
	conn := f.connection()
	conn.Bootstrap = []string{f.ListenAddrs()[1-dead]}
	start := time.Now()
	s, err := dialTest(t, conn).Snapshot(within(t, 10*time.Second), DescribeQuery("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if e := errorOf(s, "group shop"); e == nil || !strings.Contains(e.Text, "advertises broker") || !strings.Contains(e.Text, "broker-7.invalid") {
		t.Errorf("errors: %+v", s.Errors)
	}
}

// A broker that answers and then closes its connections has stopped, or is
// about to: nothing is said of a login that it might want.
func TestBrokerClosesMidWay(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.FindCoordinator, kmsg.DescribeGroups, kmsg.OffsetFetch, kmsg.ListOffsets} {
		f := newFake(t)
		shop(t, f)
		f.ControlKey(key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			f.KeepControl()
			return nil, errors.New("closes the connection"), true
		})
		s, err := dialTest(t, f.connection()).Snapshot(within(t, time.Second), DescribeQuery("shop"))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Errors) == 0 {
			t.Errorf("%s: no error", key.Name())
		}
		for _, e := range s.Errors {
			if strings.Contains(e.Text, "SASL") || !strings.Contains(e.Text, f.ListenAddrs()[0]+" closed the connection") {
				t.Errorf("%s: %+v", key.Name(), e)
			}
		}
	}
}

// Ctrl-C ends everything with the context's own error.
func TestCancelled(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.ControlKey(describeKey.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		return nil, nil, true // never answered
	})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	start := time.Now()
	_, err := dialTest(t, f.connection()).Snapshot(ctx, DescribeQuery("shop"))
	if err != context.Canceled || time.Since(start) > 2*time.Second { //nolint:errorlint // exactly that error
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// A coordinator that dies between two looks is followed to the next one, on
// the same client.
func TestFieldCase30BrokerDies(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(3))
	f.topic("orders", 3, 10, 20, 30)
	f.commit("shop", "orders", 1, 2, 3)
	dead := f.CoordinatorFor("shop")
	conn := f.connection()
	conn.Bootstrap = []string{f.ListenAddrs()[(dead+1)%3]}
	c := dialTest(t, conn)
	if s, err := c.Snapshot(within(t, 10*time.Second), DescribeQuery("shop")); err != nil || len(s.Errors) != 0 {
		t.Fatalf("%v, %+v", err, s)
	}
	if err := f.RemoveNode(dead); err != nil {
		t.Fatal(err)
	}
	s, err := c.Snapshot(within(t, 10*time.Second), DescribeQuery("shop"))
	if err != nil {
		t.Fatal(err)
	}
	g := s.Group("shop")
	if len(s.Errors) != 0 || g.Classic == nil || *g.Coordinator == dead || len(g.Commits) != 3 || len(s.Brokers) != 2 {
		t.Errorf("errors %+v, group %+v", s.Errors, g)
	}
	for p := range int32(3) {
		if l := logOf(t, s, "orders", p); l.End == nil {
			t.Errorf("log: %+v", l)
		}
	}
}
