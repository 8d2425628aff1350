package kclient

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
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
