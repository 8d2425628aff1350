package lab

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/streamctl/streamctl/worker"
)

// fakeStore is a store in a map.
type fakeStore map[string][]byte

func (s fakeStore) put(key string, n uint64)      { s[key] = binary.BigEndian.AppendUint64(nil, n) }
func (s fakeStore) Get(key []byte) ([]byte, bool) { v, ok := s[string(key)]; return v, ok }
func (s fakeStore) Put(key, value []byte)         { s[string(key)] = value }
func (s fakeStore) Delete(key []byte)             { delete(s, string(key)) }
func (s fakeStore) Len() int                      { return len(s) }
func (s fakeStore) Range(f func(k, v []byte) bool) {
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if !f([]byte(k), s[k]) {
			return
		}
	}
}

func taskID(partition int32) worker.TaskID { return worker.TaskID{Partition: partition} }

func record(key string, offset int64) worker.Record {
	return worker.Record{Key: []byte(key), Offset: offset}
}
