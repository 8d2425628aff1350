package kclient

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// list reads the rows of every group from every broker, and picks those that
// are to be described. A broker lists the groups that it coordinates, so no
// coordinator needs to be looked up.
func (r *run) list(ctx context.Context) error {
	ctx, cancel := stage(ctx, shareGroups)
	defer cancel()
	answers := r.listAll(ctx)
	var last error
	failed := 0
	for _, a := range answers {
		if a.err != nil {
			failed++
			last = r.c.explainBroker(a.err, a.node)
			r.addError(readError(objectBroker(a.node), "list groups", last))
			continue
		}
		for i := range a.resp.Groups {
			r.addRow(a.node, &a.resp.Groups[i])
		}
	}
	if failed == len(answers) {
		return whileAsking("list groups", last)
	}
	return nil
}

// listAnswer is one broker's list.
type listAnswer struct {
	node int32
	resp *kmsg.ListGroupsResponse
	err  error
}

// listAll asks every broker, and returns their lists by broker id.
func (r *run) listAll(ctx context.Context) []listAnswer {
	answers := make([]listAnswer, len(r.s.Brokers))
	var wg sync.WaitGroup
	for i, b := range r.s.Brokers {
		wg.Go(func() {
			resp, err := r.listOne(ctx, b.ID)
			answers[i] = listAnswer{b.ID, resp, err}
		})
	}
	wg.Wait()
	slices.SortFunc(answers, func(a, b listAnswer) int { return int(a.node) - int(b.node) })
	return answers
}

// identify looks up, in the lists, named groups that every describe says are
// of another kind, so that a share group does not look as if it did not exist.
// A list that is refused costs nothing but that.
func (r *run) identify(ctx context.Context) {
	if r.q.ListAll || !slices.ContainsFunc(r.groups, (*group).isOtherKind) {
		return
	}
	for _, a := range r.listAll(ctx) {
		if a.err != nil {
			continue
		}
		for i := range a.resp.Groups {
			row := &a.resp.Groups[i]
			if g := r.byID[row.Group]; g != nil && g.isOtherKind() {
				g.g.Listed = &snapshot.Listed{ProtocolType: row.ProtocolType, Type: row.GroupType, State: row.GroupState}
			}
		}
	}
}

// isOtherKind reports a group that exists, and is nothing that was asked for.
func (g *group) isOtherKind() bool {
	c := g.g.Classic
	return c != nil && c.ErrorCode == kerr.GroupIDNotFound.Code && groupmeta.OfAnotherKind(c.ErrorMessage)
}

func (r *run) listOne(ctx context.Context, node int32) (*kmsg.ListGroupsResponse, error) {
	for try := 1; ; try++ {
		kresp, err := r.c.send(ctx, node, kmsg.NewPtrListGroupsRequest())
		if err != nil {
			return nil, err
		}
		resp := kresp.(*kmsg.ListGroupsResponse)
		if !isCoordinatorError(resp.ErrorCode) || clock.Sleep(ctx, backoff(try)) != nil {
			return resp, codeError(resp.ErrorCode)
		}
	}
}

// addRow takes one listed group. During a coordinator move a group can be on
// two lists; the first broker by id wins.
func (r *run) addRow(node int32, row *kmsg.ListGroupsResponseGroup) {
	if r.q.Match != nil && !r.q.Match(row.Group) && r.byID[row.Group] == nil {
		return
	}
	listed := &snapshot.Listed{ProtocolType: row.ProtocolType, Type: row.GroupType, State: row.GroupState}
	if g := r.byID[row.Group]; g != nil {
		if g.g.Listed == nil {
			g.g.Listed = listed
		}
		return
	}
	part := r.partFor(listed)
	if part == 0 || !r.wantsGroups() {
		id := node
		r.rows = append(r.rows, snapshot.Group{ID: row.Group, Listed: listed, Coordinator: &id})
		r.byID[row.Group] = &group{g: snapshot.Group{Listed: listed}} // seen
		return
	}
	g := r.add(row.Group)
	id := node
	g.g.Listed, g.g.Coordinator, g.listed, g.node = listed, &id, part, node
}

// partFor is the describe that fits a listed group, 0 for none (field case
// 60).
func (r *run) partFor(l *snapshot.Listed) part {
	switch strings.ToLower(l.Type) {
	case "streams":
		return partStreams
	case "consumer":
		if r.wantsKind("consumer") {
			return partConsumer
		}
		return 0
	case "share":
		return 0
	}
	switch l.ProtocolType {
	case "consumer", "stream", "":
		return partClassic
	}
	if r.wantsKind("connect", "other", "unknown") {
		return partClassic
	}
	return 0
}

func (r *run) wantsKind(names ...string) bool {
	for _, k := range r.q.Kinds {
		if slices.Contains(names, string(k)) {
			return true
		}
	}
	return false
}
