package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Cause infers why a group went from one assignment to another, in words; no
// request carries it to the outside (field case 5). Several causes are joined
// by "; ". Without any that is seen it is "assignment only".
func Cause(before, after *model.Group, at time.Time) string {
	var out []string
	b, a := membersByID(before), membersByID(after)
	back := map[string]bool{} // static ids that changed their member id
	static := map[string]bool{}
	for id, m := range b {
		if m.InstanceID != "" && a[id] == nil {
			static[m.InstanceID] = true
		}
	}
	for id, m := range a {
		if b[id] == nil && static[m.InstanceID] {
			back[m.InstanceID] = true
		}
	}
	for _, id := range unionKeys(b, a) {
		mb, ma := b[id], a[id]
		switch {
		case mb == nil && back[ma.InstanceID]:
			out = append(out, fmt.Sprintf("static member %s came back", ma.InstanceID))
		case ma == nil && back[mb.InstanceID]:
		case mb == nil:
			out = append(out, fmt.Sprintf("member %s joined", ma.Name))
		case ma == nil:
			out = append(out, fmt.Sprintf("member %s left", mb.Name))
		default:
			if c := metadataChanges(mb, ma); len(c) > 0 {
				words := make([]string, 0, len(c))
				for _, x := range c {
					words = append(words, strings.TrimSpace(fmt.Sprintf("%s %s -> %s", x.What, orDash(x.Before), orDash(x.After))))
				}
				out = append(out, fmt.Sprintf("metadata of %s changed (%s)", ma.Name, strings.Join(words, ", ")))
			}
		}
	}
	compare(partitionsByTopic(before), partitionsByTopic(after), func(topic, pb, pa string) {
		if pb != "" && pa != "" && pb != pa {
			out = append(out, fmt.Sprintf("partitions of %s %s -> %s", topic, pb, pa))
		}
	})
	if n := before.NextRebalance; len(out) == 0 && n != nil {
		switch {
		case n.RawMs == 0:
			out = append(out, "follow-up that the round before asked for")
		case n.At != nil && !n.At.After(at):
			out = append(out, "planned probing rebalance")
		}
	}
	if len(out) == 0 {
		return "assignment only"
	}
	return strings.Join(out, "; ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
