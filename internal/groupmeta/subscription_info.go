package groupmeta

import (
	"encoding/binary"
	"math"
)

// SubscriptionInfo, by format:
//
//	1   version, processId, prevTasks, standbyTasks
//	2   userEndPoint
//	3   latestSupportedVersion
//	4-6 nothing
//	7   taskOffsetSums instead of the two task lists
//	8   uniqueField
//	9   errorCode
//	10  named topologies: taskOffsetSums becomes a flat list
//	11  clientTags
//
// A newer format is not understood: only its two leading numbers are read.

// NewestFormat is the newest format of SubscriptionInfo and AssignmentInfo
// known here.
const NewestFormat = 11

// Values of an offset sum that are no sum.
const (
	SumRunning  = -2            // active and running on that thread when it joined
	SumUnknown  = -3            // made up by the JVM for the standby list of formats 1 to 6
	SumOverflow = math.MaxInt64 // pinned
)

// TaskOffsetSum is how far a member's local state of one task is.
type TaskOffsetSum struct {
	Task
	OffsetSum int64 // sum of positions in records, SumRunning or SumUnknown
}

// ClientTag is one client.tag.KEY=VALUE of a member.
type ClientTag struct{ Key, Value string }

// SubscriptionInfo is what a Streams member tells the leader at each join.
// Lists are in wire order, which means nothing.
type SubscriptionInfo struct {
	Version                int32 // the format
	LatestSupportedVersion int32 // 3+; -1 in formats 1 and 2
	ProcessID              ProcessID
	PrevTasks              []Task // 1-6: tasks that were active
	StandbyTasks           []Task // 1-6: tasks with local state that were not active
	UserEndPoint           string // 2+; "" is none
	TaskOffsetSums         []TaskOffsetSum
	UniqueField            int8        // 8+; only makes the bytes differ at each join
	ErrorCode              ErrorCode   // 9+
	ClientTags             []ClientTag // 11+
	TrailingBytes          int         // bytes after the last field
}

// NotUnderstood reports that the format is newer than this build knows: only
// the two version numbers are filled in.
func (s *SubscriptionInfo) NotUnderstood() bool { return s.Version > NewestFormat }

// TrailingError reports bytes after the last field; nil when there are none.
// size is the length of the structure.
func (s *SubscriptionInfo) TrailingError(size int) *DecodeError {
	return trailingError(KindSubscription, int(s.Version), size, s.TrailingBytes)
}

// PrevActive returns the tasks that were active on the member when it joined,
// sorted: prevTasks, or from format 7 on the tasks that were running.
func (s *SubscriptionInfo) PrevActive() []Task {
	if s.Version < 7 {
		return SortedTasks(s.PrevTasks)
	}
	return s.tasksWith(true)
}

// PrevStandby returns the tasks of which the member had local state without
// running them, sorted.
func (s *SubscriptionInfo) PrevStandby() []Task {
	if s.Version < 7 {
		return SortedTasks(s.StandbyTasks)
	}
	return s.tasksWith(false)
}

func (s *SubscriptionInfo) tasksWith(running bool) []Task {
	out := make([]Task, 0, len(s.TaskOffsetSums))
	for _, t := range s.TaskOffsetSums {
		if (t.OffsetSum == SumRunning) == running {
			out = append(out, t.Task)
		}
	}
	return SortedTasks(out)
}

// DecodeSubscriptionInfo reads the user data of a subscription frame. On an
// error the value holds the fields before it. Trailing bytes are no error
// here, nor is a newer format: see TrailingError and NotUnderstood.
func DecodeSubscriptionInfo(b []byte) (SubscriptionInfo, error) {
	r := newWireReader(KindSubscription, b)
	s := SubscriptionInfo{LatestSupportedVersion: -1}
	s.Version = r.format()
	if s.Version >= 3 {
		s.LatestSupportedVersion = r.int32("latestSupportedVersion")
	}
	if r.err != nil {
		return s, r.err
	}
	if s.NotUnderstood() {
		return s, nil
	}
	if s.Version >= 3 && s.LatestSupportedVersion < s.Version {
		r.fail("latestSupportedVersion", 4, "%d is below the used version %d", s.LatestSupportedVersion, s.Version)
	}
	if r.has("processId", len(s.ProcessID)) {
		s.ProcessID = ProcessID(r.take(len(s.ProcessID)))
	}
	if s.Version < 7 {
		s.PrevTasks = r.tasks(r.count("prevTasks", smallTask))
		s.StandbyTasks = r.tasks(r.count("standbyTasks", smallTask))
	}
	if s.Version >= 2 {
		s.UserEndPoint = r.text32("userEndPoint")
	}
	switch {
	case s.Version >= 10:
		s.TaskOffsetSums = r.flatSums()
	case s.Version >= 7:
		s.TaskOffsetSums = r.nestedSums()
	}
	if s.Version >= 8 {
		s.UniqueField = r.int8("uniqueField")
	}
	if s.Version >= 9 {
		s.ErrorCode = ErrorCode(r.int32("errorCode"))
	}
	if s.Version >= 11 {
		n := r.count("clientTags", 8)
		s.ClientTags = make([]ClientTag, 0, n)
		for i := 0; i < n && r.err == nil; i++ {
			s.ClientTags = append(s.ClientTags, ClientTag{Key: r.text32("clientTags.key"), Value: r.text32("clientTags.value")})
		}
	}
	var err error
	s.TrailingBytes, err = r.finish()
	return s, err
}

// format reads the format of a Streams structure.
func (r *wireReader) format() int32 {
	v := r.int32("version")
	if r.err == nil && v <= 0 {
		r.fail("version", 0, "format %d", v)
	}
	return v
}

// flatSums reads taskOffsetSums of formats 10 and later.
func (r *wireReader) flatSums() []TaskOffsetSum {
	n := r.count("taskOffsetSums", 18)
	out := make([]TaskOffsetSum, n)
	for i := range out {
		t := &out[i]
		if r.left() >= 18 {
			e := r.take(18)
			t.Subtopology = int32(binary.BigEndian.Uint32(e))
			t.Partition = int32(binary.BigEndian.Uint32(e[4:]))
			t.OffsetSum = int64(binary.BigEndian.Uint64(e[8:]))
			if e[16] != 0xff || e[17] != 0xff {
				r.off -= 2
				t.Topology = r.string16("taskOffsetSums.namedTopology")
			}
			continue
		}
		t.Subtopology = r.int32("taskOffsetSums.subtopology")
		t.Partition = r.int32("taskOffsetSums.partition")
		t.OffsetSum = r.int64("taskOffsetSums.offsetSum")
		t.Topology = r.nullString16("taskOffsetSums.namedTopology")
		if r.err != nil {
			return out[:i]
		}
	}
	return out
}

// nestedSums reads taskOffsetSums of formats 7 to 9.
func (r *wireReader) nestedSums() []TaskOffsetSum {
	n := r.count("taskOffsetSums", 8)
	out := make([]TaskOffsetSum, 0, r.countNested(n, nestedArray{fixed: 4, inner: 12}))
	for i := 0; i < n && r.err == nil; i++ {
		subtopology := r.int32("taskOffsetSums.subtopology")
		raw := r.take(12 * r.count("taskOffsetSums.partitions", 12))
		for ; len(raw) >= 12; raw = raw[12:] {
			out = append(out, TaskOffsetSum{
				Task:      Task{Subtopology: subtopology, Partition: int32(binary.BigEndian.Uint32(raw))},
				OffsetSum: int64(binary.BigEndian.Uint64(raw[4:])),
			})
		}
	}
	return out
}

// Encode writes the format s.Version, 1 to NewestFormat. Fields that the
// format does not have are left out.
func (s *SubscriptionInfo) Encode() ([]byte, error) {
	w := &wireWriter{structure: KindSubscription, buf: make([]byte, 0, 64+24*len(s.TaskOffsetSums)+8*len(s.PrevTasks)+8*len(s.StandbyTasks))}
	w.format(s.Version)
	if s.Version >= 3 {
		if s.LatestSupportedVersion < s.Version {
			w.fail("latestSupportedVersion", "%d is below the used version %d", s.LatestSupportedVersion, s.Version)
		}
		w.int32(s.LatestSupportedVersion)
	}
	w.buf = append(w.buf, s.ProcessID[:]...)
	if s.Version < 7 {
		w.tasks("prevTasks", s.PrevTasks)
		w.tasks("standbyTasks", s.StandbyTasks)
	}
	if s.Version >= 2 {
		w.text32("userEndPoint", s.UserEndPoint)
	}
	switch {
	case s.Version >= 10:
		w.flatSums(s.TaskOffsetSums)
	case s.Version >= 7:
		w.nestedSums(s.TaskOffsetSums)
	}
	if s.Version >= 8 {
		w.int8(s.UniqueField)
	}
	if s.Version >= 9 {
		w.int32(int32(s.ErrorCode))
	}
	if s.Version >= 11 {
		w.count("clientTags", len(s.ClientTags))
		for _, t := range s.ClientTags {
			w.text32("clientTags.key", t.Key)
			w.text32("clientTags.value", t.Value)
		}
	}
	return w.finish()
}

func (w *wireWriter) format(v int32) {
	if v < 1 || v > NewestFormat {
		w.fail("version", "format %d is not 1 to %d", v, NewestFormat)
	}
	w.int32(v)
}

// tasks writes a task list of formats 1 to 6.
func (w *wireWriter) tasks(list string, tasks []Task) {
	f := taskFieldNames(list)
	w.count(list, len(tasks))
	for _, t := range tasks {
		w.task(&f, t, false)
	}
}

func (w *wireWriter) flatSums(sums []TaskOffsetSum) {
	w.count("taskOffsetSums", len(sums))
	for _, t := range sums {
		w.int32(t.Subtopology)
		w.int32(t.Partition)
		w.int64(t.OffsetSum)
		w.nullString16("taskOffsetSums.namedTopology", t.Topology)
	}
}

// nestedSums groups the sums by subtopology, in the order in which they come.
func (w *wireWriter) nestedSums(sums []TaskOffsetSum) {
	var order []int32
	bySubtopology := make(map[int32][]TaskOffsetSum)
	for _, t := range sums {
		if t.Topology != "" {
			w.fail("taskOffsetSums", "formats before 10 have no topology names, task %q has one", t.ID())
		}
		if _, seen := bySubtopology[t.Subtopology]; !seen {
			order = append(order, t.Subtopology)
		}
		bySubtopology[t.Subtopology] = append(bySubtopology[t.Subtopology], t)
	}
	w.count("taskOffsetSums", len(order))
	for _, subtopology := range order {
		w.int32(subtopology)
		w.count("taskOffsetSums.partitions", len(bySubtopology[subtopology]))
		for _, t := range bySubtopology[subtopology] {
			w.int32(t.Partition)
			w.int64(t.OffsetSum)
		}
	}
}
