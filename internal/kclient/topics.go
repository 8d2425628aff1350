package kclient

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

const metadataChunk = 2000 // topics of one Metadata by name

// wantsAllTopics reports whether the names of all topics are needed: only to
// find the internal topics of a group that does not tell its topology.
func (r *run) wantsAllTopics() bool {
	if !r.q.InternalTopics {
		return false
	}
	return slices.ContainsFunc(r.groups, func(g *group) bool { return g.listed == 0 || g.listed == partClassic })
}

// readAllTopics reads the metadata of every topic that may be seen. Hidden ones
// are missing without an error, so nothing rests on a topic's absence here.
func (r *run) readAllTopics(ctx context.Context) {
	kresp, err := r.c.sendOneByOne(ctx, func() kmsg.Request { return metadataRequest(nil) })
	if err != nil {
		r.addError(readError("cluster", "read metadata of all topics", r.homeError(err)))
		return
	}
	resp := kresp.(*kmsg.MetadataResponse)
	all := make(map[string]*kmsg.MetadataResponseTopic, len(resp.Topics))
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil {
			all[*t.Topic] = t
		}
	}
	r.all = all
}

// homeError explains a failure of the broker that answered first.
func (r *run) homeError(err error) error {
	_, at, ok := r.c.trace.firstSeed()
	if !ok {
		return err
	}
	return r.c.explain(err, at, "", 0)
}

// readTopicsAndLogs reads what is known of the groups' topics, and then their
// logs: after the commits, so that a lag is never negative for that reason
// (field case 46).
func (r *run) readTopicsAndLogs(ctx context.Context) {
	assigned := r.collectTopics()
	r.collectInternal()
	r.collectControl()
	topicsCtx, cancel := stage(ctx, shareTopics)
	var wg sync.WaitGroup
	if r.q.Commits {
		for g, runs := range assigned {
			if hidden := uncommitted(g, runs); len(hidden) > 0 && g.g.CommitsRead {
				wg.Go(func() { r.hiddenCommits(topicsCtx, g, hidden) })
			}
		}
	}
	r.describeTopics(topicsCtx)
	wg.Wait()
	cancel()
	r.recordTopics()

	logsCtx, cancel := stage(ctx, shareLogs)
	defer cancel()
	if r.q.LogSizes {
		wg.Go(func() { r.readLogSizes(logsCtx, r.changelogs()) })
	}
	for _, read := range r.readControl(logsCtx) {
		wg.Go(read)
	}
	if r.q.Logs {
		r.readLogs(logsCtx)
	}
	wg.Wait()
}

// uncommitted is what members run of topics that have no commit at all.
func uncommitted(g *group, runs map[string][]int32) map[string][]int32 {
	have := map[string]bool{}
	for _, c := range g.g.Commits {
		have[c.Topic] = true
	}
	out := map[string][]int32{}
	for name, parts := range runs {
		if !have[name] {
			out[name] = parts
		}
	}
	return out
}

// describeTopics fills in the metadata of the topics: from all topics where
// those were read, the rest by name, since only that tells a missing topic
// from a hidden one.
func (r *run) describeTopics(ctx context.Context) {
	var ask []string
	for name, t := range r.topics {
		if t.meta = r.all[name]; t.meta == nil {
			ask = append(ask, name)
		}
	}
	ask = r.wantedControl(ask)
	slices.Sort(ask)
	for chunk := range slices.Chunk(ask, metadataChunk) {
		got, err := r.topicsByName(ctx, chunk)
		if err != nil {
			r.addError(readError("cluster", fmt.Sprintf("read metadata of %d topics", len(chunk)), r.homeError(err)))
			continue
		}
		for _, name := range chunk {
			meta := got[name]
			if meta == nil {
				meta = &kmsg.MetadataResponseTopic{ErrorCode: kerr.UnknownTopicOrPartition.Code}
			}
			if t := r.topics[name]; t != nil {
				t.meta = meta
			} else {
				r.control[name].meta = meta
			}
		}
	}
}

// metadataRequest asks for topics by name, for all topics with nil.
func metadataRequest(names []string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (r *run) topicsByName(ctx context.Context, names []string) (map[string]*kmsg.MetadataResponseTopic, error) {
	kresp, err := r.c.sendAny(ctx, func() kmsg.Request { return metadataRequest(names) })
	if err != nil {
		return nil, err
	}
	resp := kresp.(*kmsg.MetadataResponse)
	out := make(map[string]*kmsg.MetadataResponseTopic, len(names))
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil && (r.topics[*t.Topic] != nil || r.control[*t.Topic] != nil) {
			out[*t.Topic] = t
		}
	}
	return out, nil
}

// recordTopics puts the topics into the snapshot, those that were not given
// into Missing. A hidden topic is an error as well: it makes a lag too low.
func (r *run) recordTopics() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, t := range r.topics {
		if t.meta == nil {
			continue // metadata could not be read, which is noted
		}
		code := t.meta.ErrorCode
		switch code {
		case kerr.UnknownTopicOrPartition.Code, kerr.TopicAuthorizationFailed.Code, kerr.InvalidTopicException.Code:
			r.missingTopic(name, code)
			continue
		}
		out := snapshot.Topic{Name: name, ErrorCode: code, Partitions: make([]snapshot.TopicPartition, len(t.meta.Partitions))}
		for i := range t.meta.Partitions {
			p := &t.meta.Partitions[i]
			out.Partitions[i] = snapshot.TopicPartition{Partition: p.Partition, Leader: p.Leader, Replicas: full(p.Replicas)}
		}
		r.s.Topics = append(r.s.Topics, out)
	}
}

// missingTopic notes a topic that was asked for by name and not given. r.mu is
// held.
func (r *run) missingTopic(name string, code int16) {
	for _, m := range r.s.Missing {
		if m.Name == name {
			return
		}
	}
	r.s.Missing = append(r.s.Missing, snapshot.MissingTopic{Name: name, ErrorCode: code})
	if code == kerr.TopicAuthorizationFailed.Code {
		r.addErrorLocked(snapshot.Error{
			Object: "topic " + name, Code: codeName(code), Hint: topicHint(name),
			Text: fmt.Sprintf("topic %q: missing or not visible", name),
		})
	}
}
