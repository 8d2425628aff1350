package kclient_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func recorded(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "snapshot", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	s, err := snapshot.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shop is an embedded cluster in which the four threads of group shop live.
func shop(t *testing.T, o ...kfake.Opt) (*lab.Lab, *kclient.Client) {
	t.Helper()
	l, err := lab.Start(lab.Options{Now: time.Now(), Kfake: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s := recorded(t, "classic-learners")
	s.Logs = nil // records take time and are not looked at here
	if err := l.Live(ctx, lab.Alive{Group: "shop", Rounds: []*snapshot.Snapshot{s}, Heartbeat: 30 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	return l, client(t, l)
}

func client(t *testing.T, l *lab.Lab) *kclient.Client {
	t.Helper()
	c, err := kclient.Dial(t.Context(), config.Connection{Bootstrap: []string{l.Bootstrap()}, RequestTimeout: 5 * time.Second}, kclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// members describes shop once it is Stable, with the client ids of its members.
func members(t *testing.T, l *lab.Lab) (ids, clients []string) {
	t.Helper()
	c := client(t, l)
	for range 400 {
		s, err := c.Snapshot(limited(t), kclient.Query{Groups: []string{"shop"}, Describe: true})
		if err != nil {
			t.Fatal(err)
		}
		if g := s.Group("shop"); g.Classic.State == "Stable" {
			for _, m := range g.Classic.Members {
				ids, clients = append(ids, m.ID), append(clients, m.ClientID)
			}
			return ids, clients
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("group shop does not become Stable")
	return nil, nil
}

func TestVisitAsksForARoundAndLeaves(t *testing.T) {
	l, c := shop(t)
	before, _ := members(t, l)
	var steps []string
	v, err := c.Visit(limited(t), "shop", func(s kclient.VisitStep) { steps = append(steps, string(s)) })
	if err != nil {
		t.Fatal(err)
	}
	if !v.Gone || v.Visitor == "" || v.Caught || len(v.Missing) > 0 || v.Took <= 0 || v.After.State != "Stable" {
		t.Errorf("%+v", v)
	}
	if v.Session != 6*time.Second {
		t.Errorf("session %s, want the shortest", v.Session)
	}
	if got := strings.Join(steps, " "); got != "look id join listed leave settle" {
		t.Errorf("steps %s", got)
	}
	after, clients := members(t, l)
	if slices.Sort(before); !slices.Equal(before, sorted(after)) || slices.Contains(clients, "streamctl") {
		t.Errorf("members %v, then %v (%v)", before, after, clients)
	}
	if g := l.Cluster().GroupInfo("shop"); g == nil || len(g.Members) != 4 {
		t.Errorf("the broker lists %+v", g)
	}
}

func sorted(in []string) []string { return slices.Sorted(slices.Values(in)) }

// Wherever the command is ended, the visitor is out when Visit returns.
func TestVisitEndedAtEachStepLeavesNobodyBehind(t *testing.T) {
	l, c := shop(t)
	before, _ := members(t, l)
	for _, at := range []kclient.VisitStep{kclient.VisitLook, kclient.VisitID, kclient.VisitJoin, kclient.VisitListed, kclient.VisitLeave, kclient.VisitSettle} {
		stop := errors.New("stopped at " + string(at))
		ctx, cancel := context.WithCancelCause(limited(t))
		v, err := c.Visit(ctx, "shop", func(s kclient.VisitStep) {
			if s == at {
				cancel(stop)
			}
		})
		if err == nil && at != kclient.VisitSettle || err != nil && !errors.Is(err, stop) {
			t.Errorf("%s: %v", at, err)
		}
		if v.Visitor != "" && !v.Gone {
			t.Errorf("%s: %+v", at, v)
		}
		after, clients := members(t, l)
		if !slices.Equal(sorted(before), sorted(after)) || slices.Contains(clients, "streamctl") {
			t.Errorf("%s: members %v, then %v (%v)", at, before, after, clients)
		}
	}
}

// Connections that break, a coordinator that moves: the visitor leaves all the
// same.
func TestVisitLeavesThroughTrouble(t *testing.T) {
	for name, trouble := range map[string]func(*lab.Lab){
		"join is cut": func(l *lab.Lab) {
			n := 0
			l.Cluster().ControlKey(int16(kmsg.JoinGroup), func(r kmsg.Request) (kmsg.Response, error, bool) {
				l.Cluster().KeepControl()
				if n++; isVisitor(r) && n == 2 {
					return nil, io.EOF, true
				}
				return nil, nil, false
			})
		},
		"leave is cut": func(l *lab.Lab) {
			l.Cluster().ControlKey(int16(kmsg.LeaveGroup), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, io.EOF, true })
		},
		"leave finds no coordinator": func(l *lab.Lab) {
			l.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.LeaveGroup}, Group: "shop", Err: kerr.NotCoordinator, Count: 8})
		},
		"describe finds a loading coordinator": func(l *lab.Lab) {
			l.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups}, Group: "shop", Err: kerr.CoordinatorLoadInProgress, Count: 4})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, c := shop(t)
			before, _ := members(t, l)
			trouble(l)
			v, err := c.Visit(limited(t), "shop", nil)
			if err != nil || !v.Gone {
				t.Fatalf("%+v, %v", v, err)
			}
			after, _ := members(t, l)
			if !slices.Equal(sorted(before), sorted(after)) {
				t.Errorf("members %v, then %v", before, after)
			}
		})
	}
}

func isVisitor(r kmsg.Request) bool {
	j, ok := r.(*kmsg.JoinGroupRequest)
	return ok && j.Reason != nil && strings.HasPrefix(*j.Reason, "streamctl")
}

// A session that the broker finds too short is made longer.
func TestVisitGoesUpWithTheSession(t *testing.T) {
	_, c := shop(t, kfake.GroupMinSessionTimeout(20*time.Second))
	v, err := c.Visit(limited(t), "shop", nil)
	if err != nil || v.Session != 30*time.Second || !v.Gone {
		t.Errorf("%+v, %v", v, err)
	}
}

// What a broker refuses is said with what it takes.
func TestVisitRefusedByTheBroker(t *testing.T) {
	for _, c := range []struct {
		code *kerr.Error
		hint string
	}{
		{kerr.GroupAuthorizationFailed, `needs READ on group "shop"`},
		{kerr.GroupMaxSizeReached, "group.max.size"},
		{kerr.InconsistentGroupProtocol, "protocol"},
	} {
		for name, second := range map[string]bool{"id": false, "join": true} {
			l, cl := shop(t)
			before, _ := members(t, l)
			l.Cluster().ControlKey(int16(kmsg.JoinGroup), func(r kmsg.Request) (kmsg.Response, error, bool) {
				l.Cluster().KeepControl()
				j := r.(*kmsg.JoinGroupRequest)
				if !isVisitor(r) || (j.MemberID != "") != second {
					return nil, nil, false
				}
				resp := j.ResponseKind().(*kmsg.JoinGroupResponse)
				resp.ErrorCode = c.code.Code
				return resp, nil, true
			})
			v, err := cl.Visit(limited(t), "shop", nil)
			ve, ok := errors.AsType[*kclient.VisitError](err)
			if !ok || !errors.Is(err, c.code) || !strings.Contains(ve.Hint+ve.Why, c.hint) || v.Visitor != "" && !v.Gone {
				t.Errorf("%s at %s: %v %+v", c.code.Message, name, err, ve)
			}
			if after, _ := members(t, l); !slices.Equal(sorted(before), sorted(after)) {
				t.Errorf("%s at %s: members %v, then %v", c.code.Message, name, before, after)
			}
		}
	}
}

// A group that is not Stable with Streams members is left alone, and a name that
// is no group does not become one.
func TestVisitRefusesWhatItMustNotTouch(t *testing.T) {
	l, err := lab.Start(lab.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	all, err := lab.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		s.Logs = nil
		if _, err := l.Replay(limited(t), s); err != nil {
			t.Fatal(err)
		}
	}
	joins := 0
	l.Cluster().ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		l.Cluster().KeepControl()
		joins++
		return nil, nil, false
	})
	c := client(t, l)
	for group, why := range map[string]string{
		"ledger": "Empty", "fraud": "PreparingRebalance", "mailer": "not that of Kafka Streams", "clicks": "not that of Kafka Streams", "nosuch": "",
	} {
		v, err := c.Visit(limited(t), group, nil)
		if err == nil || !strings.Contains(err.Error(), why) || v.Visitor != "" {
			t.Errorf("%s: %v, %+v", group, err, v)
		}
	}
	if joins > 0 || l.Cluster().GroupInfo("nosuch") != nil {
		t.Errorf("%d joins, nosuch is %+v", joins, l.Cluster().GroupInfo("nosuch"))
	}
}

// Before Kafka 2.2 a visitor is let in without being told its id.
func TestVisitRefusesOldBrokers(t *testing.T) {
	l, c := shop(t)
	l.Cluster().ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		l.Cluster().KeepControl()
		resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
		for key := int16(0); key <= kmsg.MaxKey; key++ {
			if known := kmsg.RequestForKey(key); known != nil && key <= int16(kmsg.DescribeGroups)+4 {
				resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: min(3, known.MaxVersion())})
			}
		}
		return resp, nil, true
	})
	_, err := c.Visit(limited(t), "shop", nil)
	if err == nil || !strings.Contains(err.Error(), "older than Kafka 2.2") {
		t.Errorf("%v", err)
	}
}
