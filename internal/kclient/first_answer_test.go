package kclient

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/errs"
)

// When the first answers leave nothing to go on with, the error says what was
// asked for; a cluster without brokers is not one without groups.
func TestFirstAnswersWithNothing(t *testing.T) {
	for want, change := range map[string]func(kmsg.Response){
		"read metadata: the cluster names no broker": func(r kmsg.Response) {
			if m, ok := r.(*kmsg.MetadataResponse); ok {
				m.Brokers = nil
			}
		},
		"list groups: UNKNOWN_SERVER_ERROR": func(r kmsg.Response) {
			if l, ok := r.(*kmsg.ListGroupsResponse); ok {
				l.ErrorCode, l.Groups = kerr.UnknownServerError.Code, nil
			}
		},
	} {
		f := newFake(t)
		shop(t, f)
		f.onResponse(func(_ kmsg.Request, r kmsg.Response) { change(r) })
		s, err := dialTest(t, f.connection()).Snapshot(within(t, 5*time.Second), ListQuery())
		if err == nil {
			t.Fatalf("no error but %+v, want %s", s, want)
		}
		if !strings.HasPrefix(err.Error(), want) || errs.ExitCode(err) != errs.Failed {
			t.Errorf("%v (exit %d), want %s", err, errs.ExitCode(err), want)
		}
	}
}

// One broker of several that does not answer for the metadata of the cluster
// costs a moment, whichever of them is asked first.
func TestMetadataOfHangingBroker(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(3))
	shop(t, f)
	conn := f.connection()
	conn.Bootstrap = conn.Bootstrap[:1]
	c := dialTest(t, conn)
	if _, err := c.Snapshot(within(t, 5*time.Second), ListQuery()); err != nil {
		t.Fatal(err)
	}
	free := make(chan struct{})
	t.Cleanup(func() { close(free) })
	f.ControlKey(kmsg.Metadata.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if f.CurrentNode() == 2 {
			f.SleepControl(func() { <-free })
		}
		return nil, nil, false
	})
	for range 6 { // kgo asks one after the other
		s, err := c.Snapshot(within(t, 2*time.Second), ListQuery())
		if err != nil || s.Group("shop") == nil {
			t.Fatalf("%v, %+v", err, s)
		}
	}
}
