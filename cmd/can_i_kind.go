package cmd

import (
	"context"
	"strings"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
)

// kindToAsk is the kind of a group, "" where it cannot be told: it may be hidden,
// or not be there yet.
func kindToAsk(ctx context.Context, c Cluster, group string) model.Kind {
	if group == "" {
		return ""
	}
	s, err := c.Snapshot(ctx, kclient.Query{Groups: []string{group}, Describe: true})
	if err != nil {
		return ""
	}
	g, err := groupmeta.Build(s, group, groupmeta.BuildOptions{SkipOffsets: true})
	if err != nil || !g.Kind.IsStream() {
		return ""
	}
	return g.Kind
}

// neededBy reports whether groups of a kind need this; nil where the kind is not
// known. A need that is of some kinds only says so at the beginning.
func (n *need) neededBy(kind model.Kind) *bool {
	if kind == "" {
		return nil
	}
	only, _, some := strings.Cut(n.purpose, ": ")
	needed := true
	switch {
	case !some:
	case only == "streams groups":
		needed = kind == model.Streams
	case only == "apps with the plug-in":
		needed = kind == model.Classic
	}
	return &needed
}
