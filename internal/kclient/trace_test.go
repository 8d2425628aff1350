package kclient

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Time that runs out in the moment in which the client connects again is not the
// fault of that connection: the one before said nothing all the time.
func TestTimeRunsOutInTheSecondDial(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	clock := func() time.Time { return now }
	c := &Client{now: clock}
	c.trace = newTrace(&c.conn, clock)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // nothing depends on it
	addr, port := l.Addr().String(), int32(l.Addr().(*net.TCPAddr).Port)
	dial := func() {
		conn, err := c.trace.dial(context.Background(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() }) //nolint:errcheck // nothing depends on it
	}
	dial()
	c.trace.OnBrokerWrite(kgo.BrokerMetadata{Host: "127.0.0.1", Port: port}, keyAPIVersions, 0, 0, 0, nil)
	now = now.Add(2 * time.Second)
	dial()
	now = now.Add(time.Millisecond)
	got := c.explain(context.DeadlineExceeded, addr, "", 0)
	if want := addr + " accepted the connection and said nothing for 2s"; !strings.HasPrefix(got.Error(), want) {
		t.Errorf("%v, want %s", got, want)
	}
	now = now.Add(time.Minute) // now this one takes longer
	if got := c.explain(context.DeadlineExceeded, addr, "", 0); !strings.Contains(got.Error(), "did not accept a connection for 1m0s") {
		t.Errorf("%v, want the dial", got)
	}
}
