package lab

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// groups holds recorded snapshots of real classic groups; README.md there says
// where they come from.
//
//go:embed groups/*.json
var groups embed.FS

// Builtin gives the groups that a lab holds when nothing else is asked for: a
// classic group in the middle of a scale-out, one that rebalances, one of mixed
// metadata versions, an Empty one with commits, a plain consumer group, and a
// worker group in the middle of a scale-down.
func Builtin() ([]*snapshot.Snapshot, error) {
	names, err := fs.Glob(groups, "groups/*.json")
	if err != nil {
		return nil, err
	}
	out := make([]*snapshot.Snapshot, 0, len(names)+1)
	for _, n := range names {
		b, err := groups.ReadFile(n)
		if err != nil {
			return nil, err
		}
		s, err := snapshot.Read(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("built-in group %q: %w", n, err)
		}
		out = append(out, s)
	}
	w, err := workerSnapshot()
	if err != nil {
		return nil, err
	}
	return append(out, w), nil
}
