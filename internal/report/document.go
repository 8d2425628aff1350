// Package report is what each command shows: a versioned document (output.md,
// its fields are the exported fields here) and the same facts for people. A
// report is made of a model.Group and changes nothing.
package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// SchemaVersion of every document. Fields are only added under one version.
const SchemaVersion = 1

// Head opens every document.
type Head struct {
	Kind          string `json:"kind"`
	SchemaVersion int    `json:"schema_version"`
}

func head(kind string) Head { return Head{Kind: kind, SchemaVersion: SchemaVersion} }

// Read is in every document of a command that read a group.
type Read struct {
	TakenAt   *time.Time `json:"taken_at"`
	ClusterID *string    `json:"cluster_id"`
	Errors    []Error    `json:"errors"` // by object, then code and text
}

// Error is something that could not be read.
type Error struct {
	Object string  `json:"object"`
	Code   *string `json:"code"` // Kafka's name
	Text   string  `json:"error"`
	Hint   *string `json:"hint"`
}

func readOf(g *model.Group) Read {
	return Read{TakenAt: g.TakenAt, ClusterID: optional(g.ClusterID), Errors: Errors(g.Errors)}
}

// readOfAll joins what several groups say: the first time and cluster, all
// errors once.
func readOfAll(groups []*model.Group, more []model.ReadError) Read {
	var r Read
	all := slices.Clone(more)
	for _, g := range groups {
		if r.TakenAt == nil {
			r.TakenAt = g.TakenAt
		}
		if r.ClusterID == nil {
			r.ClusterID = optional(g.ClusterID)
		}
		all = append(all, g.Errors...)
	}
	r.Errors = Errors(all)
	return r
}

// Errors turns read errors into their document form, sorted, each once.
func Errors(list []model.ReadError) []Error {
	out := make([]Error, 0, len(list))
	for _, e := range list {
		out = append(out, Error{Object: e.Object, Code: optional(e.Code), Text: e.Text, Hint: optional(e.Hint)})
	}
	return sortedErrors(out)
}

// sortedErrors sorts errors as every document has them, each once.
func sortedErrors(list []Error) []Error {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	order := func(a, b Error) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(text(a.Code), text(b.Code)),
			strings.Compare(a.Text, b.Text), strings.Compare(text(a.Hint), text(b.Hint)))
	}
	out := append(make([]Error, 0, len(list)), list...)
	slices.SortFunc(out, order)
	return slices.CompactFunc(out, func(a, b Error) bool { return order(a, b) == 0 })
}

// optional turns "" into null.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// optionalInt turns 0 into null.
func optionalInt(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

func texts[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}
