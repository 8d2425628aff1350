package kclient

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// askCommits reads all committed offsets of the groups. Topics that may not be
// seen are missing from the answer without a word; see hiddenCommits.
func (r *run) askCommits(ctx context.Context, b batch) error {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = b.groups[0].id // up to v7, one a request
	for _, g := range b.groups {
		rg := kmsg.NewOffsetFetchRequestGroup()
		rg.Group = g.id
		req.Groups = append(req.Groups, rg)
	}
	kresp, err := r.c.send(ctx, b.node, req)
	if err != nil {
		return err
	}
	resp := kresp.(*kmsg.OffsetFetchResponse)
	if resp.Version < 8 {
		r.takeCommits(batch{b.node, b.part, b.groups[:1]}, []kmsg.OffsetFetchResponseGroup{oldCommits(b.groups[0].id, resp)})
		return r.askCommitsEach(ctx, b)
	}
	r.takeCommits(b, resp.Groups)
	return nil
}

// askCommitsEach asks brokers before 3.0 for one group at a time.
func (r *run) askCommitsEach(ctx context.Context, b batch) error {
	limit := make(chan struct{}, inFlight)
	var wg sync.WaitGroup
	for _, g := range b.groups[1:] {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			r.askBatch(ctx, batch{b.node, b.part, []*group{g}})
		})
	}
	wg.Wait()
	return nil
}

func oldCommits(id string, resp *kmsg.OffsetFetchResponse) kmsg.OffsetFetchResponseGroup {
	g := kmsg.NewOffsetFetchResponseGroup()
	g.Group, g.ErrorCode = id, resp.ErrorCode
	for _, t := range resp.Topics {
		gt := kmsg.NewOffsetFetchResponseGroupTopic()
		gt.Topic = t.Topic
		for _, p := range t.Partitions {
			gp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			gp.Partition, gp.Offset, gp.ErrorCode = p.Partition, p.Offset, p.ErrorCode
			gt.Partitions = append(gt.Partitions, gp)
		}
		g.Topics = append(g.Topics, gt)
	}
	return g
}

func (r *run) takeCommits(b batch, groups []kmsg.OffsetFetchResponseGroup) {
	r.each(b, len(groups), func(i int) string { return groups[i].Group }, func(g *group, i int) int16 {
		w := &groups[i]
		switch {
		case isCoordinatorError(w.ErrorCode):
		case w.ErrorCode == kerr.GroupIDNotFound.Code: // the describe says it
		case w.ErrorCode != 0:
			r.addErrorLocked(groupError(g.id, "read commits of group", w.ErrorCode, nil))
		default:
			g.g.Commits, g.g.CommitsRead = commitsFromWire(w.Topics), true
		}
		return w.ErrorCode
	})
}

func commitsFromWire(topics []kmsg.OffsetFetchResponseGroupTopic) []snapshot.Commit {
	n := 0
	for i := range topics {
		n += len(topics[i].Partitions)
	}
	out := make([]snapshot.Commit, 0, n)
	for i := range topics {
		for _, p := range topics[i].Partitions {
			out = append(out, snapshot.Commit{Topic: topics[i].Topic, Partition: p.Partition, Offset: p.Offset, ErrorCode: p.ErrorCode})
		}
	}
	return out
}

// hiddenCommits asks by name for the commits of topics that members run and
// that the answer for all topics does not have: either nothing is committed,
// or they may not be seen.
func (r *run) hiddenCommits(ctx context.Context, g *group, topics map[string][]int32) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = g.id
	rg := kmsg.NewOffsetFetchRequestGroup()
	rg.Group = g.id
	for name, parts := range topics {
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic, t.Partitions = name, parts
		req.Topics = append(req.Topics, t)
		gt := kmsg.NewOffsetFetchRequestGroupTopic()
		gt.Topic, gt.Partitions = name, parts
		rg.Topics = append(rg.Topics, gt)
	}
	req.Groups = append(req.Groups, rg)
	kresp, err := r.c.send(ctx, g.node, req)
	if err != nil {
		r.addError(readError("group "+g.id, "read commits of group by topic", r.c.explainBroker(err, g.node)))
		return
	}
	resp := kresp.(*kmsg.OffsetFetchResponse)
	if resp.Version < 8 {
		resp.Groups = []kmsg.OffsetFetchResponseGroup{oldCommits(g.id, resp)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range resp.Groups {
		for _, c := range commitsFromWire(resp.Groups[i].Topics) {
			if c.Offset < 0 && c.ErrorCode == 0 {
				continue // nothing committed
			}
			g.g.Commits = append(g.g.Commits, c)
			if c.ErrorCode == kerr.TopicAuthorizationFailed.Code {
				r.missingTopic(c.Topic, c.ErrorCode)
			}
		}
	}
}
