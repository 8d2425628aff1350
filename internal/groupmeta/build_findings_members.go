package groupmeta

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// memberFindings are about single members: what could not be read, and what
// they say is wrong. The same about several members is one finding.
func (b *groupBuilder) memberFindings() {
	codes := make(map[int32]int)
	said := memberProblems{}
	for i := range b.members {
		m := &b.members[i]
		said.metadata(m, b.newestKnown())
		said.assignment(m, b.newestKnown())
		if m.Assignment.ErrorCode != 0 {
			codes[m.Assignment.ErrorCode]++
		}
		if b.g.Kind == model.Classic && m.Metadata.ErrorCode == int32(ErrorShutdownRequested) && m.Assignment.ErrorCode == 0 {
			said.add(model.FindingShutdownRequested, "%s: asks the whole application to stop", m.Name)
		}
		if m.Leftover {
			said.add(model.FindingPossibleLeftover, "%s: perhaps left of a thread that was replaced or restarted, until its session ends", m.Name)
		}
	}
	b.report(said)
	for code, n := range codes {
		b.errorCode(ErrorCode(code), n)
	}
}

// memberProblem is one thing that is wrong with one or more members; %s in its
// text stands for who.
type memberProblem struct{ code, text string }

// memberProblems are the members that have each problem, by short name.
type memberProblems map[memberProblem][]string

func (p memberProblems) add(code, text, name string) {
	key := memberProblem{code, text}
	p[key] = append(p[key], name)
}

// literal makes a text safe to be a format.
func literal(s string) string { return strings.ReplaceAll(s, "%", "%%") }

func (p memberProblems) metadata(m *builtMember, newest int) {
	switch d := &m.Metadata; {
	case d.Status == model.MetadataNewer:
		p.add(model.FindingNotUnderstood, fmt.Sprintf("metadata v%d of %%s: newer than this build knows (%d); can speak up to v%d", d.UsedVersion, newest, d.SupportedVersion), m.Name)
	case d.Status == model.MetadataMalformed:
		p.add(model.FindingUndecodable, "metadata of %s: "+literal(d.Error), m.Name)
	case d.Error != "":
		p.add(model.FindingNotUnderstood, "metadata of %s: "+literal(d.Error), m.Name)
	}
}

func (p memberProblems) assignment(m *builtMember, newest int) {
	switch a := &m.Assignment; {
	case a.Status == model.MetadataNewer:
		p.add(model.FindingNotUnderstood, fmt.Sprintf("assignment v%d of %%s: newer than this build knows (%d)", a.UsedVersion, newest), m.Name)
	case a.Status == model.MetadataMalformed:
		p.add(model.FindingUndecodable, "assignment of %s: "+literal(a.Error), m.Name)
	case a.Error != "":
		p.add(model.FindingNotUnderstood, "assignment of %s: "+literal(a.Error), m.Name)
	}
}

// shownProblems is how many different problems of members are findings of their
// own; each member's row has its own besides.
const shownProblems = 20

// report makes findings of what is wrong with members, and notes of what is
// newer than this build.
func (b *groupBuilder) report(p memberProblems) {
	keys := make([]memberProblem, 0, len(p))
	for k := range p {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y memberProblem) int {
		return cmp.Or(len(p[y])-len(p[x]), strings.Compare(x.code, y.code), strings.Compare(x.text, y.text))
	})
	more := make(map[string]int)
	for i, k := range keys {
		if i >= shownProblems {
			more[k.code] += len(p[k])
			continue
		}
		members := p[k]
		object, who := "member "+members[0], members[0]
		if len(members) > 1 {
			object, who = b.group(), model.Count(len(members), "member")+" ("+someNames(members, len(members))+")"
		}
		b.find(k.code, object, k.text, who)
		if k.code == model.FindingNotUnderstood && strings.Contains(k.text, "newer") {
			b.g.Notes = append(b.g.Notes, fmt.Sprintf(k.text, who))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(more)) {
		b.find(code, b.group(), "the same kind of thing with %s more", model.Count(more[code], "member"))
	}
}

// newestKnown is the newest version of member metadata that this build reads.
func (b *groupBuilder) newestKnown() int {
	if b.g.Kind == model.Worker {
		return StreamMajor
	}
	return NewestFormat
}

// errorCode reports a code that the leader gave to n members.
func (b *groupBuilder) errorCode(code ErrorCode, n int) {
	to := "to " + model.Count(n, "member")
	switch code {
	case ErrorIncompleteSourceTopicMetadata:
		b.find(model.FindingIncompleteSourceTopics, b.group(), "the leader found a source topic missing and told it %s%s", to, b.missingSources())
	case ErrorShutdownRequested:
		b.find(model.FindingShutdownRequested, b.group(), "the whole application was asked to stop: told %s", to)
	case ErrorVersionProbing:
		b.find(model.FindingVersionProbing, b.group(), "the leader is probing versions: told %s", to)
	default:
		b.find(model.FindingAssignmentError, b.group(), "the leader's assignor failed: %s %s", code, to)
	}
}

// missingSources names subscribed topics that are not there.
func (b *groupBuilder) missingSources() string {
	var names []string
	for i := range b.members {
		for _, t := range b.members[i].Metadata.Topics {
			if s := b.x.topicState(t); s == topicMissing || s == topicHidden || s == topicNotListed {
				names = append(names, t)
			}
		}
	}
	if names = sortedTopics(names); len(names) == 0 {
		return ""
	}
	return ": missing or not visible are " + someNames(names, len(names))
}
