package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/scenario"
)

// scenarios reads the scenarios of --from; nil when it is no file of scenarios.
// What was read of stdin to see that is put back.
func (o *planOptions) scenarios(ctx context.Context) ([]scenario.Scenario, error) {
	if o.d.flags.from == "" {
		return nil, nil
	}
	return within(ctx, o.scenarioFile)
}

func (o *planOptions) scenarioFile() ([]scenario.Scenario, error) {
	path := o.d.flags.from
	in := o.d.io.In
	if path != "-" {
		f, err := o.d.open(path)
		if err != nil {
			return nil, nil //nolint:nilerr // whoever reads it as a snapshot says why
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	var seen bytes.Buffer
	is := scenario.Is(io.TeeReader(in, &seen))
	in = io.MultiReader(&seen, in)
	if !is {
		if path == "-" {
			o.d.io.In = in
		}
		return nil, nil
	}
	list, err := scenario.Read(in)
	if err != nil {
		return nil, fmt.Errorf("scenario file %q: %w", path, err)
	}
	return list, nil
}

// choose takes the scenarios that are named, or the only one.
func (o *planOptions) choose(list []scenario.Scenario, names []string) (*planReading, error) {
	path := o.d.flags.from
	known := make(map[string]int, len(list))
	var all []string
	for i := range list {
		if _, twice := known[list[i].Name]; twice {
			return nil, fmt.Errorf("scenario file %q: two scenarios are called %q", path, list[i].Name)
		}
		known[list[i].Name] = i
		all = append(all, list[i].Name)
	}
	if len(names) == 0 && len(list) > 1 {
		return nil, errs.WithHint(errs.Usagef("scenario file %q holds %d scenarios: name those to plan", path, len(list)), "it holds "+sample(all))
	}
	if len(names) == 0 {
		names = all
	}
	w := &planReading{o: o, inputs: map[string]*plan.Input{}}
	for _, name := range names {
		i, ok := known[name]
		if !ok {
			w.failures = append(w.failures, errs.WithHint(fmt.Errorf("scenario %q is not in file %q", name, path), "it holds "+sample(all)))
			continue
		}
		w.inputs[name] = scenarioInput(&list[i])
		w.ready = append(w.ready, &model.Group{ID: name})
	}
	return w, joinErrors(w.failures...)
}

// sample lists names, the first few of many.
func sample(names []string) string {
	const most = 8
	names = slices.Sorted(slices.Values(names))
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// input is what a group is planned from.
func (w *planReading) input(g *model.Group) (*plan.Input, error) {
	if in, ok := w.inputs[g.ID]; ok {
		return in, nil
	}
	return plan.FromGroup(g)
}

// scenarioInput is what a scenario is planned from.
func scenarioInput(s *scenario.Scenario) *plan.Input {
	if s.Learner != nil {
		return plan.FromLearner(s.Name, &s.Learner.Input)
	}
	return plan.FromAssign(s.Name, s.Assignor, s.Kafka.KafkaVersion, s.Kafka.Group)
}
