package groupmeta

import (
	"strings"

	"github.com/streamctl/streamctl/internal/control"
)

// nameByStatus names a member of which a rebalance hides what it says of itself:
// its client id is that of its process with the label of the worker behind, and
// the status of the process has the former (docs/protocol/control.md, status).
// Which process of that name it is stays open, so its id is not taken over.
func (w *workerBuild) nameByStatus(out *builtMember) {
	if w.b.control == nil {
		return
	}
	if w.named == nil {
		w.named = make(map[string]bool, len(w.b.control.Status))
		for _, s := range w.b.control.Status {
			if s.Source == control.SourceWorker && s.Left == "" && s.ClientID != "" {
				w.named[s.ClientID] = true
			}
		}
	}
	at := strings.LastIndex(out.ClientID, "-w")
	if at < 0 || !w.named[out.ClientID[:at]] || strings.Trim(out.ClientID[at+2:], "0123456789") != "" {
		return
	}
	out.base, out.instance, out.Name = out.ClientID[:at], clientPrefix+out.ClientID[:at], out.ClientID[at+1:]
}
