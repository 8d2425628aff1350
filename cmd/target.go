package cmd

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// oneGroup is the group a reading command is about: its argument, else -g or
// the context's, else the only stream group that is visible.
func (r *reader) oneGroup(ctx context.Context, arg string) (string, error) {
	if g := cmp.Or(arg, r.d.defaultGroup()); g != "" {
		return g, nil
	}
	list, err := r.list(ctx, nil)
	if err != nil {
		return "", err
	}
	if r.offline() && len(list.streams) == 0 && len(list.all) == 1 {
		return list.all[0].ID, nil // a file of one group is about that group, whatever its kind
	}
	switch len(list.streams) {
	case 1:
		id := list.streams[0].ID
		if !r.offline() {
			r.d.note("group %s (the only stream group that is visible)", id)
		}
		return id, nil
	case 0:
		return "", r.noneVisible(list)
	}
	return "", errs.WithHint(fmt.Errorf("no group is named, and %d are visible: %s", len(list.streams), idsOf(list.streams)), "name one: -g GROUP")
}

// readNow reads the group as it is at the moment, a rebalance too, for those
// that look at it again and again.
func (r *reader) readNow(ctx context.Context, q kclient.Query, id string) (*model.Group, error) {
	q.SettleFor = 0
	q.LogSizes = false
	s, err := r.cluster.Snapshot(ctx, q)
	if err != nil {
		return nil, err
	}
	groups, err := r.build(s, []string{id})
	if err != nil {
		return nil, err
	}
	return groups[0], nil
}

// argAndFlag refuses a group that is named twice, and differently.
func (d *deps) argAndFlag(args []string, given bool) error {
	if len(args) > 0 && given && (len(args) > 1 || args[0] != d.defaultGroup()) {
		return errs.Usagef("the group is named twice: %q and -g %q", strings.Join(args, " "), d.defaultGroup())
	}
	return nil
}

// groupArg gives the group that the only argument names; "" without one.
func (d *deps) groupArg(c *cobra.Command, args []string) (string, error) {
	if err := d.argAndFlag(args, c.Flags().Changed(config.KeyGroup)); err != nil || len(args) == 0 {
		return "", err
	}
	return args[0], nil
}

// listing is what a list of groups shows.
type listing struct {
	s       *snapshot.Snapshot
	all     []*model.Group // by id
	streams []*model.Group // those that run stream tasks
}

// err is what the list could not tell: a broker that did not answer, for
// example. What concerns single groups is left to those that ask about them.
func (l *listing) err() error {
	var out []model.ReadError
	for _, e := range readErrors(l.s) {
		if strings.HasPrefix(e.Object, "broker ") {
			out = append(out, e)
		}
	}
	return partial(out)
}

// list reads the rows of all groups that are visible, those of match only when
// it is not nil.
func (r *reader) list(ctx context.Context, match func(string) bool, kinds ...model.Kind) (listing, error) {
	q := kclient.ListQuery()
	q.Match, q.Kinds = match, kinds
	s, err := r.listSnapshot(ctx, q)
	if err != nil {
		return listing{}, err
	}
	return r.listingOf(s), nil
}

// maxUncertain is how many groups of unknown kind are worth a second look.
const maxUncertain = 500

// listSnapshot reads a list. Where some groups do not tell what they are, being
// Empty for example, it also reads the names of the topics, since an internal
// topic shows a Streams app. Where that fails they stay unknown, and the errors
// say so.
func (r *reader) listSnapshot(ctx context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	s, err := r.cluster.Snapshot(ctx, q)
	if err != nil || r.offline() {
		return s, err
	}
	uncertain := map[string]bool{}
	for _, g := range groupmeta.BuildAll(s, groupmeta.BuildOptions{SkipOffsets: true}) {
		if g.Kind == model.Unknown {
			uncertain[g.ID] = true
		}
	}
	if len(uncertain) == 0 || len(uncertain) > maxUncertain {
		return s, nil
	}
	topics, err := r.cluster.Snapshot(ctx, kclient.Query{
		ListAll: true, Match: func(id string) bool { return uncertain[id] }, Describe: true, InternalTopics: true,
		Commits: q.Commits, Logs: q.Logs,
	})
	if err != nil {
		s.Errors = append(s.Errors, snapshot.Error{Object: "cluster", Text: "read the names of the topics: " + err.Error()})
	} else {
		before := s.Errors
		for _, e := range topics.Errors {
			if !slices.ContainsFunc(before, func(b snapshot.Error) bool { return b.Object == e.Object }) {
				s.Errors = append(s.Errors, e)
			}
		}
		s.Logs = append(s.Logs, topics.Logs...)
		for i := range topics.Groups {
			if g := s.Group(topics.Groups[i].ID); g != nil && q.Commits {
				g.Commits, g.CommitsRead = topics.Groups[i].Commits, topics.Groups[i].CommitsRead
			}
		}
		known := map[string]bool{}
		for _, t := range s.Topics {
			known[t.Name] = true
		}
		for _, t := range topics.Topics {
			if !known[t.Name] {
				s.Topics = append(s.Topics, t)
			}
		}
		s.Normalize()
	}
	return s, nil
}

func (r *reader) listingOf(s *snapshot.Snapshot) listing {
	o := r.options
	o.SkipOffsets = true
	l := listing{s: s, all: groupmeta.BuildAll(s, o)}
	for _, g := range l.all {
		if g.Kind.IsStream() {
			l.streams = append(l.streams, g)
		}
	}
	return l
}

// noneVisible is the error for "no stream group": never "there are none".
func (r *reader) noneVisible(l listing) error {
	if r.offline() {
		return fmt.Errorf("snapshot file %q holds no stream group", r.d.flags.from)
	}
	if n := len(l.all); n > 0 {
		return errs.WithHint(fmt.Errorf("none of the %d groups that are visible is a stream group", n), "streamctl get groups --all-kinds lists them")
	}
	return errs.WithHint(fmt.Errorf("no group is visible%s", r.toWhom()), "listing needs DESCRIBE on the groups or on the cluster; a group can still be named")
}

// toWhom says who we are on the connection, as far as the configuration tells.
func (r *reader) toWhom() string {
	if who, ok := r.cluster.(interface{ Describe() string }); ok && who.Describe() != "" {
		return " to " + who.Describe()
	}
	return ""
}

func idsOf(groups []*model.Group) string {
	const shown = 10
	var ids []string
	for i, g := range groups {
		if i == shown {
			ids = append(ids, fmt.Sprintf("and %d more", len(groups)-shown))
			break
		}
		ids = append(ids, g.ID)
	}
	return strings.Join(ids, ", ")
}

// groupChoice is how describe names several groups.
type groupChoice struct {
	regex string
	all   bool
}

// check refuses combinations that mean nothing.
func (c *groupChoice) check(args []string) (*regexp.Regexp, error) {
	n := 0
	for _, b := range []bool{len(args) > 0, c.regex != "", c.all} {
		if b {
			n++
		}
	}
	if n > 1 {
		return nil, errs.Usagef("names, --regex and --all exclude one another")
	}
	if c.regex == "" {
		return nil, nil
	}
	re, err := regexp.Compile(c.regex)
	if err != nil {
		return nil, usageErr("regex", err)
	}
	return re, nil
}
