package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// fileCluster answers from a snapshot file. It holds what it holds, so of a
// query only the names count.
type fileCluster struct {
	path string
	s    *snapshot.Snapshot
}

// fileCluster reads a snapshot file, or stdin for "-".
func (d *deps) fileCluster(ctx context.Context, path string) (Cluster, error) {
	s, err := d.readSnapshot(ctx, path)
	if err != nil {
		return nil, err
	}
	return &fileCluster{path: path, s: s}, nil
}

// readSnapshot reads a snapshot file, or stdin for "-", for as long as ctx lasts.
func (d *deps) readSnapshot(ctx context.Context, path string) (*snapshot.Snapshot, error) {
	return within(ctx, func() (*snapshot.Snapshot, error) { return d.readSnapshotFile(path) })
}

func (d *deps) readSnapshotFile(path string) (*snapshot.Snapshot, error) {
	var in io.Reader = d.io.In
	if path != "-" {
		f, err := d.open(path)
		if err != nil {
			return nil, errs.WithCode(fmt.Errorf("snapshot file: %w", err), errs.Failed)
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	s, err := snapshot.Read(in)
	if err != nil {
		return nil, errs.WithHint(fmt.Errorf("snapshot file %q: %w", path, err), "streamctl snapshot GROUP -f FILE writes one")
	}
	return s, nil
}

// Snapshot returns the groups of the file that the query is about.
func (f *fileCluster) Snapshot(_ context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	out := *f.s
	out.Groups = nil
	for _, g := range f.s.Groups {
		if q.ListAll && (q.Match == nil || q.Match(g.ID)) || slices.Contains(q.Groups, g.ID) {
			out.Groups = append(out.Groups, g)
		}
	}
	return &out, nil
}

// Close does nothing.
func (f *fileCluster) Close() {}
