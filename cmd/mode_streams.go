package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// The move of a classic group to a streams group (KIP-1071) is made by the app:
// all its instances stop, and start again with group.protocol=streams. This is a
// preflight and a guide; nothing is written (field cases 32 and 33).

// guide shows the check list.
func (o *modeSetOptions) guide(ctx context.Context, r *reader) error {
	q := r.describeQuery([]string{o.group})
	q.APIVersions, q.LogSizes = true, false
	s, err := r.look(ctx, q)
	if err != nil {
		return err
	}
	groups, err := r.build(s, []string{o.group})
	if err != nil {
		return err
	}
	g := groups[0]
	switch {
	case g.Kind == model.Streams:
		return fmt.Errorf("group %q is a streams group already", g.ID)
	case g.Kind == model.Worker:
		return errs.WithHint(fmt.Errorf("group %q is a worker group, which cannot become a streams group", g.ID), "its modes are upgrading and incremental")
	case g.Kind != model.Classic && g.Kind != model.Unknown:
		return fmt.Errorf("group %q is a group of kind %s: it runs no stream tasks", g.ID, g.Kind)
	}
	m := migration{g: g, s: s, force: o.flags.force}
	failed := m.check()
	res := o.result(g, false)
	from := "classic"
	res.Mode = &report.ModeChange{From: &from, To: toStreams, NotFollowed: []string{}, Checks: m.checks, Migration: m.report()}
	res.Text = m.text(failed == nil)
	if err := o.d.show(report.NewGroupChange(res)); err != nil {
		return err
	}
	return joinErrors(failed, partialOf(groups))
}

// migration is one group's way to a streams group.
type migration struct {
	g      *model.Group
	s      *snapshot.Snapshot
	force  bool
	checks []report.ModeCheck
}

// check goes through the list; the error is the first thing that stands in the
// way.
func (m *migration) check() error {
	var failed []error
	add := func(name string, ok *bool, text string, err error) {
		m.checks = append(m.checks, report.ModeCheck{Check: name, OK: ok, Text: text})
		if err != nil {
			failed = append(failed, err)
		}
	}
	releases, may420 := m.releases()
	knows, why := m.knowsStreams()
	if !knows {
		add("streams.version", yesNo(false), why, fmt.Errorf("the cluster has no streams groups: %s", why))
	} else {
		add("streams.version", yesNo(true), why, nil)
	}
	switch {
	case !may420:
		add("broker release", yesNo(true), releases+": not 4.2.0, in which this move is broken", nil)
	case m.force:
		add("broker release", nil, releases+": 4.2.0 cannot be ruled out from here; --force says that it is not", nil)
	default:
		add("broker release", nil, releases+": 4.2.0, in which this move is broken, cannot be ruled out: the patch level is not on the wire",
			errs.WithHint(fmt.Errorf("a broker may be 4.2.0, in which moving a group to the streams protocol is broken (it looks like %s)", releases),
				"--force goes on where you know that no broker is 4.2.0"))
	}
	if names := m.members(); m.g.State == model.StateEmpty {
		add("group", yesNo(true), "Empty", nil)
	} else {
		add("group", yesNo(false), fmt.Sprintf("%s, with %s", m.g.State, render.Count(len(names), "member")),
			errs.WithHint(fmt.Errorf("group %q is %s: its members must be gone first: %s", m.g.ID, m.g.State, strings.Join(shortened(names), ", ")),
				"stop every instance; remove-member "+m.g.ID+" saves the session timeout"))
	}
	return joinErrors(failed...)
}

func shortened(names []string) []string {
	const shown = 20
	if len(names) <= shown {
		return names
	}
	return append(slices.Clone(names[:shown]), fmt.Sprintf("and %d more", len(names)-shown))
}

// releases names what the brokers' requests fit, and whether 4.2.0 is among it.
func (m *migration) releases() (text string, may420 bool) {
	var names []string
	for i := range m.s.APIVersions {
		guess := kclient.ReleaseOf(&m.s.APIVersions[i])
		if guess == "" {
			guess = "unknown"
		}
		names = append(names, guess)
		may420 = may420 || kclient.MayBe42(&m.s.APIVersions[i])
	}
	if len(m.s.APIVersions) < len(m.s.Brokers) || len(names) == 0 {
		may420 = true
		names = append(names, fmt.Sprintf("%d not known", len(m.s.Brokers)-len(m.s.APIVersions)))
	}
	names = sortedOnce(names)
	return strings.Join(names, ", "), may420
}

// knowsStreams reports whether every broker has streams groups switched on.
func (m *migration) knowsStreams() (bool, string) {
	if len(m.s.APIVersions) == 0 {
		return false, "no broker told what it knows"
	}
	for i := range m.s.APIVersions {
		v := &m.s.APIVersions[i]
		k := slices.IndexFunc(v.Features, func(f snapshot.APIFeature) bool { return f.Name == "streams.version" })
		switch {
		case !slices.ContainsFunc(v.Keys, func(r snapshot.APIRange) bool { return r.Key == keyStreamsDescribe }):
			return false, fmt.Sprintf("broker %d does not know API %d", v.Broker, keyStreamsDescribe)
		case k < 0:
			return false, fmt.Sprintf("broker %d has no feature streams.version", v.Broker)
		case v.Features[k].Finalized < 1:
			return false, fmt.Sprintf("the feature streams.version is not on (broker %d; kafka-features upgrade --feature streams.version=1)", v.Broker)
		}
	}
	return true, "the feature streams.version is on"
}

// members are the names of those who must go first, sorted.
func (m *migration) members() []string { return slices.Sorted(slices.Values(memberNames(m.g))) }

// report says what is kept and what is lost.
func (m *migration) report() *report.Migration {
	out := &report.Migration{Members: append([]string{}, m.members()...)}
	committed := 0
	for _, o := range m.g.Offsets {
		if o.Committed != nil {
			committed++
		}
	}
	out.Kept = append(out.Kept, fmt.Sprintf("committed offsets of %s", render.Count(committed, "partition")))
	topics := 0
	for _, t := range m.s.Topics {
		if strings.HasPrefix(t.Name, m.g.ID+"-") && (strings.HasSuffix(t.Name, "-changelog") || strings.HasSuffix(t.Name, "-repartition")) {
			topics++
		}
	}
	out.Kept = append(out.Kept, fmt.Sprintf("%s (changelogs and repartition topics)", render.Count(topics, "internal topic")), "state on the disks of the instances")
	out.Lost = []string{
		"members and their assignment", "epochs and generations start anew",
		"settings of the client that the broker takes over: standbys (streams.num.standby.replicas of the group), assignor, session timeout",
	}
	return out
}

// text is the list for people.
func (m *migration) text(ok bool) []report.ChangeLine {
	var out []report.ChangeLine
	if ok {
		out = append(out, report.GoodLine(m.g.ID+" can be started as a streams group"))
	} else {
		out = append(out, report.WarnLine(m.g.ID+" cannot become a streams group now"))
	}
	for _, c := range m.checks {
		word := "unsure"
		if c.OK != nil && *c.OK {
			word = "ok"
		} else if c.OK != nil {
			word = "no"
		}
		out = append(out, report.ChangeLine{Label: word, Text: render.Escape(c.Check + ": " + c.Text)})
	}
	r := m.report()
	for _, k := range r.Kept {
		out = append(out, report.ChangeLine{Label: "kept", Text: render.Escape(k)})
	}
	for _, l := range r.Lost {
		out = append(out, report.ChangeLine{Label: "lost", Text: render.Escape(l)})
	}
	return append(out, report.ChangeLine{Text: "nothing was changed; stop all instances, then start them with group.protocol=streams"})
}
