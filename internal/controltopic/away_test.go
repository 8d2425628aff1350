package controltopic_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

// dead is a dialer to which one address is that of a process that has ended.
type dead struct {
	mu      sync.Mutex
	addr    string
	left    int // connections that are still refused; negative: all
	refused int
	last    func() // called when the last one is refused
}

func (d *dead) opt() kgo.Opt {
	return kgo.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		if d.refuses(addr) {
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	})
}

func (d *dead) refuses(addr string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if addr != d.addr || d.left == 0 {
		return false
	}
	d.refused++
	if d.left--; d.left == 0 && d.last != nil {
		d.last()
	}
	return true
}

// leader is the address of the broker that leads the topic.
func (r *rig) leader() string {
	r.t.Helper()
	topics, err := r.adm.ListTopics(within(r.t, 5*time.Second), topicName)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.c.ListenAddrs()[topics[topicName].Partitions[0].Leader]
}

// A leader that has just died is tried again, until it is back or another one
// leads.
func TestLeaderThatHasJustDied(t *testing.T) {
	for _, c := range []struct {
		name    string
		brokers int
		moves   bool
		do      func(*controltopic.Topic) error
	}{
		{"read, it comes back", 1, false, readIt},
		{"read, another leads", 3, true, readIt},
		{"write, it comes back", 1, false, writeIt},
		{"write, another leads", 3, true, writeIt},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, kfake.NumBrokers(c.brokers))
			r.create(compacted())
			m := mark(t, "m-1")
			r.put(text(m.Key, string(m.Value)))
			d := &dead{addr: r.leader(), left: 4}
			if c.moves {
				d.last = func() {
					d.left = -1
					for i, addr := range r.c.ListenAddrs() {
						if addr != d.addr {
							if err := r.c.MoveTopicPartition(topicName, 0, int32(i)); err != nil {
								t.Error(err)
							}
							return
						}
					}
				}
			}
			topic := r.open(d.opt())
			if err := c.do(topic); err != nil {
				t.Fatal(err)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.refused < 4 {
				t.Errorf("the leader was asked for %d times only", d.refused)
			}
		})
	}
}

// One that stays away costs the time given, and the error says why.
func TestLeaderThatStaysDead(t *testing.T) {
	r := newRig(t)
	r.create(compacted())
	d := &dead{addr: r.leader(), left: -1}
	topic := r.open(d.opt())
	for name, do := range map[string]func(context.Context) error{
		"read":  func(ctx context.Context) error { _, err := topic.Read(ctx); return err },
		"write": func(ctx context.Context) error { _, err := topic.Write(ctx, control.Withdrawal(instanceA)); return err },
	} {
		began := time.Now()
		err := do(within(t, 300*time.Millisecond))
		if took := time.Since(began); err == nil || took > 2*time.Second || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), topicName) {
			t.Errorf("%s: %v after %s", name, err, took)
		}
	}
}
