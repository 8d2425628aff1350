package plan

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// Fingerprint is 16 hex digits over members, their tasks and the epochs, the
// same for any order of the answers. Two looks with the same fingerprint show
// the same assignment. A describe gives no generation, so a round that changes
// nothing leaves it as it is; nor does it hang on the state and on offsets.
func Fingerprint(g *model.Group) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%d\x00%d\n", number(g.Epoch), number(g.AssignmentEpoch))
	var lines []string
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			m := &g.Instances[i].Members[j]
			tasks := make([]string, len(m.Tasks))
			for k, t := range m.Tasks {
				tasks[k] = fmt.Sprintf("\x00%s %s %t", t.ID, roleOnWire(t.Role, g.Kind), t.TargetOnly)
			}
			slices.Sort(tasks)
			lines = append(lines, fmt.Sprintf("%q%q\n", m.ID, tasks))
		}
	}
	slices.Sort(lines)
	for _, l := range lines {
		_, _ = io.WriteString(h, l) // a hash takes everything
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
