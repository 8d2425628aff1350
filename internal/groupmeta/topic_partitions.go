package groupmeta

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// TopicPartitions are partitions of one topic, as consumer frames group them.
type TopicPartitions struct {
	Topic      string
	Partitions []int32
}

// GroupByTopic puts partitions into the form of the consumer frames, topics
// and numbers in order.
func GroupByTopic(partitions []model.TopicPartition) []TopicPartitions {
	sorted := sortedTopicPartitions(partitions)
	var out []TopicPartitions
	for _, p := range sorted {
		if len(out) == 0 || out[len(out)-1].Topic != p.Topic {
			out = append(out, TopicPartitions{Topic: p.Topic})
		}
		last := &out[len(out)-1]
		last.Partitions = append(last.Partitions, p.Partition)
	}
	return out
}

// SortedPartitions flattens partitions of topics and sorts them in the order
// in which Streams pairs them with tasks: by topic as Java sorts text, then by
// number.
func SortedPartitions(topics []TopicPartitions) []model.TopicPartition {
	byTopic := slices.Clone(topics)
	slices.SortFunc(byTopic, func(a, b TopicPartitions) int { return compareJavaText(a.Topic, b.Topic) })
	n := 0
	for _, t := range byTopic {
		n += len(t.Partitions)
	}
	out := make([]model.TopicPartition, 0, n)
	first := 0 // of the topic at hand, which may be there more than once
	for i, t := range byTopic {
		for _, p := range t.Partitions {
			out = append(out, model.TopicPartition{Topic: t.Topic, Partition: p})
		}
		if i+1 == len(byTopic) || byTopic[i+1].Topic != t.Topic {
			slices.SortFunc(out[first:], func(a, b model.TopicPartition) int { return cmp.Compare(a.Partition, b.Partition) })
			first = len(out)
		}
	}
	return out
}

// sortedTopicPartitions sorts a copy in the same order. Long topic names are
// compared once for each pair of topics, not of partitions.
func sortedTopicPartitions(partitions []model.TopicPartition) []model.TopicPartition {
	numbers := make(map[string][]int32)
	for _, p := range partitions {
		numbers[p.Topic] = append(numbers[p.Topic], p.Partition)
	}
	topics := make([]TopicPartitions, 0, len(numbers))
	for topic, list := range numbers {
		topics = append(topics, TopicPartitions{Topic: topic, Partitions: list})
	}
	return SortedPartitions(topics)
}

// frameVersion reads the version of a consumer frame.
func (r *wireReader) frameVersion() int16 {
	v := r.int16("version")
	if v < 0 {
		r.fail("version", 0, "frame version %d", v)
	}
	return v
}

// topicPartitions reads an array of {topic, partitions}. The numbers of all
// topics share one slice.
func (r *wireReader) topicPartitions(array, topic, partitions string) []TopicPartitions {
	n := r.count(array, 6)
	out := make([]TopicPartitions, 0, n)
	numbers := make([]int32, 0, r.countNested(n, nestedArray{text: true, inner: 4}))
	for i := 0; i < n && r.err == nil; i++ {
		t := TopicPartitions{Topic: r.topic16(topic)}
		raw := r.take(4 * r.count(partitions, 4))
		first := len(numbers)
		for ; len(raw) >= 4; raw = raw[4:] {
			numbers = append(numbers, int32(binary.BigEndian.Uint32(raw)))
		}
		t.Partitions = numbers[first:len(numbers):len(numbers)]
		out = append(out, t)
	}
	return out
}

// nestedArray says how to step over the elements of an array that each end
// with an array of their own.
type nestedArray struct {
	text     bool // an element opens with a text
	fixed    int  // bytes that are always there, after the text
	chars    bool // a topology name comes next
	inner    int  // bytes of an inner element, after its text
	texts    bool // an inner element opens with a text
	unsigned bool // text lengths are unsigned
}

// countNested gives the total number of inner elements of the next n elements,
// without reading on. It stops where the bytes stop making sense: the reading
// that follows says what is wrong, and never meets more elements than that.
func (r *wireReader) countNested(n int, a nestedArray) (total int) {
	s := stepper{r.buf[r.off:]}
	limit := int64(math.MaxInt16)
	if a.unsigned {
		limit = math.MaxUint16
	}
	for range n {
		if a.text && !s.text(limit) || !s.skip(int64(a.fixed)) || a.chars && !s.chars() {
			return total
		}
		m, ok := s.uint32()
		if smallest := int64(a.inner); !ok || m*smallest > int64(len(s.b)) {
			return total
		}
		if !a.texts {
			total += int(m)
			s.skip(m * int64(a.inner))
			continue
		}
		for range m {
			if !s.text(limit) || !s.skip(int64(a.inner)) {
				return total
			}
			total++
		}
	}
	return total
}

// stepper steps over fields that nobody wants yet.
type stepper struct{ b []byte }

func (s *stepper) skip(n int64) bool {
	if n > int64(len(s.b)) {
		return false
	}
	s.b = s.b[n:]
	return true
}

func (s *stepper) uint32() (int64, bool) {
	if len(s.b) < 4 {
		return 0, false
	}
	v := int64(binary.BigEndian.Uint32(s.b))
	s.b = s.b[4:]
	return v, true
}

func (s *stepper) text(limit int64) bool {
	if len(s.b) < 2 {
		return false
	}
	n := int64(binary.BigEndian.Uint16(s.b))
	return n <= limit && s.skip(2+n)
}

func (s *stepper) chars() bool {
	units, ok := s.uint32()
	return ok && s.skip(2*units)
}

func (w *wireWriter) frameVersion(v int16) {
	if v < 0 {
		w.fail("version", "frame version %d", v)
	}
	w.int16(v)
}

// topicPartitions writes an array of {topic, partitions}.
func (w *wireWriter) topicPartitions(field string, topics []TopicPartitions) {
	w.count(field, len(topics))
	for _, t := range topics {
		w.string16(field+".topic", t.Topic)
		w.count(field+".partitions", len(t.Partitions))
		for _, p := range t.Partitions {
			w.int32(p)
		}
	}
}
