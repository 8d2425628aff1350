package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// controlWriter is a cluster whose control topics can be written.
type controlWriter interface {
	WriteControl(ctx context.Context, group string, records ...control.Record) (offsets []int64, err error)
}

// writer gives what writes control topics.
func (r *reader) writer() (controlWriter, error) {
	if w, ok := r.cluster.(controlWriter); ok {
		return w, nil
	}
	return nil, errors.New("this cluster cannot be written to")
}

// steered is a group that is read to be steered: with its control topic, read
// after the group itself.
type steered struct {
	g      *model.Group
	state  control.State
	unread error // why the control topic could not be read; nil when it was, or there is none
}

// steered reads a group and its control topic, a rebalance too where now is
// set.
func (r *reader) steered(ctx context.Context, id string, now bool) (*steered, error) {
	q := r.describeQuery([]string{id})
	if now {
		q.SettleFor, q.LogSizes, q.Configs, q.Commits = 0, false, false, false
	}
	return r.steeredBy(ctx, id, q)
}

// steeredBy is steered by a query of its own.
func (r *reader) steeredBy(ctx context.Context, id string, q kclient.Query) (*steered, error) {
	s, err := r.cluster.Snapshot(ctx, q)
	if err != nil {
		return nil, err
	}
	groups, err := r.build(s, []string{id})
	if err != nil {
		return nil, err
	}
	out := &steered{g: groups[0], state: controlState(s.Group(id))}
	g := s.Group(id)
	toEnd := g != nil && g.ControlEnd != nil // then what was passed over is told (warnUnread), and harms nobody
	topic := "topic " + control.TopicName(id)
	for _, e := range groups[0].Errors {
		if e.Object == topic && !(toEnd && e.Code == "") {
			out.unread = readError(e)
		}
	}
	for _, e := range s.Errors {
		if e.Object == topic && out.unread == nil && !(toEnd && e.Code == "") {
			out.unread = readError(model.ReadError{Object: e.Object, Code: e.Code, Text: e.Text, Hint: e.Hint})
		}
	}
	return out, nil
}

// settled reads a group to be steered once it tells who is there: in a rebalance
// a broker does not say which instance a member is of. It is waited for until
// ctx ends.
func (r *reader) settled(ctx context.Context, id string) (*steered, error) {
	told := false
	for {
		s, err := r.steered(ctx, id, false)
		if err != nil || s.identified() {
			return s, err
		}
		if !told {
			told = true
			r.d.note("group %s is %s, and does not tell its instances now; waiting", id, s.g.State)
		}
		if err := clock.Sleep(ctx, askEvery); err != nil {
			return nil, fmt.Errorf("group %q is %s, and does not tell its instances: %w", id, s.g.State, err)
		}
	}
}

// identified reports whether every member says of which instance it is, or
// never will.
func (s *steered) identified() bool {
	if s.g.State != model.StatePreparingRebalance && s.g.State != model.StateCompletingRebalance {
		return true
	}
	return !slices.ContainsFunc(s.g.Instances, func(in model.Instance) bool { return !control.IsUUID(in.ID) })
}

// controlState is what the control records of a group add up to.
func controlState(g *snapshot.Group) control.State {
	var s control.State
	if g == nil {
		return s
	}
	for _, r := range g.Control {
		s.Apply(control.Record{Key: r.Key, Value: r.Value, Offset: r.Offset, TooLarge: r.TooLarge})
	}
	if g.ControlEnd != nil {
		s.Offset = max(s.Offset, *g.ControlEnd)
	}
	return s
}

// leaves reports whether an instance is under a mark: by the topic, or by its
// own word where it has not said since that the mark is withdrawn.
func (s *steered) leaves(in *model.Instance) bool {
	if _, marked := s.state.Leaving[in.ID]; marked {
		return true
	}
	said, spoke := s.state.Status[in.ID]
	return in.Leaving != nil && !(spoke && !said.Leaving)
}

// warnUnread says what could not be read of a group that is changed all the
// same: what is done does not rest on it.
func (d *deps) warnUnread(g *model.Group) {
	for _, e := range g.Errors {
		d.warn(oneLine(readError(e).Error()))
	}
}

// honoursMarks says why no member of a group would follow a mark; "" when its
// instances do. Worker groups follow them by their protocol, whatever their
// status says; other kinds do where a plug-in of ours assigns.
func honoursMarks(g *model.Group) string {
	switch g.Kind {
	case model.Worker:
		return ""
	case model.Classic:
		if g.PlugIn != nil {
			return ""
		}
		return "it is a classic group, and no instance of it is known to have the plug-in (" + plugInHowTo + ")"
	case model.Streams:
		return "it is a streams group, in which the broker assigns, and knows no marks"
	}
	return fmt.Sprintf("it is a %s group, which runs no stream tasks", g.Kind)
}

// refuseMarks is the error for a group in which nobody honours marks, with what
// works there instead (field case 22). A classic group may have the plug-in
// without anything telling so: force marks there all the same. done says that
// nothing was done.
func refuseMarks(g *model.Group, names []string, force bool, done string, commands func(string) bool) error {
	why := honoursMarks(g)
	if why == "" || force && g.Kind == model.Classic {
		return nil
	}
	err := fmt.Errorf("no member of group %q honours marks: %s; %s", g.ID, why, done)
	if !g.Kind.IsStream() {
		return err
	}
	name := "INSTANCE"
	if len(names) == 1 {
		name = names[0]
	}
	err = errs.WithHint(err, fmt.Sprintf("check stop %s -g %s says whether it may stop now, plan %s --remove %s what that would do", render.ShellWord(name), render.ShellWord(g.ID), render.ShellWord(g.ID), render.ShellWord(name)))
	if g.Kind == model.Classic {
		err = errs.WithHint(err, "where instances have the plug-in and neither led a round since the control topic exists nor have the client tag streamctl, --force marks all the same")
	}
	if g.Kind == model.Classic && commands("rebalance") {
		err = errs.WithHint(err, fmt.Sprintf("with standbys or warm-ups, rebalance %s makes those that have caught up take over", render.ShellWord(g.ID)))
	}
	return err
}

// lookUp finds the one visible stream group in which all names mean something:
// names are resolved in each group by resolve.
func (r *reader) lookUp(ctx context.Context, names []string, what string, resolve func(*model.Group, string) ([]string, error)) (string, error) {
	l, err := r.list(ctx, nil)
	if err != nil {
		return "", err
	}
	group := ""
	for _, name := range names {
		found, in := r.places(l, name, resolve)
		switch {
		case len(found) == 0:
			return "", r.nowhere(l, what, name)
		case len(found) > 1:
			return "", errs.WithHint(fmt.Errorf("%s %q is not unique: %s", what, name, strings.Join(found, "; ")), "name the group: -g GROUP, or give more of the id")
		case group != "" && group != in:
			return "", errs.WithHint(fmt.Errorf("%q is in group %q, %q in group %q", names[0], group, name, in), "one command is about one group")
		}
		group = in
		r.d.note("%s %s", what, found[0])
	}
	return group, l.err()
}

// places lists what a name means in the groups of a list, and the group of the
// last of them.
func (r *reader) places(l listing, name string, resolve func(*model.Group, string) ([]string, error)) (found []string, group string) {
	for _, g := range l.streams {
		list, err := resolve(g, name)
		if amb, ok := errors.AsType[*model.AmbiguousError](err); ok {
			for _, c := range amb.Candidates {
				list = append(list, fmt.Sprintf("%s (%s)", c.Name, c.ID))
			}
		}
		for _, text := range list {
			found, group = append(found, text+" in group "+g.ID), g.ID
		}
	}
	return found, group
}

// instanceOf resolves an instance for lookUp.
func instanceOf(g *model.Group, name string) ([]string, error) {
	in, err := model.ResolveInstance(g, name)
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s (%s)", in.Name, in.ID)}, nil
}

// nowhere is the error for a name that is in no visible stream group.
func (r *reader) nowhere(l listing, what, name string) error {
	if len(l.streams) == 0 {
		return errors.Join(l.err(), r.noneVisible(l))
	}
	var refused []error
	for _, g := range l.streams {
		if g.Unread {
			refused = append(refused, partial(g.Errors))
		}
	}
	hint := "name the group: -g GROUP"
	where := fmt.Sprintf("any of the %d stream groups that are visible", len(l.streams))
	if len(l.streams) == 1 {
		id := l.streams[0].ID
		where = fmt.Sprintf("group %q, the only stream group that is visible", id)
		hint = fmt.Sprintf("get %ss -g %s lists them; -g GROUP names another group", what, render.ShellWord(id))
	}
	return joinErrors(l.err(), errors.Join(refused...), errs.WithHint(fmt.Errorf("no %s %q in %s", what, name, where), hint))
}

// resolveAll finds the instances that names mean, each once, by id.
func resolveAll(g *model.Group, names []string) ([]*model.Instance, error) {
	var out []*model.Instance
	for _, n := range names {
		in, err := model.ResolveInstance(g, n)
		if err != nil {
			return nil, resolveError(err)
		}
		if !slices.Contains(out, in) {
			out = append(out, in)
		}
	}
	slices.SortFunc(out, func(a, b *model.Instance) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}
