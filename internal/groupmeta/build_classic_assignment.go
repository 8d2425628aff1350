package groupmeta

import (
	"errors"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

func (m *builtMember) badAssignment(err error) {
	m.Assignment.Status, m.Assignment.Error = model.MetadataMalformed, err.Error()
}

// readAssignment reads what the leader told the member.
func (m *builtMember) readAssignment(raw []byte) {
	if len(raw) == 0 {
		m.Assignment.Status = model.MetadataEmpty
		m.newcomer = true
		return
	}
	frame, err := DecodeConsumerAssignment(raw)
	if err != nil {
		m.badAssignment(err)
		return
	}
	m.Assignment.Status = model.MetadataOK
	m.Assignment.TrailingBytes = frame.TrailingBytes
	if e := frame.TrailingError(len(raw)); e != nil {
		m.Assignment.Error = e.Error()
	}
	if frame.UserData == nil {
		if len(frame.Assigned) > 0 {
			m.badAssignment(errors.New("no Streams metadata"))
		}
		return
	}
	info, err := DecodeAssignmentInfo(frame.UserData)
	m.Assignment.UsedVersion = info.Version
	switch {
	case err != nil:
		m.badAssignment(err)
		return
	case info.NotUnderstood():
		m.Assignment.Status = model.MetadataNewer
		return
	}
	if info.TrailingBytes > 0 {
		m.Assignment.TrailingBytes += info.TrailingBytes
		m.Assignment.Error = info.TrailingError(len(frame.UserData)).Error()
	}
	m.Assignment.ErrorCode = int32(info.ErrorCode)
	if info.Version >= firstWithSums {
		next := info.NextRebalanceMs
		m.next = &next
		m.Assignment.NextRebalanceMs = &next
	}
	m.addTasks(&frame, &info)
}

// addTasks lists the member's tasks: actives paired with their partitions,
// then all copies as standbys (wire-formats.md, sections 6 and 10).
func (m *builtMember) addTasks(frame *ConsumerAssignment, info *AssignmentInfo) {
	active, err := PairActive(frame.Assigned, info.ActiveTasks)
	if err != nil {
		m.badAssignment(err)
	}
	m.Tasks = make([]model.Task, 0, len(active)+len(info.StandbyTasks))
	for _, t := range active {
		slices.SortFunc(t.Partitions, model.TopicPartition.Compare)
		m.Tasks = append(m.Tasks, model.Task{ID: t.ID(), Role: model.Active, Partitions: t.Partitions})
	}
	seen := make(map[model.TaskID]bool, len(info.StandbyTasks))
	for _, t := range info.StandbyTasks {
		id := t.ID()
		if seen[id] {
			continue
		}
		seen[id] = true
		partitions := slices.Clone(t.Partitions)
		slices.SortFunc(partitions, model.TopicPartition.Compare)
		m.Tasks = append(m.Tasks, model.Task{ID: id, Role: model.Standby, Partitions: partitions})
	}
}
