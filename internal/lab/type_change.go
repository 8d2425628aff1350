package lab

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupEmpty is the state of a group without members.
const groupEmpty = "Empty"

// LetTypesChange makes the embedded cluster let an empty group change its
// protocol type, as brokers do; by itself it keeps the type for ever. When a
// member of another type is about to join an empty group, the group is deleted
// and made anew with its commits, while other joins wait.
func (l *Lab) LetTypesChange() {
	c := l.cluster
	var mu sync.Mutex
	changing := map[string]chan struct{}{}
	c.ControlKey(int16(kmsg.JoinGroup), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req, ok := r.(*kmsg.JoinGroupRequest)
		if !ok {
			return nil, nil, false
		}
		mu.Lock()
		wait := changing[req.Group]
		mu.Unlock()
		if wait != nil {
			c.SleepControl(func() { <-wait })
			return nil, nil, false
		}
		if g := c.GroupInfo(req.Group); g == nil || g.State != groupEmpty {
			return nil, nil, false
		}
		done := make(chan struct{})
		mu.Lock()
		changing[req.Group] = done
		mu.Unlock()
		c.SleepControl(func() {
			defer close(done)
			l.forgetType(req.Group, req.ProtocolType)
			mu.Lock()
			delete(changing, req.Group)
			mu.Unlock()
		})
		return nil, nil, false
	})
}

// forgetType deletes an empty group of another type and commits its offsets
// anew.
func (l *Lab) forgetType(group, protocolType string) {
	ctx := context.Background()
	d, err := l.admin.DescribeGroups(ctx, group)
	if err != nil || d[group].State != groupEmpty || d[group].ProtocolType == "" || d[group].ProtocolType == protocolType {
		return
	}
	offsets, err := l.admin.FetchOffsets(ctx, group)
	if err != nil {
		return
	}
	if _, err := l.admin.DeleteGroups(ctx, group); err != nil || len(offsets) == 0 {
		return
	}
	// Without them a worker reads its input from the start, and a test would blame
	// it for records counted twice. Commits may be among the requests that the
	// cluster was told to refuse, so they are tried more than once.
	for range recommits {
		if done, err := l.admin.CommitOffsets(ctx, group, offsets.Offsets()); err == nil && done.Error() == nil {
			return
		}
	}
}

// recommits is how often the commit of the offsets is tried for a group that was
// made anew.
const recommits = 20
