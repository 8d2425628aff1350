package progress

import (
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// start is the moment the looks of these tests count from.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

func ptr[T any](v T) *T { return &v }

// group makes a Stable classic group out of words: "pod-a/T1: 0_0 0_1 0_2s
// 0_3l", where s is a standby and l a learner. The id of a member is its name
// with "id-" in front, that of an instance "uuid-" and its name.
func group(lines ...string) *model.Group {
	g := &model.Group{
		ID: "shop", Kind: model.Classic, State: model.StateStable, AssignmentBasis: model.AssignmentCurrent,
		Positions: model.Positions{Basis: "last round"},
	}
	for _, l := range lines {
		name, rest, _ := strings.Cut(l, ":")
		host, thread, _ := strings.Cut(name, "/")
		m := model.Member{ID: "id-" + name, Name: name, ClientID: host + "-StreamThread-" + thread[1:] + "-consumer",
			Metadata: model.MemberMetadata{Status: model.MetadataOK, UsedVersion: 11, SupportedVersion: 11}}
		for _, w := range strings.Fields(rest) {
			t := model.Task{Role: model.Active}
			switch {
			case strings.HasSuffix(w, "s"):
				t.Role = model.Standby
			case strings.HasSuffix(w, "l"):
				t.Role = model.Learner
			}
			id, err := model.ParseTaskID(strings.TrimRight(w, "sl"))
			if err != nil {
				panic(err)
			}
			t.ID = id
			t.Partitions = []model.TopicPartition{{Topic: "orders", Partition: id.Partition}}
			m.Tasks = append(m.Tasks, t)
		}
		if n := len(g.Instances); n == 0 || g.Instances[n-1].Name != host {
			g.Instances = append(g.Instances, model.Instance{ID: "uuid-" + host, Name: host})
		}
		in := &g.Instances[len(g.Instances)-1]
		in.Members = append(in.Members, m)
	}
	return g
}

func in(g *model.Group, state string) *model.Group {
	g.State = state
	if state == model.StatePreparingRebalance || state == model.StateCompletingRebalance {
		g.AssignmentBasis = model.AssignmentPrevious
	}
	return g
}

// task finds one task on one member.
func task(g *model.Group, member, id string) *model.Task {
	var out *model.Task
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		if m.Name == member && t.ID.String() == id {
			out = t
		}
	})
	return out
}
