//go:build realkafka

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// groupDoc is what the tests read of a GroupDescription. It is written down
// here a second time on purpose: the tests hold the document to the contract,
// not to the code that makes it.
type groupDoc struct {
	Kind      string  `json:"kind"`
	TakenAt   string  `json:"taken_at"`
	ClusterID string  `json:"cluster_id"`
	Group     string  `json:"group"`
	GroupKind string  `json:"group_kind"`
	State     string  `json:"state"`
	Epoch     *int64  `json:"epoch"`
	Coord     *coord  `json:"coordinator"`
	Verdict   verdict `json:"verdict"`
	Positions struct {
		Basis string `json:"basis"`
	} `json:"positions"`
	Totals struct {
		Tasks, Active, Standby, Learner, Moving, Unassigned int
		Lag                                                 *int64
	} `json:"totals"`
	Next      *nextRebalance `json:"next_rebalance"`
	Topology  topologyDoc    `json:"topology"`
	Instances []instanceDoc  `json:"instances"`
	Offsets   []offsetDoc    `json:"offsets"`
	Errors    []errorDoc     `json:"errors"`
}

type coord struct {
	ID int32 `json:"id"`
}

type verdict struct {
	OK       bool `json:"ok"`
	Findings []struct {
		Code, Severity, Object, Text string
	} `json:"findings"`
}

type nextRebalance struct {
	At       *string `json:"at"`
	InMs     int64   `json:"in_ms"`
	RawMs    int64   `json:"raw_ms"`
	ByMember string  `json:"by_member"`
}

type topologyDoc struct {
	Source        string `json:"source"`
	Subtopologies []struct {
		ID         string   `json:"id"`
		Sources    []string `json:"source_topics"`
		Changelogs []string `json:"changelog_topics"`
		Partitions int      `json:"partitions"`
		Stateful   *bool    `json:"stateful"`
	} `json:"subtopologies"`
}

type instanceDoc struct {
	ID      string      `json:"id"`
	Active  int         `json:"active"`
	Standby int         `json:"standby"`
	Learner int         `json:"learner"`
	Members []memberDoc `json:"members"`
}

type memberDoc struct {
	ID       string `json:"id"`
	ClientID string `json:"client_id"`
	Metadata *struct {
		Used      int    `json:"used_version"`
		Supported int    `json:"supported_version"`
		Status    string `json:"status"`
	} `json:"metadata"`
	Tasks []taskDoc `json:"tasks"`
}

type taskDoc struct {
	ID         string   `json:"id"`
	Role       string   `json:"role"`
	Tags       []string `json:"tags"`
	Inferred   bool     `json:"inferred"`
	TargetOnly bool     `json:"target_only"`
	Partitions []struct {
		Topic     string
		Partition int32
	} `json:"partitions"`
	Restore struct {
		State     string
		Basis     string
		Position  *int64
		End       *int64
		Remaining *int64 `json:"remaining_records"`
	} `json:"restore"`
}

type offsetDoc struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed"`
	LogEnd    *int64 `json:"log_end"`
	Lag       *int64 `json:"lag"`
}

type errorDoc struct {
	Object string  `json:"object"`
	Code   *string `json:"code"`
	Error  string  `json:"error"`
	Hint   *string `json:"hint"`
}

// describe runs describe group, which must succeed.
func (c *cluster) describe(t testing.TB, group string, args ...string) groupDoc {
	t.Helper()
	res := c.streamctl(t, append([]string{"describe", "group", group, "-o", "json"}, args...)...)
	if res.code != 0 {
		t.Fatalf("describe group %s: exit %d\nstdout: %s\nstderr: %s", group, res.code, res.stdout, res.stderr)
	}
	return parseGroup(t, res.stdout)
}

func parseGroup(t testing.TB, text string) groupDoc {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	var d groupDoc
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("not a GroupDescription: %v\n%s", err, text)
	}
	if dec.More() {
		t.Fatalf("more than one document:\n%s", text)
	}
	if d.Kind != "GroupDescription" {
		t.Fatalf("kind is %q:\n%s", d.Kind, text)
	}
	return d
}

// holdings lists who holds what, one line a copy, sorted: "pod-a-StreamThread-1
// active 0_0". A learner counts as a standby when the other side cannot tell.
func (d groupDoc) holdings(learnerAsStandby bool) []string {
	var out []string
	for _, in := range d.Instances {
		for _, m := range in.Members {
			for _, task := range m.Tasks {
				role := task.Role
				if role == "learner" && learnerAsStandby {
					role = "standby"
				}
				if !task.TargetOnly {
					out = append(out, fmt.Sprintf("%s %s %s", strings.TrimSuffix(m.ClientID, "-consumer"), role, task.ID))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// holdings is the same, as the instances say themselves.
func (a *app) holdings(t testing.TB, clients ...string) []string {
	t.Helper()
	var out []string
	for _, client := range clients {
		for thread, tasks := range a.tasks(t, client) {
			for _, id := range tasks.Active {
				out = append(out, fmt.Sprintf("%s active %s", thread, id))
			}
			for _, id := range tasks.Standby {
				out = append(out, fmt.Sprintf("%s standby %s", thread, id))
			}
		}
	}
	slices.Sort(out)
	return out
}

// instance finds an instance by the client id of its members.
func (d groupDoc) instance(t testing.TB, client string) instanceDoc {
	t.Helper()
	for _, in := range d.Instances {
		for _, m := range in.Members {
			if strings.HasPrefix(m.ClientID, client+"-StreamThread-") {
				return in
			}
		}
	}
	t.Fatalf("no instance of %s in %+v", client, d.Instances)
	return instanceDoc{}
}

func (d groupDoc) codes() []string {
	set := map[string]bool{}
	for _, f := range d.Verdict.Findings {
		set[f.Code] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// sameLines fails the test with the lines that only one side has.
func sameLines(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	only := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
	}
	t.Errorf("%s: %d lines, want %d\nonly streamctl:  %q\nonly the others: %q", what, len(got), len(want), only(got, want), only(want, got))
}
