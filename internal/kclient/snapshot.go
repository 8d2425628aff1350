package kclient

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Shares of the time left that a step may take; the rest is for the steps
// after it.
const (
	shareGroups = 0.75
	shareTopics = 0.8
	shareLogs   = 0.9
)

// run is one Snapshot call.
type run struct {
	c *Client
	q *Query
	s *snapshot.Snapshot

	mu     sync.Mutex // guards what several requests fill: s.Errors, s.Options, groups
	groups []*group   // named ones first, then as listed
	byID   map[string]*group
	rows   []snapshot.Group // listed groups that are not described

	missingAPIs part // that some broker does not know

	topics map[string]*topic                      // topics that concern the groups
	all    map[string]*kmsg.MetadataResponseTopic // of all topics; nil when not asked
	logs   map[partition]*snapshot.Log
}

// Snapshot reads what the query asks for. The error means that nothing could
// be read at all; whatever else failed is in the snapshot's Errors, and the
// rest is there. It returns before the deadline of ctx.
func (c *Client) Snapshot(ctx context.Context, q Query) (*snapshot.Snapshot, error) {
	r := &run{c: c, q: &q, s: snapshot.New(), byID: map[string]*group{}}
	for _, id := range q.Groups {
		r.add(id)
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if q.ListAll {
		if err := r.list(ctx); err != nil && len(q.Groups) == 0 {
			return nil, err
		}
	}

	var side sync.WaitGroup // reads that nothing of the groups waits for
	side.Go(func() { r.readVersions(ctx) })
	if r.wantsAllTopics() {
		side.Go(func() { r.readAllTopics(ctx) })
	}
	groupsCtx, cancel := stage(ctx, shareGroups)
	r.readGroups(groupsCtx)
	cancel()
	now := c.now().UTC().Truncate(time.Millisecond)
	r.s.TakenAt = &now
	side.Wait()

	if q.Logs || q.InternalTopics || len(q.Topics) > 0 {
		r.readTopicsAndLogs(ctx)
	}
	r.finish()
	if ctx.Err() != nil && context.Cause(ctx) == context.Canceled {
		return nil, ctx.Err()
	}
	return r.s, nil
}

// start connects: brokers and, on the same connection, the coordinators of the
// named groups.
func (r *run) start(ctx context.Context) error {
	var side sync.WaitGroup
	if _, ok := r.c.homeHandle(); ok && r.wantsGroups() && len(r.groups) > 0 {
		side.Go(func() { r.locate(ctx, r.groups) })
	}
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, r.c.cl)
	if err != nil {
		side.Wait()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return errs.WithCode(r.c.explainBootstrap(err), errs.Failed)
	}
	r.c.learn(resp)
	side.Wait()
	r.s.ClusterID = resp.ClusterID
	if resp.ControllerID >= 0 {
		id := resp.ControllerID
		r.s.Controller = &id
	}
	for _, b := range resp.Brokers {
		r.s.Brokers = append(r.s.Brokers, snapshot.Broker{ID: b.NodeID, Host: b.Host, Port: b.Port, Rack: b.Rack})
	}
	return nil
}

func (r *run) wantsGroups() bool {
	return r.q.Describe || r.q.Commits || r.q.Logs || r.q.Configs
}

// finish puts the groups into the snapshot and sorts it.
func (r *run) finish() {
	for _, g := range r.groups {
		r.s.Groups = append(r.s.Groups, g.g)
	}
	r.s.Groups = append(r.s.Groups, r.rows...)
	for _, l := range r.logs {
		r.s.Logs = append(r.s.Logs, *l)
	}
	s := r.s
	if len(s.APIVersions) > 0 && !slices.ContainsFunc(s.APIVersions, knowsStreams) {
		r.setOption(OptionStreams, "unsupported")
	}
	s.Brokers, s.APIVersions, s.Groups = full(s.Brokers), full(s.APIVersions), full(s.Groups)
	s.Topics, s.Logs, s.LogSizes = full(s.Topics), full(s.Logs), full(s.LogSizes)
	s.Missing, s.Errors = full(s.Missing), full(s.Errors)
	s.Normalize()
}

// full makes an absent list an empty one (output.md: lists are never null).
func full[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (r *run) add(id string) *group {
	if g := r.byID[id]; g != nil {
		return g
	}
	g := &group{id: id, node: unknownNode, g: snapshot.Group{ID: id}}
	r.byID[id] = g
	r.groups = append(r.groups, g)
	return g
}

// list reads the rows of every group from every broker, and picks those that
// are to be described. A broker lists the groups that it coordinates, so no
// coordinator needs to be looked up.
func (r *run) list(ctx context.Context) error {
	ctx, cancel := stage(ctx, shareGroups)
	defer cancel()
	type answer struct {
		node int32
		resp *kmsg.ListGroupsResponse
		err  error
	}
	answers := make([]answer, len(r.s.Brokers))
	var wg sync.WaitGroup
	for i, b := range r.s.Brokers {
		wg.Go(func() {
			resp, err := r.listOne(ctx, b.ID)
			answers[i] = answer{b.ID, resp, err}
		})
	}
	wg.Wait()
	slices.SortFunc(answers, func(a, b answer) int { return int(a.node) - int(b.node) })
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
		return last
	}
	return nil
}

func (r *run) listOne(ctx context.Context, node int32) (*kmsg.ListGroupsResponse, error) {
	for try := 1; ; try++ {
		kresp, err := r.c.send(ctx, node, kmsg.NewPtrListGroupsRequest())
		if err != nil {
			return nil, err
		}
		resp := kresp.(*kmsg.ListGroupsResponse)
		if !isCoordinatorError(resp.ErrorCode) || !sleep(ctx, backoff(try)) {
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
