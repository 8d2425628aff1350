package kclient

import (
	"context"
	"errors"
	"slices"
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

	control map[string]*controlOf // by topic; of the groups read
	sizes   sizes
}

// Snapshot reads what the query asks for. The error means that nothing could
// be read at all; whatever else failed is in the snapshot's Errors, and the
// rest is there. It returns before the deadline of ctx, or within 30 s.
func (c *Client) Snapshot(ctx context.Context, q Query) (*snapshot.Snapshot, error) {
	if _, ok := ctx.Deadline(); !ok { // what is asked again is asked again until a deadline
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	r := &run{c: c, q: &q, s: snapshot.New(), byID: map[string]*group{}, topics: map[string]*topic{}}
	r.sizes.asked, r.sizes.codes = map[string]bool{}, map[int32]int16{}
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

	var topics, side sync.WaitGroup // reads beside those of the groups
	sideCtx, cancel := stage(ctx, shareLogs)
	defer cancel()
	side.Go(func() { r.readVersions(sideCtx) })
	if r.wantsAllTopics() {
		topics.Go(func() {
			r.readAllTopics(sideCtx)
			if early := r.earlyChangelogs(); q.LogSizes && q.OffsetsFor == nil {
				side.Go(func() { r.readLogSizes(sideCtx, early) })
			}
		})
	}
	groupsCtx, done := stage(ctx, shareGroups)
	r.readGroups(groupsCtx)
	done()
	r.identify(ctx)
	now := c.now().UTC().Truncate(time.Millisecond)
	r.s.TakenAt = &now
	topics.Wait()

	if q.Configs {
		side.Go(func() { r.readConfigs(sideCtx) })
	}
	if q.Logs || q.InternalTopics || q.Control || len(q.Topics) > 0 {
		r.readTopicsAndLogs(ctx)
	}
	side.Wait()
	r.finish()
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
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
	// Each attempt goes to the next bootstrap server, or broker once some are known.
	kresp, err := hedged(ctx, r.c.firstAttempts(), hedgeAfter(ctx), func(ctx context.Context, _ int) (kmsg.Response, error) {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{}
		return r.c.cl.Request(ctx, req)
	})
	if err != nil {
		side.Wait()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return errs.WithCode(whileAsking("read metadata", r.c.explainBootstrap(err)), errs.Failed)
	}
	resp := kresp.(*kmsg.MetadataResponse)
	if len(resp.Brokers) == 0 {
		side.Wait()
		return errs.WithHint(errors.New("read metadata: the cluster names no broker"), "a broker that has just started does this for a moment: try again")
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
	r.s.Groups = make([]snapshot.Group, 0, len(r.groups)+len(r.rows))
	for _, g := range r.groups {
		r.s.Groups = append(r.s.Groups, g.g)
	}
	r.s.Groups = append(r.s.Groups, r.rows...)
	r.recordLogSizes()
	r.s.Logs = make([]snapshot.Log, 0, len(r.logs))
	for _, l := range r.logs {
		r.s.Logs = append(r.s.Logs, *l)
	}
	s := r.s
	if len(s.APIVersions) > 0 && !slices.ContainsFunc(s.APIVersions, knowsStreams) {
		r.setOption(OptionStreams, OptionUnsupported)
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
