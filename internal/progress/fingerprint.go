package progress

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Fingerprint is 16 hex digits over members, their tasks and the epochs. Two
// looks with the same fingerprint show the same assignment. A describe gives no
// generation, so a round that changes nothing leaves it as it is. Copies of a
// classic group count as copies, whether they are taken for standbys or for
// learners, since that is inferred.
func Fingerprint(g *model.Group) string {
	var lines []string
	for _, in := range g.Instances {
		for _, m := range in.Members {
			lines = append(lines, m.ID+" "+taskWords(g.Kind, m.Tasks))
		}
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, l := range lines {
		fmt.Fprintln(h, l)
	}
	fmt.Fprintln(h, epochText(g.Epoch), epochText(g.AssignmentEpoch))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// taskWords lists the tasks a member holds, for example "0_0 0_1 1_0(copy)";
// tasks that are only in the target are marked.
func taskWords(kind model.Kind, tasks []model.Task) string {
	words := make([]string, 0, len(tasks))
	for _, t := range tasks {
		words = append(words, taskWord(kind, t))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func taskWord(kind model.Kind, t model.Task) string {
	w := t.ID.String()
	switch {
	case t.TargetOnly:
		w += "(target)"
	case t.Role == model.Active:
	case kind == model.Classic:
		w += "(copy)"
	default:
		w += "(" + string(t.Role) + ")"
	}
	return w
}

func epochText(e *int32) string { return orDash(epochOrNothing(e)) }
