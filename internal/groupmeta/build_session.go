package groupmeta

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// maxSession is the longest session that is believed, a day in ms: brokers allow
// half an hour unless they are told otherwise.
const maxSession = 86_400_000

// sessionOfWorkers takes over the session timeout that workers say they have
// (docs/protocol/control.md, status): the longest, where they differ.
func (b *groupBuilder) sessionOfWorkers(known map[string]*model.Instance) {
	if b.g.Kind != model.Worker {
		return
	}
	var longest int64
	for id, s := range b.control.Status {
		if known[id] != nil && s.Source == control.SourceWorker && s.Session != nil && *s.Session <= maxSession {
			longest = max(longest, *s.Session)
		}
	}
	if longest == 0 {
		return
	}
	b.g.Timing.SessionMs = &longest
	b.g.Timing.Source = cmp.Or(b.g.Timing.Source, model.SourceWorkers)
	b.g.Facts.Settings = append(b.g.Facts.Settings, model.Setting{Key: "session.timeout.ms", Value: strconv.FormatInt(longest, 10), Source: model.SourceWorkers})
	slices.SortFunc(b.g.Facts.Settings, func(x, y model.Setting) int { return strings.Compare(x.Key, y.Key) })
}
