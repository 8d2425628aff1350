package kclient

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	coordinatorChunk = 1000 // groups of one FindCoordinator
	groupChunk       = 250  // groups of one describe or commits request
	inFlight         = 32   // requests at once
)

func codeError(code int16) error {
	if code == 0 {
		return nil
	}
	return kerr.ErrorForCode(code)
}

// locate finds the coordinators of the groups that have none.
func (r *run) locate(ctx context.Context, groups []*group) {
	var lost []*group
	for _, g := range groups {
		if g.node == unknownNode && !g.done {
			lost = append(lost, g)
		}
	}
	var wg sync.WaitGroup
	for len(lost) > 0 {
		n := min(len(lost), coordinatorChunk)
		chunk := lost[:n]
		lost = lost[n:]
		wg.Go(func() { r.locateChunk(ctx, chunk) })
	}
	wg.Wait()
}

func (r *run) locateChunk(ctx context.Context, chunk []*group) {
	kresp, err := r.c.sendAny(ctx, func() kmsg.Request {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey = chunk[0].id // up to v3, one a request
		req.CoordinatorKeys = ids(chunk)
		return req
	})
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, g := range chunk {
			g.later(g.todo, err, true)
			if g.firstFailed.IsZero() {
				g.firstFailed = time.Now()
			}
		}
		return
	}
	resp := kresp.(*kmsg.FindCoordinatorResponse)
	if resp.Version < 4 {
		r.located(chunk[0], resp.NodeID, resp.ErrorCode)
		r.locateEach(ctx, chunk[1:])
		return
	}
	answers := make(map[string]*kmsg.FindCoordinatorResponseCoordinator, len(resp.Coordinators))
	for i := range resp.Coordinators {
		answers[resp.Coordinators[i].Key] = &resp.Coordinators[i]
	}
	for _, g := range chunk {
		if a := answers[g.id]; a != nil {
			r.located(g, a.NodeID, a.ErrorCode)
		} else {
			r.located(g, unknownNode, kerr.CoordinatorNotAvailable.Code)
		}
	}
}

// locateEach asks brokers before 3.0 for one group at a time.
func (r *run) locateEach(ctx context.Context, groups []*group) {
	limit := make(chan struct{}, inFlight)
	var wg sync.WaitGroup
	for _, g := range groups {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			r.locateChunk(ctx, []*group{g})
		})
	}
	wg.Wait()
}

func (r *run) located(g *group, node int32, code int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case code == 0:
		g.node, g.failed = node, nil
		id := node
		g.g.Coordinator = &id
	case isCoordinatorError(code):
		g.later(g.todo, kerr.ErrorForCode(code), true)
	default: // refused, or a name that no group can have
		g.done, g.todo = true, 0
		r.addErrorLocked(groupError(g.id, "find coordinator of group", code, nil))
	}
}

// batch is groups of one coordinator that are asked for one part.
type batch struct {
	node   int32
	part   part
	groups []*group
}

// batches cuts what is to do into requests, in the order of the parts.
func batches(groups []*group) []batch {
	var out []batch
	for p := partClassic; p <= partCommits; p <<= 1 {
		open := map[int32]int{} // node -> index of its batch that is not full
		for _, g := range groups {
			if g.todo&p == 0 || g.done || g.node == unknownNode {
				continue
			}
			i, ok := open[g.node]
			if !ok || len(out[i].groups) == groupChunk {
				i = len(out)
				open[g.node] = i
				out = append(out, batch{node: g.node, part: p})
			}
			out[i].groups = append(out[i].groups, g)
		}
	}
	return out
}

// ask sends every batch, all that concern one coordinator on one connection
// without waiting in between.
func (r *run) ask(ctx context.Context, groups []*group) {
	limit := make(chan struct{}, inFlight)
	var wg sync.WaitGroup
	for _, b := range batches(groups) {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			r.askBatch(ctx, b)
		})
	}
	wg.Wait()
}

func (r *run) askBatch(ctx context.Context, b batch) {
	var err error
	switch b.part {
	case partClassic:
		err = r.askClassic(ctx, b)
	case partStreams:
		err = r.askStreams(ctx, b)
	case partConsumer:
		err = r.askConsumer(ctx, b)
	case partCommits:
		err = r.askCommits(ctx, b)
	}
	if err == nil {
		return
	}
	if isTooLarge(err) && len(b.groups) > 1 {
		half := len(b.groups) / 2
		r.askBatch(ctx, batch{b.node, b.part, b.groups[:half]})
		r.askBatch(ctx, batch{b.node, b.part, b.groups[half:]})
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if isUnsupported(err) {
		r.noteUnsupported(b.part)
		for _, g := range b.groups {
			g.answered(b.part)
		}
		return
	}
	for _, g := range b.groups {
		g.later(b.part, err, true)
		if g.firstFailed.IsZero() {
			g.firstFailed = time.Now()
		}
		if isTimeout(err) && ctx.Err() == nil { // one broker took a whole request time: do not wait for it again
			g.firstFailed = time.Now().Add(-2 * unreachableIn)
		}
	}
}

// noteUnsupported remembers that a broker does not know a request. r.mu is
// held.
func (r *run) noteUnsupported(p part) {
	r.missingAPIs |= p
	if p == partStreams {
		r.setOptionLocked(OptionStreams, OptionUnsupported)
	}
}

func (r *run) unsupported(p part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.missingAPIs&p != 0
}

// each goes through the answers of a batch; groups that the broker left out
// are asked again. answer says how one group fares, by its code.
func (r *run) each(b batch, n int, id func(int) string, take func(*group, int) int16) {
	byID := make(map[string]*group, len(b.groups))
	for _, g := range b.groups {
		byID[g.id] = g
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range n {
		g := byID[id(i)]
		if g == nil {
			continue
		}
		delete(byID, g.id)
		if code := take(g, i); isCoordinatorError(code) {
			g.later(b.part, kerr.ErrorForCode(code), code != kerr.CoordinatorLoadInProgress.Code)
			continue
		}
		g.answered(b.part)
	}
	for _, g := range byID {
		g.later(b.part, errLeftOut, false)
		if g.firstFailed.IsZero() {
			g.firstFailed = time.Now()
		}
	}
}
