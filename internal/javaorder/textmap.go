package javaorder

// TextMap is a HashMap whose keys are distinct texts, entered in any order.
type TextMap struct {
	HashMap
	keys []string // by entry
}

// NewTextMap returns an empty map whose table starts with the next power of
// two from capacity on.
func NewTextMap(capacity int) *TextMap {
	m := &TextMap{HashMap: *NewHashMap(capacity)}
	m.lesser = func(a, b int32) bool { return CompareStrings(m.keys[a], m.keys[b]) < 0 }
	return m
}

// Put enters a key that is not there yet at the end of its bucket.
func (m *TextMap) Put(key string) {
	m.keys = append(m.keys, key)
	m.HashMap.Put(HashString(key))
}

// ComputeIfAbsent enters a key that is not there yet at the head of its bucket.
func (m *TextMap) ComputeIfAbsent(key string) {
	m.keys = append(m.keys, key)
	m.HashMap.ComputeIfAbsent(HashString(key))
}
