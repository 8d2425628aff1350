package scenario

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/javaorder"
)

// AppendResult appends a result of the scenario as JSON, in the form and order
// of testdata/assign.
func (s *Kafka) AppendResult(b []byte, r *assign.Result) []byte {
	w := &resultWriter{b: b, group: s.Group}
	if s.Assignor == assign.NameStreamsSticky {
		w.streams(r)
	} else {
		w.classic(r)
	}
	return w.b
}

// resultWriter writes JSON without a detour; the lists of large groups are long.
type resultWriter struct {
	b     []byte
	group *assign.Group
}

func (w *resultWriter) classic(r *assign.Result) {
	w.text(`{"probing":`)
	w.b = strconv.AppendBool(w.b, r.Probing)
	w.text(`,"stable":`)
	w.b = strconv.AppendBool(w.b, r.Stable)
	w.text(`,"active_movements":`)
	w.b = strconv.AppendInt(w.b, int64(r.ActiveMovements), 10)
	w.text(`,"standby_movements":`)
	w.b = strconv.AppendInt(w.b, int64(r.StandbyMovements), 10)
	w.text(`,"processes":{`)
	for k, i := range w.processes() {
		p := &r.Processes[i]
		w.key(k, w.group.Processes[i].ID)
		w.tasks(`{"active":`, p.Active)
		w.tasks(`,"standby":`, p.Standby)
		w.tasks(`,"warmup":`, p.Warmup)
		w.tasks(`,"target_active":`, p.TargetActive)
		w.tasks(`,"target_standby":`, p.TargetStandby)
		w.text(`}`)
	}
	w.text(`},"consumers":{`)
	for k, i := range w.members() {
		m := &r.Members[i]
		w.key(k, w.group.Members[i].ID)
		w.tasks(`{"active":`, m.Active)
		w.tasks(`,"standby":`, m.Standby)
		w.text(`,"next_rebalance":"` + m.Next.String() + `"}`)
	}
	w.text(`}}`)
}

func (w *resultWriter) streams(r *assign.Result) {
	w.text(`{"members":{`)
	for k, i := range w.members() {
		m := &r.Members[i]
		w.key(k, w.group.Members[i].ID)
		w.tasks(`{"active":`, m.Active)
		w.tasks(`,"standby":`, m.Standby)
		w.tasks(`,"warmup":`, m.Warmup)
		w.text(`}`)
	}
	w.text(`}}`)
}

// processes gives the processes as Java compares their ids.
func (w *resultWriter) processes() []int {
	ids := make([]javaorder.UUID, len(w.group.Processes))
	order := make([]int, len(ids))
	for i, p := range w.group.Processes {
		ids[i], _ = javaorder.ParseUUID(p.ID) // it was read from one
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return ids[a].Compare(ids[b]) })
	return order
}

// members gives the members as Java compares their ids.
func (w *resultWriter) members() []int {
	order := make([]int, len(w.group.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return javaorder.CompareStrings(w.group.Members[a].ID, w.group.Members[b].ID) })
	return order
}

func (w *resultWriter) text(s string) { w.b = append(w.b, s...) }

// key writes the key of the k-th field of an object.
func (w *resultWriter) key(k int, id string) {
	if k > 0 {
		w.b = append(w.b, ',')
	}
	w.b = append(appendText(w.b, id), ':')
}

func (w *resultWriter) tasks(before string, tasks []assign.Task) {
	w.text(before)
	w.b = append(w.b, '[')
	for k, t := range tasks {
		if k > 0 {
			w.b = append(w.b, ',')
		}
		w.b = appendText(w.b, w.group.Topology.ID(t).String())
	}
	w.b = append(w.b, ']')
}

// appendText appends a text as JSON.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always can be
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
