package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
)

// standbysKey is how people know the setting.
const standbysKey = "num.standby.replicas"

// groupSetter is a cluster whose groups' settings can be changed.
type groupSetter interface {
	GroupSetting(ctx context.Context, group, key string) (kclient.Setting, error)
	SetGroupSetting(ctx context.Context, group, key string, value *string) error
	BrokerSettings(ctx context.Context, broker int32, keys ...string) map[string]string
}

func (r *reader) setter() (groupSetter, error) {
	if c, ok := r.cluster.(groupSetter); ok {
		return c, nil
	}
	return nil, errors.New("the settings of groups of this cluster cannot be changed")
}

// settingOwner says whose doing a setting is, by the record of a drain.
type settingOwner string

const (
	settingNobodys settingOwner = "nobody's"       // there is no record
	settingBefore  settingOwner = "as before"      // not raised yet, or put back already
	settingOurs    settingOwner = "ours"           // a value that the drain set
	settingForeign settingOwner = "someone else's" // anything else
)

// ownerOf compares a setting with the record.
func ownerOf(rec *control.Standbys, now kclient.Setting) settingOwner {
	switch {
	case rec == nil:
		return settingNobodys
	case now.Own == rec.BeforeOwn && now.Value == rec.Before:
		return settingBefore
	case now.Own && (now.Value == rec.Set || slices.Contains(rec.Earlier, now.Value)):
		return settingOurs
	}
	return settingForeign
}

// before words what the setting was.
func before(rec *control.Standbys) string {
	if rec.BeforeOwn {
		return rec.Before
	}
	return rec.Before + " (the brokers' default)"
}

// putBack is what became of a setting that a drain raised.
type putBack struct {
	done bool    // it is as before the drain
	left *string // what somebody else set, and was left
	text string
}

// putStandbysBack puts num.standby.replicas back as it was before a drain, then
// takes the record and these marks away. What somebody else set meanwhile is
// left. Done again after it was cut off it does what is missing.
func (c *change) putStandbysBack(ctx context.Context, r *reader, group string, rec *control.Standbys, marks []string) (putBack, error) {
	var out putBack
	set, err := r.setter()
	if err != nil {
		return out, err
	}
	w, err := r.writer()
	if err != nil {
		return out, err
	}
	now, err := set.GroupSetting(ctx, group, kclient.KeyGroupStandbys)
	if err != nil {
		return out, err
	}
	switch ownerOf(rec, now) {
	case settingOurs:
		var value *string
		if rec.BeforeOwn {
			value = &rec.Before
		}
		if err := set.SetGroupSetting(ctx, group, kclient.KeyGroupStandbys, value); err != nil {
			return out, errs.WithHint(err, fmt.Sprintf("%s is still %s; it was %s", standbysKey, now.Value, before(rec)))
		}
		out.done, out.text = true, fmt.Sprintf("put back: %s is %s again (was %s)", standbysKey, before(rec), now.Value)
	case settingForeign:
		left := now.Value
		out.left = &left
		out.text = fmt.Sprintf("%s is %s: somebody changed it meanwhile, so it is left (it was %s, the drain set %s)", standbysKey, now.Value, before(rec), rec.Set)
	default:
		out.done, out.text = true, fmt.Sprintf("%s is %s, as before", standbysKey, before(rec))
	}
	c.say(2, out.text)
	// The record goes last: as long as it is there, what is missing can be done.
	var records []control.Record
	for _, id := range marks {
		if control.IsUUID(id) {
			records = append(records, control.Withdrawal(id))
		}
	}
	_, err = w.WriteControl(ctx, group, records...)
	if err == nil {
		_, err = w.WriteControl(ctx, group, control.StandbysRestored())
	}
	if err != nil {
		return out, fmt.Errorf("%s, but the record of it is still there, or the mark is: %w", out.text, err)
	}
	return out, nil
}

// marksOf are the marks among ids.
func marksOf(s *steered, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, marked := s.state.Leaving[id]; return !marked })
}

// goneWithStandbys reports whether standbys are raised for instances none of
// which is in the group any more.
func goneWithStandbys(g *model.Group) bool {
	return g.Kind == model.Streams && g.Control != nil && g.Control.Standbys != nil && g.Control.Standbys.Gone
}

// putBackOnceGone puts the standbys of a streams group back when the instances
// are gone for which they were raised: every changing command does. It is false
// where there was nothing to put back, and in a dry run.
func (c *change) putBackOnceGone(ctx context.Context, r *reader, g *model.Group) (bool, error) {
	if !goneWithStandbys(g) {
		return false, nil
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	s, err := r.steered(ctx, g.ID, true)
	if err != nil {
		return false, err
	}
	rec := s.state.Standbys
	if s.unread != nil || rec == nil || !goneWithStandbys(s.g) {
		return false, s.unread
	}
	names := strings.Join(rec.Instances, ", ")
	c.say(0, fmt.Sprintf("%s: %s was raised from %s to %s for the drain of %s, gone by now, by %s", c.where(s.g), standbysKey, before(rec), rec.Set, names, cmp.Or(rec.Who, "somebody")))
	if c.flags.dryRun {
		c.say(2, "dry run: it would be put back")
		return false, nil
	}
	back, err := c.putStandbysBack(ctx, r, g.ID, rec, marksOf(s, rec.Instances))
	if err == nil {
		c.restored = back.text
		c.d.onStop = c.nothing()
	}
	return err == nil, err
}

// nothing says that nothing was done, but for the standbys of an earlier drain.
func (c *change) nothing() string {
	if c.restored == "" {
		return "nothing was done"
	}
	return "nothing else was done (" + c.restored + ")"
}

// tidyStandbys is putBackOnceGone for a command that does something else: a
// failure is a warning.
func (c *change) tidyStandbys(ctx context.Context, r *reader, g *model.Group) {
	if _, err := c.putBackOnceGone(ctx, r, g); err != nil {
		c.d.warn("putting " + standbysKey + " back failed: " + oneLine(err.Error()))
	}
}
