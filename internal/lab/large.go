package lab

import (
	"encoding/binary"
	"fmt"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Large says how many groups of made-up members a lab is to hold, to measure
// with.
type Large struct {
	Groups  int // small classic groups of one member and one task each
	Members int // members of one large classic group; 0: none
	Tasks   int // stateful tasks of that group, dealt round over its members
}

// Names of what Large creates.
const (
	LargeGroup       = "large"
	largeSource      = "large-orders"
	largeChangelog   = "large-counts-changelog"
	smallSource      = "small-orders"
	largeEnd         = 20 // records a partition
	threadsPerMember = 4  // members of one instance
)

// LargeSnapshot makes the answers that a broker would give about the groups
// that Large describes; Replay brings them to life.
func LargeSnapshot(l Large) (*snapshot.Snapshot, error) {
	s := snapshot.New()
	if l.Groups > 0 {
		s.Topics = append(s.Topics, topic(smallSource, 1))
		meta, assigned, err := memberBytes(processID(0), []string{smallSource}, []groupmeta.Task{{}}, smallSource)
		if err != nil {
			return nil, err
		}
		for i := range l.Groups {
			name := fmt.Sprintf("app-%05d", i)
			s.Groups = append(s.Groups, classicGroup(name, []snapshot.ClassicMember{
				{ID: name, ClientID: name + "-StreamThread-1-consumer", Metadata: meta, Assignment: assigned},
			}))
		}
	}
	if l.Members > 0 {
		g, err := largeGroup(l)
		if err != nil {
			return nil, err
		}
		s.Groups = append(s.Groups, g)
		for _, t := range []string{largeSource, largeChangelog} {
			s.Topics = append(s.Topics, topic(t, l.Tasks))
			for p := range l.Tasks {
				start, end := int64(0), int64(largeEnd)
				s.Logs = append(s.Logs, snapshot.Log{Topic: t, Partition: int32(p), Start: &start, End: &end})
			}
		}
	}
	return s, nil
}

func largeGroup(l Large) (snapshot.Group, error) {
	members := make([]snapshot.ClassicMember, l.Members)
	for m := range members {
		var tasks []groupmeta.Task
		for t := m; t < l.Tasks; t += l.Members {
			tasks = append(tasks, groupmeta.Task{Partition: int32(t)})
		}
		meta, assigned, err := memberBytes(processID(m/threadsPerMember), []string{largeSource}, tasks, largeSource)
		if err != nil {
			return snapshot.Group{}, err
		}
		id := fmt.Sprintf("pod-%03d-StreamThread-%d-consumer", m/threadsPerMember, m%threadsPerMember+1)
		members[m] = snapshot.ClassicMember{ID: id, ClientID: id, Metadata: meta, Assignment: assigned}
	}
	g := classicGroup(LargeGroup, members)
	g.CommitsRead = true
	for p := range l.Tasks {
		g.Commits = append(g.Commits, snapshot.Commit{Topic: largeSource, Partition: int32(p), Offset: largeEnd - int64(p%3)})
	}
	return g, nil
}

// memberBytes encodes what a 4.x Streams client that runs the tasks sends and
// is sent.
func memberBytes(process groupmeta.ProcessID, topics []string, tasks []groupmeta.Task, source string) (meta, assigned []byte, err error) {
	info := groupmeta.SubscriptionInfo{Version: groupmeta.NewestFormat, LatestSupportedVersion: groupmeta.NewestFormat, ProcessID: process}
	given := groupmeta.AssignmentInfo{
		Version: groupmeta.NewestFormat, CommonlySupportedVersion: groupmeta.NewestFormat, ActiveTasks: tasks,
		NextRebalanceMs: groupmeta.NoRebalance,
	}
	var owned []model.TopicPartition
	for _, t := range tasks {
		info.TaskOffsetSums = append(info.TaskOffsetSums, groupmeta.TaskOffsetSum{Task: t, OffsetSum: groupmeta.SumRunning})
		owned = append(owned, model.TopicPartition{Topic: source, Partition: t.Partition})
	}
	data, err := info.Encode()
	if err != nil {
		return nil, nil, err
	}
	parts := groupmeta.GroupByTopic(owned)
	sub := groupmeta.ConsumerSubscription{Version: 3, Topics: topics, UserData: data, Owned: parts, Generation: groupmeta.NoGeneration}
	if meta, err = sub.Encode(); err != nil {
		return nil, nil, err
	}
	if data, err = given.Encode(); err != nil {
		return nil, nil, err
	}
	asg := groupmeta.ConsumerAssignment{Version: 3, Assigned: parts, UserData: data}
	assigned, err = asg.Encode()
	return meta, assigned, err
}

func classicGroup(id string, members []snapshot.ClassicMember) snapshot.Group {
	return snapshot.Group{ID: id, Classic: &snapshot.ClassicGroup{
		State: model.StateStable, ProtocolType: "consumer", Protocol: streamsProtocol, Members: members,
	}}
}

func topic(name string, partitions int) snapshot.Topic {
	t := snapshot.Topic{Name: name, Partitions: make([]snapshot.TopicPartition, partitions)}
	for i := range t.Partitions {
		t.Partitions[i].Partition = int32(i)
	}
	return t
}

func processID(n int) (id groupmeta.ProcessID) {
	id[0] = 0x10
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}
