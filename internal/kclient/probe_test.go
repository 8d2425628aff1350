package kclient

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/config"
)

// steps is a probe in short: "object step ok".
func steps(p *Probe) []string {
	var out []string
	for _, s := range p.Steps {
		kind, _, _ := strings.Cut(s.Object, " ")
		word := "ok"
		if !s.OK {
			word = "failed"
		}
		out = append(out, kind+" "+s.Step+" "+word)
	}
	return out
}

func TestProbe(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(2))
	p := dialTest(t, f.connection()).Probe(within(t, 10*time.Second))
	want := []string{
		"bootstrap tcp ok", "bootstrap api-versions ok", "bootstrap metadata ok",
		"broker tcp ok", "broker api-versions ok", "broker metadata ok",
		"broker tcp ok", "broker api-versions ok", "broker metadata ok",
	}
	if got := steps(p); !slices.Equal(got, want) || !p.OK() || p.ClusterID != "cluster-of-the-test" {
		t.Errorf("steps %q, cluster %q", got, p.ClusterID)
	}
	if last := p.Steps[2]; last.Detail != "2 brokers" || last.Took <= 0 {
		t.Errorf("step: %+v", last)
	}
}

// Bootstrap works and an advertised name does not: only dialling every
// advertised broker tells.
func TestProbeAdvertisedBrokerUnknown(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(2))
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.MetadataResponse); ok {
			for i := range r.Brokers {
				if r.Brokers[i].NodeID == 1 {
					r.Brokers[i].Host = "broker-1.invalid"
				}
			}
		}
	})
	p := dialTest(t, f.connection()).Probe(within(t, 10*time.Second))
	last := p.Steps[len(p.Steps)-1]
	if p.OK() || last.OK || last.Step != StepTCP || !strings.HasPrefix(last.Object, "broker 1 broker-1.invalid:") || last.Error == "" {
		t.Errorf("last step: %+v", last)
	}
	if n := len(p.Steps); n != 7 {
		t.Errorf("%d steps: %q", n, steps(p))
	}
}

func TestProbeDeadPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	p := dialTest(t, config.Connection{Bootstrap: []string{addr}}).Probe(within(t, 5*time.Second))
	if got, want := steps(p), []string{"bootstrap tcp failed"}; !slices.Equal(got, want) {
		t.Errorf("steps %q", got)
	}
}

func TestProbeLogin(t *testing.T) {
	f := newFake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "op", "right"))
	const wrong = "no-such-password"
	for password, want := range map[string][]string{
		"right": {"bootstrap api-versions ok", "bootstrap login ok", "bootstrap metadata ok"},
		wrong:   {"bootstrap api-versions ok", "bootstrap login failed"},
	} {
		conn := f.connection()
		conn.SASL = &config.SASL{Mechanism: "PLAIN", User: "op", Password: config.Secret(password)}
		p := dialTest(t, conn).Probe(within(t, 10*time.Second))
		if got := steps(p)[1:]; len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: steps %q", password, got)
		}
		for _, s := range p.Steps {
			if strings.Contains(s.Error+s.Hint, wrong) {
				t.Errorf("the password shows: %+v", s)
			}
		}
	}
	conn := f.connection() // no login where one is wanted
	p := dialTest(t, conn).Probe(within(t, 10*time.Second))
	if last := p.Steps[len(p.Steps)-1]; last.OK || last.Step == StepTCP {
		t.Errorf("without login: %+v", p.Steps)
	}
}
