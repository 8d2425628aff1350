package groupmeta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// findings says what stands out, worst first.
func (b *groupBuilder) findings() {
	b.stateFindings()
	if b.g.Kind.IsStream() {
		b.memberFindings()
		b.taskFindings()
		b.balanceFindings()
		b.roundFindings()
	}
	b.offsetFindings()
	b.sampleFindings()
	slices.SortStableFunc(b.g.Findings, func(x, y model.Finding) int {
		return cmp.Or(
			severityRank(x.Severity)-severityRank(y.Severity),
			codeRank(x.Code)-codeRank(y.Code), strings.Compare(x.Code, y.Code),
			strings.Compare(x.Object, y.Object), strings.Compare(x.Text, y.Text))
	})
	b.foldInstances()
	slices.Sort(b.g.Notes)
}

// shownInstances is how many instances have a finding of the same code of their
// own: a verdict must not be scrolled away.
const shownInstances = 10

// foldInstances makes one finding of those that more instances than that have.
func (b *groupBuilder) foldInstances() {
	const of = "instance "
	count := make(map[string]int)
	for _, f := range b.g.Findings {
		if strings.HasPrefix(f.Object, of) {
			count[f.Code]++
		}
	}
	seen := make(map[string]int)
	more := make(map[string][]string)
	kept := b.g.Findings[:0]
	for _, f := range b.g.Findings {
		n := count[f.Code]
		if !strings.HasPrefix(f.Object, of) || n <= shownInstances {
			kept = append(kept, f)
			continue
		}
		seen[f.Code]++
		if seen[f.Code] < shownInstances {
			kept = append(kept, f)
			continue
		}
		more[f.Code] = append(more[f.Code], strings.TrimPrefix(f.Object, of))
		if seen[f.Code] == n {
			names := more[f.Code]
			f.Object, f.Text = b.group(), fmt.Sprintf("the same kind of thing with %s more: %s", model.Count(len(names), "instance"), someNames(names, len(names)))
			kept = append(kept, f)
		}
	}
	b.g.Findings = kept
}

func severityRank(s model.Severity) int {
	return slices.Index([]model.Severity{model.Bad, model.Warn, model.Info}, s)
}

// codeRank orders findings of the same severity: what explains others first.
func codeRank(code string) int {
	first := []string{
		model.FindingNotReady, model.FindingTopicMissing, model.FindingIncompleteSourceTopics, model.FindingAssignmentError,
		model.FindingShutdownRequested, model.FindingUndecodable, model.FindingUnassigned,
		model.FindingRebalancing, model.FindingConverging, model.FindingMixedVersions, model.FindingSilent, model.FindingRestoring,
		model.FindingLearning, model.FindingMoving, model.FindingUnbalanced, model.FindingMissingStandby,
	}
	if i := slices.Index(first, code); i >= 0 {
		return i
	}
	return len(first)
}

// find adds a finding; its severity goes with the code.
func (b *groupBuilder) find(code, object, format string, args ...any) {
	b.g.Findings = append(b.g.Findings, model.Finding{
		Code: code, Severity: model.SeverityOf(code), Object: object, Text: fmt.Sprintf(format, args...),
	})
}

func (b *groupBuilder) group() string { return "group " + b.in.ID }

// shownNames is how many names a finding lists.
const shownNames = 8

// some lists the first names and counts the rest.
func some[T fmt.Stringer](list []T) string {
	names := make([]string, 0, shownNames)
	for _, t := range list[:min(len(list), shownNames)] {
		names = append(names, t.String())
	}
	return someNames(names, len(list))
}

func someNames(names []string, all int) string {
	text := strings.Join(names[:min(len(names), shownNames)], " ")
	if all > shownNames {
		text += fmt.Sprintf(" and %d more", all-shownNames)
	}
	return text
}

// subject is a number of things with the verb that goes with it, "1 task is" or
// "2 tasks are".
func subject(n int, noun, one, many string) string {
	if n == 1 {
		return model.Count(n, noun) + " " + one
	}
	return model.Count(n, noun) + " " + many
}

// stateFindings are about the state of the group as a whole.
func (b *groupBuilder) stateFindings() {
	g := b.g
	switch {
	case g.State == model.StateEmpty:
		text := "no members"
		if n := b.committed(); n > 0 {
			text = fmt.Sprintf("no members, offsets of %s are committed", model.Count(n, "partition"))
		}
		b.find(model.FindingEmpty, b.group(), "%s", text)
		g.Notes = append(g.Notes, g.ID+" has no members")
	case g.State == model.StateNotReady:
		reasons := b.notReadyReasons()
		if len(reasons) == 0 {
			reasons = []string{b.noReason()}
		}
		b.find(model.FindingNotReady, b.group(), "%s", strings.Join(reasons, "; "))
	case !g.Kind.IsStream():
	case g.State == model.StatePreparingRebalance || g.State == model.StateCompletingRebalance:
		tables := "no assignment is given meanwhile"
		if g.AssignmentBasis == model.AssignmentPrevious {
			tables = "the tables show the round before"
		}
		b.find(model.FindingRebalancing, b.group(), "%s, %s; watch %s follows", model.Count(len(b.members), "member"), tables, g.ID)
	case g.State == model.StateAssigning:
		b.find(model.FindingRebalancing, b.group(), "%s, the broker works out a new target", model.Count(len(b.members), "member"))
	}
}

// noReason is what is left to say where the topics explain nothing.
func (b *groupBuilder) noReason() string {
	if len(b.x.s.Topics) == 0 {
		return "the broker gives no reason, and the topics were not read: most often a source topic is missing"
	}
	return "the broker gives no reason, and every topic of the topology is there"
}

func (b *groupBuilder) committed() int {
	n := 0
	for _, c := range b.in.Commits {
		if c.Offset >= 0 {
			n++
		}
	}
	return n
}
