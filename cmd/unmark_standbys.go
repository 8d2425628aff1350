package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
)

// lowering is what unmark does with standbys that were raised for instances
// whose marks it withdraws.
type lowering struct {
	rec   *control.Standbys
	back  bool             // nobody else rests on it: it is put back at once
	rest  control.Standbys // else: the record for those that do
	marks []string         // ids whose marks go with the record
}

// loweringOf is nil where standbys are not raised for any of these instances.
func loweringOf(s *steered, list []withdrawal) *lowering {
	rec := s.state.Standbys
	ids := make([]string, len(list))
	for i, w := range list {
		ids[i] = w.id
	}
	if rec == nil || !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(rec.Instances, id) }) {
		return nil
	}
	l := &lowering{rec: rec, rest: *rec}
	l.rest.Instances = slices.DeleteFunc(slices.Clone(rec.Instances), func(id string) bool {
		here := slices.ContainsFunc(s.g.Instances, func(in model.Instance) bool { return in.ID == id })
		return slices.Contains(ids, id) || !here
	})
	if l.back = len(l.rest.Instances) == 0; l.back {
		l.marks = marksOf(s, rec.Instances)
	}
	return l
}

// says is what will be done, for people.
func (l *lowering) says() string {
	if l.back {
		return fmt.Sprintf("putting %s back to %s (the drain set %s)", standbysKey, before(l.rec), l.rec.Set)
	}
	return fmt.Sprintf("%s stays %s for the drain of %s", standbysKey, l.rec.Set, strings.Join(l.rest.Instances, ", "))
}

// run puts the setting back, or gives the record that is left to write.
func (l *lowering) run(ctx context.Context, c *change, r *reader, group string) (putBack, []control.Record, error) {
	if l.back {
		c.d.onStop = standbysKey + " may be put back: the same command again makes sure"
		back, err := c.putStandbysBack(ctx, r, group, l.rec, l.marks)
		return back, nil, err
	}
	rec, err := l.rest.Record()
	if err != nil {
		return putBack{}, nil, fmt.Errorf("record of %s: %w", standbysKey, err)
	}
	return putBack{}, []control.Record{rec}, nil
}

// change is the part of the document.
func (l *lowering) change(back putBack) *report.StandbysChange {
	was, set := l.rec.Before, l.rec.Set
	return &report.StandbysChange{Before: &was, BeforeOwn: l.rec.BeforeOwn, Set: &set, PutBack: back.done, Left: back.left}
}
