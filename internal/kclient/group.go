package kclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// part is one thing to ask a group's coordinator; parts add up to a set.
type part uint8

const (
	partClassic  part = 1 << iota // DescribeGroups
	partStreams                   // StreamsGroupDescribe
	partConsumer                  // ConsumerGroupDescribe
	partCommits                   // OffsetFetch
	partConfigs                   // DescribeConfigs
)

func (p part) verb() string {
	if p == partCommits {
		return "read commits of"
	}
	return "describe"
}

const (
	unknownNode = int32(-1)

	maxBackoff    = 500 * time.Millisecond
	settleEvery   = 150 * time.Millisecond
	unreachableIn = 5 * time.Second // how long a coordinator that cannot be reached is looked for
	errorsEach    = 20              // more groups than this behind one broker make one entry
)

// group is the state of reading one group.
type group struct {
	id     string
	g      snapshot.Group
	listed part  // the describe that its listed type asks for; 0 for a named group
	node   int32 // coordinator, or unknownNode

	todo        part
	failed      error // why the last try of what is to do failed
	failedPart  part
	told        error     // the last error but silence since something was answered
	firstFailed time.Time // since when its coordinator cannot be reached; zero while it can
	settleUntil time.Time
	looked      bool // its describes have been judged
	done        bool // nothing more will come: not found, refused
}

func backoff(try int) time.Duration { return min(time.Duration(try)*40*time.Millisecond, maxBackoff) }

// readGroups asks the coordinators for everything about the groups, each batch
// of groups of one coordinator at once, until all is answered or time is up.
func (r *run) readGroups(ctx context.Context) {
	if !r.wantsGroups() || len(r.groups) == 0 {
		return
	}
	// Of many groups the describes come first, so that slow commits cost only
	// themselves (field case 69); of few, both are on their way at once.
	early := r.q.Commits && r.q.OffsetsFor == nil && !r.q.ListAll
	for _, g := range r.groups {
		if g.done {
			continue
		}
		if r.q.Describe {
			g.todo = g.listed
			if g.listed == 0 {
				g.todo = partClassic | partStreams
			}
		}
		if early {
			g.todo |= partCommits
		}
	}
	r.readParts(ctx)
	if !r.q.Commits || early {
		return
	}
	for _, g := range r.groups {
		if !g.done && r.q.wantsOffsets(&g.g) {
			g.todo = partCommits
		}
	}
	r.readParts(ctx)
}

// readParts is the loop over what is to do: find coordinators, ask, judge.
func (r *run) readParts(ctx context.Context) {
	pending := r.pending()
	for try := 1; len(pending) > 0; try++ {
		r.locate(ctx, pending)
		r.ask(ctx, pending)
		r.judge(pending)
		pending = r.pending()
		if len(pending) == 0 || clock.Sleep(ctx, r.pause(pending, try)) != nil {
			break
		}
	}
	r.giveUp(ctx, pending)
}

func (r *run) pending() []*group {
	var out []*group
	for _, g := range r.groups {
		if g.todo != 0 && !g.done {
			out = append(out, g)
		}
	}
	return out
}

// pause is how long to wait before the next try: not at all when only the next
// question follows from the last answer.
func (r *run) pause(pending []*group, try int) time.Duration {
	d := settleEvery
	for _, g := range pending {
		if g.failed != nil {
			return backoff(try)
		}
		if g.settleUntil.IsZero() {
			d = 0
		}
	}
	return d
}

// judge looks at what was answered: which kind a named group is, and whether a
// rebalance is worth waiting for.
func (r *run) judge(pending []*group) {
	for _, g := range pending {
		if g.failed != nil && !g.firstFailed.IsZero() && (isPermanent(g.failed) || time.Since(g.firstFailed) > unreachableIn) {
			r.groupFailed(g)
		}
		if g.done || g.todo&(partClassic|partStreams|partConsumer) != 0 {
			continue
		}
		if !g.looked && r.q.Describe {
			if g.listed == 0 && !r.judgeKind(g) {
				continue
			}
			g.looked = true
			r.noteRefusals(g)
		}
		r.settle(g)
	}
}

// judgeKind tells the kind of a named group by the answers (field case 60):
// asked the wrong way, a group looks as if it did not exist. It is false while
// one more question is to be asked.
func (r *run) judgeKind(g *group) bool {
	c, s, k := g.g.Classic, g.g.Streams, g.g.Consumer
	switch {
	case c != nil && isThere(c):
		g.g.Streams = nil
	case s != nil && s.ErrorCode == 0, s != nil && isRefusal(s.ErrorCode) && (c == nil || !isRefusal(c.ErrorCode)):
		g.g.Classic = nil
	case c != nil && isRefusal(c.ErrorCode):
		g.g.Streams = nil
	case k == nil && c != nil && g.listed == 0 && !r.unsupported(partConsumer):
		g.todo |= partConsumer
		return false
	case k != nil && (k.ErrorCode == 0 || isRefusal(k.ErrorCode)):
		g.g.Classic, g.g.Streams = nil, nil
	default: // not found: the classic answer says so
		if c != nil {
			g.g.Streams, g.g.Consumer = nil, nil
		}
		g.todo = 0
		g.done = true
	}
	return true
}

// isThere reports that DescribeGroups found a group. Brokers before 4.0 answer
// for one that does not exist with no error and state Dead (field case 57).
func isThere(c *snapshot.ClassicGroup) bool {
	return c.ErrorCode == 0 && (c.State != model.StateDead || len(c.Members) > 0)
}

func (r *run) noteRefusals(g *group) {
	note := func(code int16, message *string) {
		if code != 0 && code != kerr.GroupIDNotFound.Code {
			r.addError(groupError(g.id, "describe group", code, message))
		}
	}
	switch {
	case g.g.Streams != nil:
		note(g.g.Streams.ErrorCode, g.g.Streams.ErrorMessage)
	case g.g.Consumer != nil:
		note(g.g.Consumer.ErrorCode, g.g.Consumer.ErrorMessage)
	case g.g.Classic != nil:
		note(g.g.Classic.ErrorCode, g.g.Classic.ErrorMessage)
	}
}

// settle asks once more while a rebalance runs, and for the commits with it.
func (r *run) settle(g *group) {
	c := g.g.Classic
	if r.q.SettleFor <= 0 || c == nil || !g.looked {
		return
	}
	if c.State != model.StatePreparingRebalance && c.State != model.StateCompletingRebalance {
		return
	}
	now := time.Now()
	if g.settleUntil.IsZero() {
		g.settleUntil = now.Add(r.q.SettleFor)
	}
	if now.Add(settleEvery).After(g.settleUntil) {
		return
	}
	g.todo |= partClassic
	if g.g.CommitsRead {
		g.todo |= partCommits
	}
}

// later notes that parts of a group are to be asked again; elsewhere says that
// its coordinator has to be found anew.
func (g *group) later(p part, err error, elsewhere bool) {
	g.failed, g.failedPart = err, p
	if !isTimeout(err) {
		g.told = err
	}
	if elsewhere {
		g.node = unknownNode
	}
}

// answered notes that a part is done.
func (g *group) answered(p part) {
	g.todo &^= p
	if g.todo == 0 || g.failedPart == p {
		g.failed = nil
	}
	g.firstFailed = time.Time{}
	if g.todo == 0 {
		g.told = nil
	}
}

// groupFailed ends the reading of one group with the reason of its last try.
func (r *run) groupFailed(g *group) {
	r.noteFailed([]*group{g})
	g.todo, g.done = 0, true
}

// giveUp notes what is still to do when time is up.
func (r *run) giveUp(ctx context.Context, pending []*group) {
	byNode := map[int32][]*group{}
	for _, g := range pending {
		if !g.settleUntil.IsZero() && g.failed == nil {
			continue // a rebalance that goes on is an answer
		}
		if g.failed == nil {
			g.failed, g.failedPart = context.Cause(ctx), g.todo
		}
		byNode[g.lastNode()] = append(byNode[g.lastNode()], g)
	}
	for node, gs := range byNode {
		if node == unknownNode || len(gs) <= errorsEach {
			for _, g := range gs {
				r.noteFailed([]*group{g})
			}
			continue
		}
		r.noteFailed(gs)
	}
	for _, g := range pending {
		g.todo = 0
	}
}

func (g *group) lastNode() int32 {
	if g.g.Coordinator != nil {
		return *g.g.Coordinator
	}
	return g.node
}

// noteFailed makes one entry for groups that failed at the same broker.
func (r *run) noteFailed(gs []*group) {
	g := gs[0]
	err, node := g.failed, g.lastNode()
	if g.told != nil && errors.Is(err, context.DeadlineExceeded) {
		err = g.told // time ran out while it was asked once more
	}
	where := ""
	_, isKafka := err.(*kerr.Error) //nolint:errorlint // only a plain one needs no explanation
	switch {
	case node != unknownNode:
		where = fmt.Sprintf("coordinator %d: ", node)
		if !isKafka {
			err = r.c.explainBroker(err, node)
		}
	case !isKafka: // it was the search for the coordinator that failed
		err = r.homeError(err)
	}
	e := readError("group "+g.id, fmt.Sprintf("%s group %q", g.failedPart.verb(), g.id), err)
	if len(gs) > 1 {
		e = readError(objectBroker(node), fmt.Sprintf("%s %d groups", g.failedPart.verb(), len(gs)), err)
	}
	if where != "" && e.Code == "" {
		e.Text = strings.Replace(e.Text, ": ", ": "+where, 1)
	}
	if e.Hint == "" {
		e.Hint = groupHint(g.id, codeOf(err))
	}
	r.addError(e)
}

func objectBroker(id int32) string { return fmt.Sprintf("broker %d", id) }
