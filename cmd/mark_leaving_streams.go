package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

// settleEvery is how often a streams group is looked at until it can be judged.
const settleEvery = 500 * time.Millisecond

// streamsDrain takes instances of a streams group (KIP-1071) out of service. The
// broker assigns, by rules that can be computed: so it is foretold where the
// tasks go, and more standbys are asked for where these instances would have no
// copy.
type streamsDrain struct {
	*marking
	names []string // as given
	raise bool
	wait  bool

	set     groupSetter
	most    int           // standbys that the brokers allow; negative: not known
	every   time.Duration // how old positions may be
	judge   *progress.Departing
	look    progress.DepartLook
	now     kclient.Setting
	owner   settingOwner
	leaving []string // ids of the targets, and of others there that an earlier drain raised for; sorted
	to      int      // the number to raise to; 0: as it is
	back    *putBack // nil: not put back
	gone    []string // names that mean nobody, where a drain was ended by this command
}

func newStreamsDrain(o *markOptions, m *marking, names []string) *streamsDrain {
	return &streamsDrain{marking: m, names: names, raise: o.raise, wait: o.wait, most: -1}
}

func (d *streamsDrain) run(ctx context.Context) error {
	if d.timeout != nil {
		return errs.WithHint(fmt.Errorf("--scale-down-timeout means nothing in streams group %q: its instances know no marks, they go when they are stopped; nothing was done", d.s.g.ID), "--timeout bounds the waiting")
	}
	if d.s.unread != nil { // what cannot be read back is not known to be there
		return d.s.unread
	}
	d.d.warnUnread(d.s.g)
	over, err := d.prepare(ctx)
	if err != nil {
		return err
	}
	if over {
		return d.ended()
	}
	if err := d.decide(); err != nil {
		return err
	}
	raised := d.s.state.Standbys != nil
	switch {
	case d.to > 0:
		return d.raiseAndWait(ctx)
	case d.flags.dryRun:
		return d.nothingTo()
	case d.look.Safe == progress.Yes && !(raised && d.wait):
		return d.safeNow(raised)
	case d.wait:
		return newDepartWait(d, raised).run(ctx)
	case raised:
		return d.d.show(report.NewGroupChange(d.raisedAlready()))
	}
	return d.notYet()
}

// prepare ends a drain whose instances are gone, finds the instances, and looks
// until the group can be judged. over says that there is nothing left to do.
func (d *streamsDrain) prepare(ctx context.Context) (over bool, err error) {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	if d.set, err = d.r.setter(); err != nil {
		return false, err
	}
	ended, err := d.putBackOnceGone(ctx, d.r, d.s.g)
	if err != nil {
		return false, err
	}
	if err := d.resolve(ended); err != nil {
		return false, err
	}
	if len(d.targets) == 0 {
		return true, nil
	}
	brokers := map[string]string{}
	if c := d.s.g.Coordinator; c != nil {
		brokers = d.set.BrokerSettings(ctx, c.ID, kclient.KeyMostStandbys, kclient.KeyTaskOffsetsEvery)
	}
	if n, err := strconv.Atoi(brokers[kclient.KeyMostStandbys]); err == nil {
		d.most = n
	}
	d.every = progress.TaskOffsetsEvery
	if ms, err := strconv.ParseInt(brokers[kclient.KeyTaskOffsetsEvery], 10, 32); err == nil {
		d.every = time.Duration(ms) * time.Millisecond
	}
	d.judge = progress.NewDeparting(d.every)
	return false, d.settle(ctx)
}

// resolve finds the instances. A name that means nobody is fine where a drain
// has just been ended: it was that one's.
func (d *streamsDrain) resolve(ended bool) error {
	for _, name := range d.names {
		in, err := model.ResolveInstance(d.s.g, name)
		if _, missing := errors.AsType[*model.NotFoundError](err); missing && ended {
			d.gone = append(d.gone, name)
			continue
		}
		if err != nil {
			return resolveError(err)
		}
		if !control.IsUUID(in.ID) {
			return fmt.Errorf("instance %q has the process id %q, which is no UUID: it cannot be marked", in.Name, in.ID)
		}
		if d.marks(in.ID) {
			continue
		}
		if err := d.add(in); err != nil {
			return err
		}
	}
	slices.SortFunc(d.targets, func(a, b target) int { return strings.Compare(a.in.ID, b.in.ID) })
	return nil
}

// settle looks until the group can be judged, and makes sure of the setting.
func (d *streamsDrain) settle(ctx context.Context) error {
	told := ""
	err := progress.Poll(ctx, settleEvery, d.d.now, func(ctx context.Context) (*steered, error) {
		return d.r.departing(ctx, d.s.g.ID)
	}, func(at time.Time, s *steered, err error) (bool, error) {
		if err == nil {
			err = s.unread
		}
		if err == nil {
			d.s, d.leaving = s, d.leavingIn(s)
			d.look, err = d.judge.Look(s.g, d.leaving, at)
		}
		if err != nil {
			return false, err
		}
		if d.look.Open != "" && d.look.Open != told {
			told = d.look.Open
			d.say(0, told+"; waiting")
		}
		return d.look.Open == "", nil
	})
	if err != nil {
		if told != "" {
			err = fmt.Errorf("group %q: %s: %w; %s", d.s.g.ID, told, err, d.nothing())
		}
		return err
	}
	for i := range d.targets { // as they are now
		if in, err := model.ResolveInstance(d.s.g, d.targets[i].in.ID); err == nil {
			d.targets[i].in = in
		}
	}
	d.now, err = d.set.GroupSetting(ctx, d.s.g.ID, kclient.KeyGroupStandbys)
	if err != nil {
		return err
	}
	d.owner = ownerOf(d.s.state.Standbys, d.now)
	if n := d.s.g.Timing.Standbys; n == nil || strconv.Itoa(*n) != d.now.Value {
		return errs.WithHint(fmt.Errorf("%s of group %q reads %s, and changed while it was looked at; %s", standbysKey, d.s.g.ID, d.now.Value, d.nothing()), "try again")
	}
	return nil
}

// departing reads a streams group with its setting, the ends of its logs and the
// control topic, as it is now.
func (r *reader) departing(ctx context.Context, id string) (*steered, error) {
	q := r.describeQuery([]string{id})
	q.SettleFor, q.LogSizes, q.Commits = 0, false, false
	return r.steeredBy(ctx, id, q)
}

// leavingIn are the instances that are to stop: the targets, and those in the
// group for which an earlier drain raised the setting.
func (d *streamsDrain) leavingIn(s *steered) []string {
	var out []string
	here := func(id string) bool {
		return slices.ContainsFunc(s.g.Instances, func(in model.Instance) bool { return in.ID == id })
	}
	for _, t := range d.targets {
		out = append(out, t.in.ID)
	}
	if rec := s.state.Standbys; rec != nil {
		out = append(out, rec.Instances...)
	}
	out = slices.DeleteFunc(out, func(id string) bool { return !here(id) })
	slices.Sort(out)
	return slices.Compact(out)
}

// decide says how many standbys it takes, and refuses what does not work.
func (d *streamsDrain) decide() error {
	r := d.look.Raise
	rec := d.s.state.Standbys
	if r == nil || len(d.leaving) == 0 {
		return fmt.Errorf("%s is gone from group %q; %s", d.marking.names(), d.s.g.ID, d.nothing())
	}
	if !r.Stays {
		return errs.WithHint(fmt.Errorf("no instance of group %q would stay: nothing could take its tasks; %s", d.s.g.ID, d.nothing()), "start another instance first")
	}
	if d.owner == settingForeign {
		d.say(0, fmt.Sprintf("%s is %s: somebody changed it since a drain raised it from %s to %s; it is left as it is", standbysKey, d.now.Value, before(rec), rec.Set))
	}
	if d.look.Enough {
		return d.join()
	}
	unsafe := fmt.Errorf("%s cannot stop safely: %s; %s", d.marking.names(), d.wouldBeCold(r.Now), d.nothing())
	switch {
	case r.Need < 0:
		return errs.WithHint(unsafe, fmt.Sprintf("no %s up to %d gives each of them a copy where it goes", standbysKey, r.Most))
	case d.most >= 0 && r.Need > d.most:
		return errs.WithHint(unsafe, fmt.Sprintf("it takes %s %d, and the brokers allow %d (%s)", standbysKey, r.Need, d.most, kclient.KeyMostStandbys))
	case d.owner == settingForeign:
		return errs.WithHint(unsafe, fmt.Sprintf("it takes %s %d; unmark %s ends that drain and leaves the setting, then try again", standbysKey, r.Need, d.unmarkArgs()))
	case !d.raise:
		return errs.WithHint(unsafe, fmt.Sprintf("--raise-standbys raises %s from %s to %d, and puts it back once %s gone", standbysKey, d.now.Value, r.Need, isAre(len(d.targets), d.marking.names())))
	}
	d.to = r.Need
	return nil
}

// join makes the targets part of a drain for which the setting is raised: it
// must not be put back while they rest on it.
func (d *streamsDrain) join() error {
	rec := d.s.state.Standbys
	if rec == nil || d.owner != settingOurs || !slices.ContainsFunc(d.targets, func(t target) bool { return !slices.Contains(rec.Instances, t.in.ID) }) {
		return nil
	}
	if !d.raise {
		return errs.WithHint(fmt.Errorf("%s %s is enough for %s only as long as it is raised for the drain of others (%s, by %s); nothing was done",
			standbysKey, d.now.Value, d.marking.names(), strings.Join(rec.Instances, ", "), cmp.Or(rec.Who, "somebody")), "--raise-standbys keeps it until all of them are gone")
	}
	n, err := strconv.Atoi(d.now.Value)
	d.to = n
	return err
}

func isAre(n int, names string) string {
	if n == 1 {
		return names + " is"
	}
	return names + " are"
}
