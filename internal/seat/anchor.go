package seat

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinBy are the topics that the client subscribes to; it does not join before one
// of them exists.
func joinBy(o *Options) []string {
	if o.Anchor != "" {
		return []string{o.Anchor}
	}
	return o.Sources
}

// anchorWait is the time between two looks whether the client has begun to join.
const anchorWait = 5 * time.Second

// fallBack joins by the sources after all when the anchor brings no round: the
// topic was deleted meanwhile, or may not be seen.
func (s *Seat) fallBack() {
	tick := time.NewTicker(anchorWait)
	defer tick.Stop()
	for {
		select {
		case <-s.closed:
			return
		case <-tick.C:
		}
		switch {
		case s.begun.Load():
			return
		case s.lacksAnchor():
			s.client.AddConsumeTopics(s.o.Sources...)
			return
		}
	}
}

// lacksAnchor says whether a broker answers that there is no such topic for us.
func (s *Seat) lacksAnchor() bool {
	ctx, cancel := context.WithTimeout(context.Background(), anchorWait)
	defer cancel()
	req, rt := kmsg.NewPtrMetadataRequest(), kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(s.o.Anchor)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return false
	}
	for _, t := range resp.Topics {
		if t.Topic != nil && *t.Topic == s.o.Anchor {
			return t.ErrorCode != 0 || len(t.Partitions) == 0
		}
	}
	return false
}
