package cmd

import (
	"context"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/report"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// versionOptions is everything version needs.
type versionOptions struct {
	d      *deps
	client bool
}

func newVersionCmd(d *deps) *cobra.Command {
	o := &versionOptions{d: d}
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version of this build and of the brokers",
		Long: `Show the version of this build and, where a cluster is configured, what is known
of its brokers: the release as far as API versions tell it (never the patch
level), and whether they know streams groups.`,
		Example: "  streamctl version\n  streamctl version --client -o json",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return runVersion(c.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.client, "client", false, "this build only: nothing is sent")
	return cmd
}

func runVersion(ctx context.Context, o *versionOptions) error {
	rep := report.NewVersion(clientVersion(), []report.BrokerVersion{}, report.ItemOptions{})
	if err := o.d.checkOutput(rep); err != nil {
		return err
	}
	if o.client || o.d.flags.from == "" && len(o.d.conf.List(config.KeyBootstrap)) == 0 {
		return o.d.show(rep)
	}
	c, err := o.d.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.Snapshot(ctx, kclient.Query{APIVersions: true})
	if err != nil {
		return err
	}
	about := report.ItemOptions{TakenAt: s.TakenAt, Errors: readErrors(s)}
	if s.ClusterID != nil {
		about.ClusterID = *s.ClusterID
	}
	if err := o.d.show(report.NewVersion(clientVersion(), brokerVersions(s), about)); err != nil {
		return err
	}
	return snapshotErrors(s)
}

// buildVersion is the version of this build: the module's, or the commit it was
// built from; "devel" where neither is recorded.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := strings.TrimPrefix(info.Main.Version, "v"); v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// clientVersion is this build.
func clientVersion() report.ClientVersion {
	v := report.ClientVersion{Version: buildVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = textOrNull(s.Value)
		}
	}
	return v
}

// keyStreamsDescribe is the API that a broker with streams groups knows.
const keyStreamsDescribe = 89

// brokerVersions is what the brokers' APIs tell about them.
func brokerVersions(s *snapshot.Snapshot) []report.BrokerVersion {
	address := map[int32]string{}
	for _, b := range s.Brokers {
		address[b.ID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	out := []report.BrokerVersion{}
	for i := range s.APIVersions {
		v := &s.APIVersions[i]
		knows := slices.ContainsFunc(v.Keys, func(k snapshot.APIRange) bool { return k.Key == keyStreamsDescribe })
		on := slices.ContainsFunc(v.Features, func(f snapshot.APIFeature) bool { return f.Name == "streams.version" && f.Finalized >= 1 })
		streams := knows && on
		out = append(out, report.BrokerVersion{
			ID: v.Broker, Address: address[v.Broker], Version: textOrNull(kclient.ReleaseOf(v)), StreamsGroups: &streams,
		})
	}
	return out
}
