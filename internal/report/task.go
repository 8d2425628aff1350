package report

import "github.com/streamctl/streamctl/internal/model"

// Task is one task on one member.
type Task struct {
	ID         string                 `json:"id"`
	Role       string                 `json:"role"` // active, standby, learner
	Tags       []string               `json:"tags"` // the draft's names
	Inferred   bool                   `json:"inferred"`
	Reason     *string                `json:"reason"` // why a learner was started, where its leader told: evacuation, balance, unknown
	TargetOnly bool                   `json:"target_only"`
	Release    bool                   `json:"release"`
	Partitions []model.TopicPartition `json:"partitions"`
	Restore    Restore                `json:"restore"`
	Lag        *Lag                   `json:"lag"`
}

// Restore is how far the local state of a task is. Positions are sums over its
// changelogs, in records; null is unknown.
type Restore struct {
	State            string `json:"state"`
	Basis            string `json:"basis"`
	Position         *int64 `json:"position"`
	End              *int64 `json:"end"`
	RemainingRecords *int64 `json:"remaining_records"`
	RemainingBytes   *int64 `json:"remaining_bytes"`
}

// Lag is the input lag of a task, in records.
type Lag struct {
	Records   *int64 `json:"records"`
	Committed *int64 `json:"committed"`
	End       *int64 `json:"end"`
	BeyondEnd int64  `json:"beyond_end"`
}

func newTask(t *model.Task) Task {
	return Task{
		ID: t.ID.String(), Role: string(t.Role), Tags: texts(t.Tags), Inferred: t.Inferred, Reason: optional(t.Reason),
		TargetOnly: t.TargetOnly, Release: t.Release, Partitions: t.Partitions,
		Restore: newRestore(&t.Restore), Lag: newLag(t.Lag),
	}
}

func newRestore(r *model.Restore) Restore {
	out := Restore{
		State: string(r.State), Basis: r.Basis, Position: r.Position, End: r.End,
		RemainingRecords: r.RemainingRecords, RemainingBytes: r.RemainingBytes,
	}
	if out.State == "" {
		out.State = string(model.RestoreUnknown)
	}
	if out.Basis == "" {
		out.Basis = model.RestoreNone
	}
	return out
}

func newLag(l *model.Lag) *Lag {
	if l == nil {
		return nil
	}
	return &Lag{Records: l.Records, Committed: l.Committed, End: l.End, BeyondEnd: l.BeyondEnd}
}

func newTasks(in []model.Task) []Task {
	out := make([]Task, len(in))
	for i := range in {
		out[i] = newTask(&in[i])
	}
	return out
}
