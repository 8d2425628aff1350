package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// reader reads groups for one command: what the flags say about reading, and
// the cluster, opened when first needed.
type reader struct {
	d       *deps
	cluster Cluster
	options groupmeta.BuildOptions
	tree    bool // the full text of a topology is wanted

	unread []model.ReadError // why groups of the last build are left out
}

// reader opens the cluster of the flags. The caller closes it.
func (d *deps) reader(ctx context.Context) (*reader, error) {
	o, err := d.buildOptions(ctx)
	if err != nil {
		return nil, err
	}
	c, err := d.cluster(ctx)
	if err != nil {
		return nil, err
	}
	return &reader{d: d, cluster: c, options: o}, nil
}

func (r *reader) close() { r.cluster.Close() }

// offline reports whether a file is read.
func (r *reader) offline() bool { return r.d.flags.from != "" }

// describe reads everything about the named groups. Groups that do not exist
// are in the error, one each; the others come all the same.
func (r *reader) describe(ctx context.Context, ids []string) ([]*model.Group, error) {
	s, err := r.look(ctx, r.describeQuery(ids))
	if err != nil {
		return nil, err
	}
	return r.build(s, ids)
}

// describeQuery asks for everything a description shows.
func (r *reader) describeQuery(ids []string) kclient.Query {
	q := kclient.DescribeQuery(ids...)
	q.Topology, q.SettleFor = r.tree, settleFor
	if r.options.Topology != nil {
		for _, s := range r.options.Topology.Subtopologies {
			q.Topics = append(q.Topics, s.SourceTopics...) // internal ones are read by the group's name
		}
		slices.Sort(q.Topics)
		q.Topics = slices.Compact(q.Topics)
	}
	return q
}

// look reads once, or twice with --sample.
func (r *reader) look(ctx context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	s, err := r.cluster.Snapshot(ctx, q)
	if err != nil || r.d.flags.sample == 0 || r.offline() {
		r.tell(s)
		return s, err
	}
	r.options.Earlier = s
	r.d.verbose("first look done, the second in %s", r.d.flags.sample)
	if err := clock.Sleep(ctx, r.d.flags.sample); err != nil {
		return nil, err
	}
	return r.cluster.Snapshot(ctx, q)
}

// tell says with -v what could be read besides the groups, and what was refused.
func (r *reader) tell(s *snapshot.Snapshot) {
	if s == nil {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(s.Options)) {
		r.d.verbose("%s: %s", k, s.Options[k])
	}
}

// build makes the models of the named groups. One whose describe was refused is
// left out, as one that does not exist is: nothing can be said about it.
func (r *reader) build(s *snapshot.Snapshot, ids []string) ([]*model.Group, error) {
	var groups []*model.Group
	var failed []error
	r.unread = nil
	b := groupmeta.NewBuilder(s)
	for _, id := range ids {
		g, err := b.Build(id, r.options)
		switch {
		case err != nil:
			err = r.groupError(s, id, err)
			failed, r.unread = append(failed, err), append(r.unread, unreadGroup(s, id, err))
		case g.Unread && len(g.Errors) > 0:
			r.unread = append(r.unread, g.Errors...)
			failed = append(failed, partial(g.Errors))
		case g.Unread && (g.Kind.IsStream() || g.State == ""):
			err = fmt.Errorf("group %q: no describe of it was answered", id)
			failed, r.unread = append(failed, err), append(r.unread, unreadGroup(s, id, err))
		default:
			tellRelease(s, g)
			groups = append(groups, g)
		}
	}
	return groups, joinErrors(failed...)
}

// groupError words the failure to read one group: not found, or what the
// snapshot says about it.
func (r *reader) groupError(s *snapshot.Snapshot, id string, err error) error {
	if r.offline() {
		var names []string
		for _, g := range s.Groups {
			names = append(names, g.ID)
		}
		if f, ok := r.cluster.(*fileCluster); ok {
			names = f.names()
		}
		missing := fmt.Errorf("group %q is not in snapshot file %q", id, r.d.flags.from)
		if len(names) == 0 {
			return errs.WithHint(missing, "it holds no group")
		}
		return errs.WithHint(missing, "it holds "+strings.Join(names, ", "))
	}
	for _, e := range s.Errors {
		if e.Object == "group "+id {
			return readError(model.ReadError{Object: e.Object, Code: e.Code, Text: e.Text, Hint: e.Hint})
		}
	}
	if errors.Is(err, groupmeta.ErrNotFound) {
		return errs.WithHint(fmt.Errorf("group %q not found", id), "streamctl get groups --all-kinds lists what is visible")
	}
	return fmt.Errorf("group %q: %w", id, err)
}

// unreadGroup is why there is nothing of a group, for a document: what the
// snapshot says about it, else err.
func unreadGroup(s *snapshot.Snapshot, id string, err error) model.ReadError {
	for _, e := range readErrors(s) {
		if e.Object == "group "+id {
			return e
		}
	}
	return model.ReadError{Object: "group " + id, Text: oneLine(err.Error()), Hint: strings.Join(errs.Hints(err), "; ")}
}

// readError is a read error as an error for stderr.
func readError(e model.ReadError) error {
	text := e.Text
	if e.Code != "" && !strings.Contains(text, e.Code) {
		text = e.Code + ": " + text
	}
	kind, name, ok := strings.Cut(e.Object, " ")
	if kind == "broker" {
		name = e.Object // a number alone is in many a text
	}
	if !ok || !strings.Contains(e.Text, name) {
		text = quoteObject(e.Object) + ": " + text
	}
	return errs.WithHint(errors.New(text), e.Hint)
}

// quoteObject puts the name of an object such as "group shop" in quotes.
func quoteObject(object string) string {
	kind, name, ok := strings.Cut(object, " ")
	if !ok || strings.HasPrefix(name, `"`) || kind == "broker" {
		return object
	}
	return fmt.Sprintf("%s %q", kind, name)
}

// partial is what could not be read of some groups, each thing once; nil when
// all was read.
func partial(lists ...[]model.ReadError) error {
	var out []error
	seen := map[model.ReadError]bool{}
	for _, list := range lists {
		for _, e := range list {
			if !seen[e] {
				seen[e] = true
				out = append(out, readError(e))
			}
		}
	}
	return errors.Join(out...)
}

// partialOf is what could not be read of these groups.
func partialOf(groups []*model.Group) error {
	lists := make([][]model.ReadError, len(groups))
	for i, g := range groups {
		lists[i] = g.Errors
	}
	return partial(lists...)
}

// names lists the groups of the file.
func (f *fileCluster) names() []string {
	out := make([]string, 0, len(f.s.Groups))
	for _, g := range f.s.Groups {
		out = append(out, g.ID)
	}
	return out
}
