package kclient

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// Authorized is what one may do with one object.
type Authorized struct {
	Kind       string   // "cluster", "group" or "topic"
	Name       string   // "" for the cluster
	Known      bool     // the broker said it; false when the object itself is refused or not there
	Operations []string // Kafka's names, sorted, for example DESCRIBE
	Error      string   // Kafka's name of the error, "" when there was none
}

// May reports whether an operation is allowed.
func (a *Authorized) May(operation string) bool { return slices.Contains(a.Operations, operation) }

// Authorization is what one may do, by the brokers' own account.
type Authorization struct {
	ClusterID *string // nil when the brokers do not tell it
	Cluster   Authorized
	Groups    []Authorized // by name
	Topics    []Authorized // by name
	Errors    []snapshot.Error
}

// Authorized asks what the principal of this connection may do with the
// cluster, the groups and the topics, without describing any ACL. Of groups it
// also takes the topics that they are known to use. The error means that
// nothing could be read.
func (c *Client) Authorized(ctx context.Context, groups, topics []string) (*Authorization, error) {
	q := Query{Groups: groups, Describe: true, AuthorizedOps: true, Commits: true}
	r := &run{c: c, q: &q, s: snapshot.New(), byID: map[string]*group{}}
	for _, id := range groups {
		r.add(id)
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	groupsCtx, cancel := stage(ctx, shareGroups)
	r.readGroups(groupsCtx)
	cancel()
	r.collectTopics()
	for _, name := range topics {
		r.topic(name)
	}
	a := &Authorization{ClusterID: r.s.ClusterID, Cluster: r.clusterOperations(ctx)}
	for _, g := range r.groups {
		a.Groups = append(a.Groups, g.authorized(r.s.Errors))
	}
	a.Topics = r.topicOperations(ctx)
	a.Errors = full(r.s.Errors)
	slices.SortFunc(a.Groups, byName)
	slices.SortFunc(a.Topics, byName)
	return a, nil
}

func byName(a, b Authorized) int { return strings.Compare(a.Name, b.Name) }

func (r *run) clusterOperations(ctx context.Context) Authorized {
	out := Authorized{Kind: "cluster", Operations: []string{}}
	kresp, err := r.c.sendAny(ctx, func() kmsg.Request {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations = true
		return req
	})
	if isUnsupported(err) {
		return r.oldClusterOperations(ctx, out)
	}
	if err != nil {
		r.addError(readError("cluster", "describe the cluster", r.homeError(err)))
		return out
	}
	resp := kresp.(*kmsg.DescribeClusterResponse)
	out.Error = codeName(resp.ErrorCode)
	out.take(resp.ClusterAuthorizedOperations)
	return out
}

// oldClusterOperations asks brokers before 2.8, which tell it with metadata.
func (r *run) oldClusterOperations(ctx context.Context, out Authorized) Authorized {
	kresp, err := r.c.sendAny(ctx, func() kmsg.Request {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{}
		req.IncludeClusterAuthorizedOperations = true
		return req
	})
	if err != nil {
		r.addError(readError("cluster", "describe the cluster", r.homeError(err)))
		return out
	}
	out.take(kresp.(*kmsg.MetadataResponse).AuthorizedOperations)
	return out
}

func (g *group) authorized(errors []snapshot.Error) Authorized {
	out := Authorized{Kind: "group", Name: g.id, Operations: []string{}}
	switch {
	case g.g.Classic != nil:
		out.Error = codeName(g.g.Classic.ErrorCode)
		out.takeOptional(g.g.Classic.AuthorizedOperations)
	case g.g.Streams != nil:
		out.Error = codeName(g.g.Streams.ErrorCode)
		out.takeOptional(g.g.Streams.AuthorizedOperations)
	default:
		for _, e := range errors {
			if e.Object == "group "+g.id {
				out.Error = e.Code
			}
		}
	}
	return out
}

func (r *run) topicOperations(ctx context.Context) []Authorized {
	out := []Authorized{}
	if len(r.topics) == 0 {
		return out
	}
	kresp, err := r.c.sendAny(ctx, func() kmsg.Request {
		req := metadataRequest(slices.Collect(maps.Keys(r.topics)))
		req.IncludeTopicAuthorizedOperations = true
		return req
	})
	if err != nil {
		r.addError(readError("cluster", fmt.Sprintf("read metadata of %d topics", len(r.topics)), r.homeError(err)))
		return out
	}
	resp := kresp.(*kmsg.MetadataResponse)
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.Topic == nil {
			continue
		}
		a := Authorized{Kind: "topic", Name: *t.Topic, Operations: []string{}, Error: codeName(t.ErrorCode)}
		a.take(t.AuthorizedOperations)
		out = append(out, a)
	}
	return out
}

func (a *Authorized) takeOptional(bits *int32) {
	if bits != nil {
		a.take(*bits)
	}
}

// take reads a bit set: bit n is the operation of Kafka's code n.
func (a *Authorized) take(bits int32) {
	if bits == math.MinInt32 {
		return
	}
	a.Known = true
	for n := range 31 {
		if bits&(1<<n) != 0 {
			if name := kmsg.ACLOperation(n).String(); name != "UNKNOWN" {
				a.Operations = append(a.Operations, name)
			}
		}
	}
	slices.Sort(a.Operations)
}
