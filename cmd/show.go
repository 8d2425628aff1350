package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// renderOptions is what the flags say about writing a report.
func (d *deps) renderOptions() render.Options {
	f := d.flags.output
	return render.Options{
		Format: f, Width: d.io.Width(), Color: d.io.UseColor(f.Machine()),
		NoHeaders: d.flags.noHeaders, SortBy: d.flags.sortBy, JSONStrings: d.flags.jsonStrings,
	}
}

// show writes a report to stdout.
func (d *deps) show(r render.Report) error {
	return asUsageOfOutput(render.Write(d.io.Out, d.renderOptions(), r))
}

// asUsageOfOutput makes a format or column that a report does not have bad
// usage.
func asUsageOfOutput(err error) error {
	if _, ok := errors.AsType[*render.FormError](err); ok {
		return errs.WithCode(err, errs.Usage)
	}
	if c, ok := errors.AsType[*render.ColumnError](err); ok {
		return errs.WithCode(fmt.Errorf("--sort-by: %w", c), errs.Usage)
	}
	return err
}

// checkOutput refuses -o and --sort-by values that the report does not have,
// before anything is sent. empty is a report of the kind that will come.
func (d *deps) checkOutput(empty render.Report) error {
	l, rows := empty.(render.Lister)
	switch f := d.flags.output; {
	case !rows && f.Machine() && !f.Document():
		return asUsageOfOutput(&render.FormError{Format: f})
	case !rows && d.flags.sortBy != "":
		return errs.Usagef("--sort-by: this command has no rows to sort")
	case rows && d.flags.sortBy != "":
		return asUsageOfOutput(l.Grid().SortBy(d.flags.sortBy))
	}
	return nil
}

// reported is what a document's errors say, for stderr; nil when all was read.
func reported(list []report.Error) error {
	var out []error
	for _, e := range list {
		r := model.ReadError{Object: e.Object, Text: e.Text}
		if e.Code != nil {
			r.Code = *e.Code
		}
		if e.Hint != nil {
			r.Hint = *e.Hint
		}
		out = append(out, readError(r))
	}
	return errors.Join(out...)
}

// failOn is the value of --fail-on: finding codes, or "any".
type failOn struct{ codes []string }

func (f *failOn) check(known []string) error {
	for _, c := range f.codes {
		if c != "any" && !slices.Contains(known, c) {
			err := errs.Usagef("--fail-on: %q is no finding", c)
			if near := nearestWord(c, known); near != "" {
				return errs.WithHint(err, fmt.Sprintf("did you mean %q?", near))
			}
			return errs.WithHint(err, "any, or of "+strings.Join(known, ", "))
		}
	}
	return nil
}

// unmet is the error of exit code 3 when one of the groups has such a finding;
// "any" leaves findings out that are only for information.
func (f *failOn) unmet(groups []*model.Group) error {
	if len(f.codes) == 0 {
		return nil
	}
	for _, g := range groups {
		for _, x := range g.Findings {
			if slices.Contains(f.codes, x.Code) || slices.Contains(f.codes, "any") && x.Severity != model.Info {
				return errs.WithCode(fmt.Errorf("group %q: %s: %s", g.ID, x.Code, x.Text), errs.Unmet)
			}
		}
	}
	return nil
}

// unmetFirst joins errors so that a failure to read beats a condition that is
// not met: of a group that was not read whole nobody knows whether it holds.
func unmetFirst(failed, unmet error) error {
	if failed == nil {
		return unmet
	}
	return errs.WithCode(errors.Join(failed, unmet), errs.ExitCode(failed))
}

func nearestWord(word string, known []string) string {
	best, at := "", 3
	for _, k := range known {
		if d := config.Distance(word, k); d < at {
			best, at = k, d
		}
	}
	return best
}

// joinErrors is errors.Join with each text once.
func joinErrors(list ...error) error {
	var out []error
	seen := map[string]bool{}
	for _, err := range list {
		for _, e := range leavesOf(err) {
			if !seen[e.Error()] {
				seen[e.Error()] = true
				out = append(out, e)
			}
		}
	}
	return errors.Join(out...)
}

func sortedOnce(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }
