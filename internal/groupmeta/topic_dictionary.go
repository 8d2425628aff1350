package groupmeta

// DictionaryEntry gives a topic the index by which the host maps name it.
type DictionaryEntry struct {
	Index int32
	Topic string
}

// topicDictionary finds topics by index; of two entries with one index the
// last counts.
type topicDictionary struct {
	near []*DictionaryEntry         // by index, as far as indexes are below the number of entries
	far  map[int32]*DictionaryEntry // the others
}

func newTopicDictionary(entries []DictionaryEntry) *topicDictionary {
	d := &topicDictionary{near: make([]*DictionaryEntry, len(entries))}
	for i := range entries {
		e := &entries[i]
		if e.Index >= 0 && int(e.Index) < len(d.near) {
			d.near[e.Index] = e
			continue
		}
		if d.far == nil {
			d.far = make(map[int32]*DictionaryEntry)
		}
		d.far[e.Index] = e
	}
	return d
}

func (d *topicDictionary) topic(index int32) (string, bool) {
	if index >= 0 && int(index) < len(d.near) {
		if e := d.near[index]; e != nil {
			return e.Topic, true
		}
		return "", false
	}
	if e := d.far[index]; e != nil {
		return e.Topic, true
	}
	return "", false
}
