package kclient

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/snapshot"
)

const (
	logChunk     = 4000 // partitions of one ListOffsets
	leaderWithin = 1500 * time.Millisecond
)

// offsetKind is one of the offsets of a log that ListOffsets gives.
type offsetKind struct {
	timestamp int64
	isolation int8
	set       func(*snapshot.Log, int64)
}

func (r *run) offsetKinds() []offsetKind {
	kinds := []offsetKind{
		{-1, 0, func(l *snapshot.Log, o int64) { l.End = &o }},
		{-2, 0, func(l *snapshot.Log, o int64) { l.Start = &o }},
	}
	if r.q.StableEnds {
		kinds = append(kinds, offsetKind{-1, 1, func(l *snapshot.Log, o int64) { l.StableEnd = &o }})
	}
	return kinds
}

// readLogs reads starts and ends of every partition of the topics. A leader
// that moved is looked up again for a short while.
func (r *run) readLogs(ctx context.Context) {
	n := r.partitionCount()
	r.logs = make(map[partition]*snapshot.Log, n)
	todo := make(map[partition]int32, n) // to its leader
	for _, t := range r.topics {
		r.logsOf(t, todo)
	}
	giveUp := time.Now().Add(leaderWithin)
	for try := 1; len(todo) > 0; try++ {
		again := r.askLogs(ctx, todo)
		if len(again) == 0 || time.Now().After(giveUp) || clock.Sleep(ctx, backoff(try)) != nil {
			break
		}
		todo = r.newLeaders(ctx, again)
	}
	r.noteLogErrors()
}

// partitionCount is how many partitions the topics have, about.
func (r *run) partitionCount() int {
	n := 0
	for _, t := range r.topics {
		if t.meta != nil {
			n += len(t.meta.Partitions)
		}
	}
	return n
}

// logsOf adds the partitions of one topic: those of its metadata, and those
// that only a commit or an assignment names.
func (r *run) logsOf(t *topic, todo map[partition]int32) {
	if t.meta == nil || t.meta.ErrorCode != 0 {
		return
	}
	for i := range t.meta.Partitions {
		p := &t.meta.Partitions[i]
		tp := partition{Topic: t.name, Partition: p.Partition}
		r.logs[tp] = &snapshot.Log{Topic: t.name, Partition: p.Partition}
		todo[tp] = p.Leader
		delete(t.named, p.Partition)
	}
	for p := range t.named {
		tp := partition{Topic: t.name, Partition: p}
		r.logs[tp] = &snapshot.Log{Topic: t.name, Partition: p, ErrorCode: kerr.UnknownTopicOrPartition.Code}
	}
}

// askLogs asks every leader for its partitions, and returns those to ask again.
func (r *run) askLogs(ctx context.Context, todo map[partition]int32) []partition {
	byLeader := map[int32][]partition{}
	var again []partition
	for tp, leader := range todo {
		if leader < 0 {
			r.logs[tp].ErrorCode = kerr.LeaderNotAvailable.Code
			again = append(again, tp)
			continue
		}
		r.logs[tp].ErrorCode = 0
		byLeader[leader] = append(byLeader[leader], tp)
	}
	var wg sync.WaitGroup
	for leader, parts := range byLeader {
		slices.SortFunc(parts, partition.Compare)
		for chunk := range slices.Chunk(parts, logChunk) {
			for _, kind := range r.offsetKinds() {
				wg.Go(func() {
					bad := r.askOffsets(ctx, leader, chunk, kind)
					r.mu.Lock()
					again = append(again, bad...)
					r.mu.Unlock()
				})
			}
		}
	}
	wg.Wait()
	slices.SortFunc(again, partition.Compare)
	return slices.Compact(again)
}

// askOffsets reads one kind of offset from one leader.
func (r *run) askOffsets(ctx context.Context, leader int32, parts []partition, kind offsetKind) (again []partition) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	req.IsolationLevel = kind.isolation
	for _, tp := range parts {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.Topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = tp.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = tp.Partition, kind.timestamp
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	kresp, err := r.c.send(ctx, leader, req)
	if err != nil {
		err = r.c.explainBroker(err, leader)
		r.addError(readError(objectBroker(leader), fmt.Sprintf("read the logs of %d partitions", len(parts)), err))
		code := codeOf(err)
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, tp := range parts {
			r.logs[tp].ErrorCode = code
		}
		return nil
	}
	resp := kresp.(*kmsg.ListOffsetsResponse)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			tp := partition{Topic: t.Topic, Partition: p.Partition}
			l := r.logs[tp]
			switch {
			case l == nil:
			case p.ErrorCode != 0:
				l.ErrorCode = p.ErrorCode
				if leaderMoved(p.ErrorCode) {
					again = append(again, tp)
				}
			case p.Offset >= 0:
				kind.set(l, p.Offset)
			}
		}
	}
	return again
}

func leaderMoved(code int16) bool {
	switch code {
	case kerr.NotLeaderForPartition.Code, kerr.LeaderNotAvailable.Code, kerr.ReplicaNotAvailable.Code,
		kerr.FencedLeaderEpoch.Code, kerr.UnknownLeaderEpoch.Code, kerr.OffsetNotAvailable.Code, kerr.KafkaStorageError.Code:
		return true
	}
	return false
}

// newLeaders looks up the leaders of partitions once more.
func (r *run) newLeaders(ctx context.Context, parts []partition) map[partition]int32 {
	var names []string
	for _, tp := range parts {
		if len(names) == 0 || names[len(names)-1] != tp.Topic {
			names = append(names, tp.Topic)
		}
	}
	got, err := r.topicsByName(ctx, names)
	if err != nil {
		return nil
	}
	leaders := map[partition]int32{}
	for name, t := range got {
		for i := range t.Partitions {
			leaders[partition{Topic: name, Partition: t.Partitions[i].Partition}] = t.Partitions[i].Leader
		}
	}
	todo := map[partition]int32{}
	for _, tp := range parts {
		if leader, ok := leaders[tp]; ok {
			todo[tp] = leader
		}
	}
	return todo
}

// noteLogErrors makes one entry for each topic and error code, so that no row
// goes missing without a word (field case 70). What a broker did not answer at
// all is noted for the broker.
func (r *run) noteLogErrors() {
	type key struct {
		topic string
		code  int16
	}
	bad := map[key][]int32{}
	for _, l := range r.logs {
		if l.ErrorCode == 0 && (l.End == nil || l.Start == nil) {
			l.ErrorCode = kerr.UnknownServerError.Code // the broker left it out
		}
		switch l.ErrorCode {
		case 0, kerr.RequestTimedOut.Code, kerr.NetworkException.Code:
			continue
		}
		bad[key{l.Topic, l.ErrorCode}] = append(bad[key{l.Topic, l.ErrorCode}], l.Partition)
	}
	for k, parts := range bad {
		slices.Sort(parts)
		e := snapshot.Error{Object: "topic " + k.topic, Code: codeName(k.code)}
		e.Text = fmt.Sprintf("read the log of topic %q, %s: %s", k.topic, partitionNames(parts), e.Code)
		if k.code == kerr.TopicAuthorizationFailed.Code {
			e.Hint = topicHint(k.topic)
		}
		r.addError(e)
	}
}

// partitionNames is "partition 3", "partitions 1, 2, 5", cut after some.
func partitionNames(parts []int32) string {
	if len(parts) == 1 {
		return "partition " + strconv.Itoa(int(parts[0]))
	}
	const show = 10
	var names []string
	for _, p := range parts[:min(len(parts), show)] {
		names = append(names, strconv.Itoa(int(p)))
	}
	out := "partitions " + strings.Join(names, ", ")
	if len(parts) > show {
		out += fmt.Sprintf(" and %d more", len(parts)-show)
	}
	return out
}
