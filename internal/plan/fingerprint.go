package plan

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// Fingerprint identifies what a group was when a plan was made: its state, its
// epochs, its members and their tasks. It is the same for any order of the
// answers, and does not depend on offsets.
func Fingerprint(g *model.Group) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d\x00%d\x00", g.ID, g.Kind, g.State, number(g.Epoch), number(g.AssignmentEpoch))
	var lines []string
	for i := range g.Instances {
		in := &g.Instances[i]
		for j := range in.Members {
			m := &in.Members[j]
			line := in.ID + "\x00" + m.ID + "\x00" + fmt.Sprint(number(m.Epoch))
			for _, t := range m.Tasks {
				line += fmt.Sprintf("\x00%s %s %t", t.ID, roleOnWire(t.Role, g.Kind), t.TargetOnly)
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	for _, l := range lines {
		_, _ = io.WriteString(h, l+"\n") // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// roleOnWire makes a learner of a classic group a standby: which of the two it
// is was inferred and may be judged anew.
func roleOnWire(r model.Role, k model.Kind) model.Role {
	if k == model.Classic && r == model.Learner {
		return model.Standby
	}
	return r
}

func number(n *int32) int32 {
	if n == nil {
		return -1
	}
	return *n
}
