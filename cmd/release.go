package cmd

import (
	"regexp"

	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// tellRelease notes of a streams group which release its coordinator is of,
// where the group itself does not tell: the rules of the broker's assignor hang
// on it. API versions that fit several releases count as the oldest of them.
func tellRelease(s *snapshot.Snapshot, g *model.Group) {
	if g.Kind != model.Streams || g.Facts.KafkaVersion != "" || g.Coordinator == nil {
		return
	}
	for i := range s.APIVersions {
		if v := &s.APIVersions[i]; v.Broker == g.Coordinator.ID {
			g.Facts.KafkaVersion = firstRelease(kclient.ReleaseOf(v))
			return
		}
	}
}

// firstRelease is the first release that a text such as "between v4.1 and v4.2"
// names, "4.1"; "" where it names none.
func firstRelease(text string) string {
	m := regexp.MustCompile(`v(\d+\.\d+)`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}
