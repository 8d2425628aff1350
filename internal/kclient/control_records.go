package kclient

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// controlOf is the control topic of a group that may have one.
type controlOf struct {
	g        *group
	name     string
	expected bool // the group's own protocol uses it, so it is asked for even alone
	meta     *kmsg.MetadataResponseTopic
}

// collectControl says which control topics are of interest: those of the stream
// groups that are read, by name.
func (r *run) collectControl() {
	r.control = map[string]*controlOf{}
	if !r.q.Control {
		return
	}
	for _, g := range r.groups {
		c := &controlOf{g: g, name: control.TopicName(g.id)}
		switch {
		case g.g.Classic != nil && isThere(g.g.Classic):
			c.expected = groupmeta.IsWorkerGroup(&g.g)
		case g.g.Streams != nil && g.g.Streams.ErrorCode == 0:
		default:
			continue
		}
		r.control[c.name] = c
	}
}

// wantedControl adds the names of control topics to those of a request: what a
// group's protocol does not call for is looked up only along with others.
func (r *run) wantedControl(ask []string) []string {
	some := len(ask) > 0
	for name, c := range r.control {
		if c.meta = r.all[name]; c.meta != nil || r.topics[name] != nil {
			continue
		}
		if c.expected || some && r.all == nil {
			ask = append(ask, name)
		}
	}
	return ask
}

// readControl reads the control topics that are there. A topic that is hidden
// is told of where the group's protocol uses it.
func (r *run) readControl(ctx context.Context) []func() {
	var reads []func()
	for name, c := range r.control {
		if t := r.topics[name]; c.meta == nil && t != nil {
			c.meta = t.meta
		}
		if c.meta == nil {
			continue
		}
		err := kerr.ErrorForCode(c.meta.ErrorCode)
		switch {
		case c.meta.ErrorCode == kerr.UnknownTopicOrPartition.Code:
		case err != nil && c.expected:
			r.controlError(c, err)
		case err == nil:
			reads = append(reads, func() { r.readControlOf(ctx, c) })
		}
	}
	return reads
}

func (r *run) readControlOf(ctx context.Context, c *controlOf) {
	at := controltopic.Place{Topic: c.name, ID: c.meta.TopicID, Leader: controltopic.AnyBroker, Partitions: len(c.meta.Partitions)}
	for i := range c.meta.Partitions {
		if p := &c.meta.Partitions[i]; p.Partition == 0 {
			at.Leader = p.Leader
		}
	}
	if at.Leader < 0 {
		r.controlError(c, kerr.LeaderNotAvailable)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.c.conn.RequestTimeout)
	defer cancel()
	got, err := controltopic.ReadAt(ctx, r.c.sendControl, at)
	if err != nil {
		r.controlError(c, err)
		return
	}
	if got.Missing {
		return
	}
	records := make([]snapshot.ControlRecord, 0, len(got.Records))
	for _, rec := range got.Records {
		records = append(records, snapshot.ControlRecord{Key: rec.Key, Value: rec.Value, Offset: rec.Offset, TooLarge: rec.TooLarge})
	}
	c.g.g.Control, c.g.g.ControlEnd = records, &got.End
	if got.Skipped != nil {
		r.addError(readError("topic "+c.name, "read", got.Skipped))
	}
}

func (c *Client) sendControl(ctx context.Context, broker int32, req kmsg.Request) (kmsg.Response, error) {
	if broker == controltopic.AnyBroker {
		return c.cl.Request(ctx, req)
	}
	return c.send(ctx, broker, req)
}

func (r *run) controlError(c *controlOf, err error) {
	e := readError("topic "+c.name, fmt.Sprintf("read the control topic %q", c.name), err)
	if e.Code == kerr.TopicAuthorizationFailed.Message {
		e.Hint = fmt.Sprintf("needs DESCRIBE and READ on topic %q", c.name)
	}
	r.addError(e)
}
