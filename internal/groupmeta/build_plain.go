package groupmeta

import (
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// plain builds a group that is no stream group: its state and its members,
// without decoding more than the partitions of plain consumers (field case
// 42).
func (b *groupBuilder) plain() {
	b.partitionOwners = make(map[model.TopicPartition]string)
	switch {
	case b.g.Kind == model.Consumer && b.in.Consumer != nil && b.in.Consumer.ErrorCode == codeNone:
		b.consumerMembers(b.in.Consumer)
	case b.in.Classic != nil:
		b.classicMembers(b.in.Classic)
	}
	b.unknown = true
	b.placeTasks()
}

func (b *groupBuilder) consumerMembers(c *snapshot.ConsumerGroup) {
	epoch := c.Epoch
	b.g.Epoch = &epoch
	b.g.Assignor = c.Assignor
	for i := range c.Members {
		m := &c.Members[i]
		out := plainMember(m.ID, m.ClientID, m.ClientHost, m.InstanceID)
		out.Metadata.Status, out.Assignment.Status = model.MetadataOK, model.MetadataOK
		b.members = append(b.members, out)
		for _, p := range m.Partitions {
			b.ownPartition(p, m.ID)
		}
	}
}

func (b *groupBuilder) classicMembers(c *snapshot.ClassicGroup) {
	for i := range c.Members {
		m := &c.Members[i]
		out := plainMember(m.ID, m.ClientID, m.Host, m.InstanceID)
		out.Metadata.Status, out.Assignment.Status = statusOfBytes(m.Metadata), statusOfBytes(m.Assignment)
		b.members = append(b.members, out)
		if b.g.Kind != model.Consumer {
			continue
		}
		frame, err := DecodeConsumerAssignment(m.Assignment)
		if err != nil {
			continue
		}
		for _, p := range SortedPartitions(frame.Assigned) {
			b.ownPartition(p, m.ID)
		}
	}
}

// ownPartition notes who reads a partition; of two that say so the lower id,
// so that their order means nothing.
func (b *groupBuilder) ownPartition(p model.TopicPartition, member string) {
	if o, ok := b.partitionOwners[p]; !ok || member < o {
		b.partitionOwners[p] = member
	}
}

func statusOfBytes(raw []byte) model.MetadataStatus {
	if len(raw) == 0 {
		return model.MetadataEmpty
	}
	return model.MetadataOK
}

// plainPartitions tells which member of a plain consumer group reads what.
func (b *groupBuilder) plainPartitions() map[model.TopicPartition]string { return b.partitionOwners }
