package groupmeta

import (
	"errors"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// classic builds a group of classic Kafka Streams members.
func (b *groupBuilder) classic() {
	if c := b.in.Classic; c != nil {
		b.members = make([]builtMember, 0, len(c.Members))
		for i := range c.Members {
			b.members = append(b.members, b.classicMember(&c.Members[i]))
		}
	}
	b.classicBasis()
	b.summarizeMetadata()
	b.readPlugIn()
	b.nextRebalance()
	b.classicTopology()
	b.placeTasks()
	if b.plugIn != nil {
		b.plugInRoles()
	} else {
		b.inferLearners()
	}
	b.unowned()
	b.markLeftovers()
}

// classicMember decodes one member. Whatever is wrong with it stays in it.
func (b *groupBuilder) classicMember(m *snapshot.ClassicMember) builtMember {
	out := plainMember(m.ID, m.ClientID, m.Host, m.InstanceID)
	out.readSubscription(m.Metadata)
	out.readAssignment(m.Assignment)
	out.runningFromOwned()
	if out.instance == "" {
		out.instance = processOfClientID(b.in.ID, out.ClientID)
	}
	return out
}

// plainMember is a member with what every answer tells.
func plainMember(id, clientID, host string, static *string) builtMember {
	out := builtMember{stays: true}
	out.ID, out.ClientID, out.Host, out.Address = id, clientID, host, host
	_, out.Thread = model.SplitThread(clientID)
	if static != nil {
		out.InstanceID = *static
	}
	return out
}

// processOfClientID reads the process id out of a client id that Streams made
// itself, GROUP-UUID-StreamThread-N-consumer; "" for others.
func processOfClientID(group, clientID string) string {
	id, ok := strings.CutPrefix(model.ClientBase(clientID), group+"-")
	if !ok {
		return ""
	}
	p, err := ParseProcessID(id)
	if err != nil {
		return ""
	}
	return p.String()
}

func (m *builtMember) badMetadata(raw []byte, err error) {
	m.Metadata.Status = model.MetadataMalformed
	m.Metadata.Error = err.Error()
	if d, ok := errors.AsType[*DecodeError](err); ok {
		m.Metadata.ErrorField, m.Metadata.ErrorOffset = d.Field, d.Offset
	}
	m.Metadata.UserData = raw
}

// readSubscription reads what the member told the leader. Zero bytes are
// normal and mean that nothing is known (wire-formats.md, section 1).
func (m *builtMember) readSubscription(raw []byte) {
	if len(raw) == 0 {
		m.Metadata.Status = model.MetadataEmpty
		return
	}
	frame, err := DecodeConsumerSubscription(raw)
	m.Metadata.Topics = sortedTopics(frame.Topics)
	m.rack = frame.Rack
	m.setOwned(frame.Owned)
	if err != nil {
		m.badMetadata(raw, err)
		return
	}
	m.Metadata.Status = model.MetadataOK
	m.Metadata.TrailingBytes = frame.TrailingBytes
	if e := frame.TrailingError(len(raw)); e != nil {
		m.trailing(e)
	}
	if frame.UserData == nil {
		m.Metadata.Status, m.Metadata.Error = model.MetadataMalformed, "no Streams metadata"
		return
	}
	m.readInfo(frame.UserData)
}

// trailing records bytes after the last known field: the known ones stand.
func (m *builtMember) trailing(e *DecodeError) {
	if m.Metadata.Error == "" {
		m.Metadata.Error, m.Metadata.ErrorField, m.Metadata.ErrorOffset = e.Error(), e.Field, e.Offset
	}
}

func (m *builtMember) readInfo(raw []byte) {
	info, err := DecodeSubscriptionInfo(raw)
	if info.Version > 0 {
		m.Metadata.UsedVersion = info.Version
		m.Metadata.SupportedVersion = info.Version
		if info.LatestSupportedVersion > 0 {
			m.Metadata.SupportedVersion = info.LatestSupportedVersion
		}
	}
	switch {
	case err != nil:
		m.badMetadata(raw, err)
		if d, ok := errors.AsType[*DecodeError](err); !ok || slices.Contains([]string{"version", "latestSupportedVersion", "processId"}, d.Field) {
			return
		}
	case info.NotUnderstood():
		m.Metadata.Status = model.MetadataNewer
		m.Metadata.UserData = raw
		return
	}
	if info.TrailingBytes > 0 {
		m.Metadata.TrailingBytes += info.TrailingBytes
		m.trailing(info.TrailingError(len(raw)))
	}
	m.instance, m.process = info.ProcessID.String(), true
	m.endpoint = info.UserEndPoint
	m.Metadata.ErrorCode = int32(info.ErrorCode)
	for _, t := range info.ClientTags {
		if m.tags == nil {
			m.tags = make(map[string]string, len(info.ClientTags))
		}
		m.tags[t.Key] = t.Value
	}
	m.setSums(&info)
}

// setSums keeps the offset sums. Formats before 7 only say what ran and what
// had state; what ran may be stateless there.
func (m *builtMember) setSums(info *SubscriptionInfo) {
	m.sums = make(map[model.TaskID]int64, len(info.TaskOffsetSums)+len(info.PrevTasks)+len(info.StandbyTasks))
	for _, t := range info.TaskOffsetSums {
		m.sums[t.ID()] = t.OffsetSum
	}
	if info.Version < firstWithSums {
		for _, t := range info.StandbyTasks {
			m.sums[t.ID()] = SumUnknown
		}
		for _, t := range info.PrevTasks {
			m.sums[t.ID()] = SumRunning
		}
	}
}

// runningFromOwned takes what runs from the owned partitions in formats 5 and
// 6: with cooperative rebalancing 2.4 and 2.5 leave their task lists empty.
func (m *builtMember) runningFromOwned() {
	if m.sums == nil || m.Metadata.UsedVersion < 5 || m.Metadata.UsedVersion >= firstWithSums {
		return
	}
	for i := range m.Tasks {
		t := &m.Tasks[i]
		if t.Role == model.Active && len(t.Partitions) > 0 && !slices.ContainsFunc(t.Partitions, func(p model.TopicPartition) bool { return !m.owned[p] }) {
			m.sums[t.ID] = SumRunning
		}
	}
}

// firstWithSums is the first format with offset sums and learners.
const firstWithSums = 7

func (m *builtMember) setOwned(topics []TopicPartitions) {
	partitions := SortedPartitions(topics)
	if len(partitions) == 0 {
		return
	}
	m.owned = make(map[model.TopicPartition]bool, len(partitions))
	for _, p := range partitions {
		m.owned[p] = true
	}
	slices.SortFunc(partitions, model.TopicPartition.Compare)
	m.Metadata.Owned = partitions
}

func sortedTopics(topics []string) []string {
	out := slices.Clone(topics)
	slices.Sort(out)
	return slices.Compact(out)
}

// classicBasis says which round the assignments belong to
// (broker-facts.md, section 2).
func (b *groupBuilder) classicBasis() {
	given := slices.ContainsFunc(b.members, func(m builtMember) bool { return m.Assignment.Status != model.MetadataEmpty })
	switch {
	case !given:
	case b.g.State == model.StateStable || b.g.State == "":
		b.g.AssignmentBasis = model.AssignmentCurrent
	default:
		b.g.AssignmentBasis = model.AssignmentPrevious
	}
	if b.g.AssignmentBasis != model.AssignmentNone {
		reported := slices.ContainsFunc(b.members, func(m builtMember) bool { return m.sums != nil })
		if reported {
			b.g.Positions.Basis = model.PositionsLastRound
		}
	}
	for i := range b.members {
		switch b.members[i].Assignment.Status {
		case model.MetadataOK:
		case model.MetadataEmpty: // in a rebalance it was not there in the round before
			b.unknown = b.unknown || b.g.AssignmentBasis == model.AssignmentCurrent
		default:
			b.unknown = true
		}
	}
}
