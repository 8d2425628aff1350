package chaos

import (
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// faults are what an embedded cluster can do wrong.
type faults struct {
	c   *kfake.Cluster
	say func(string, ...any)

	mu      sync.Mutex
	over    bool // no more faults
	handles []*kfake.FaultHandle
}

// fault is one of them.
type fault struct {
	name string
	run  func(*faults)
}

// allFaults are the faults that a script can name.
func allFaults() []fault {
	var list []fault
	answer := func(name string, err *kerr.Error, n int, keys ...kmsg.Key) {
		list = append(list, fault{name, func(f *faults) { f.answer(err, n, keys...) }})
	}
	answer("heartbeats say that the coordinator moved", kerr.NotCoordinator, 2, kmsg.Heartbeat)
	answer("joins say that the coordinator moved", kerr.NotCoordinator, 2, kmsg.JoinGroup)
	answer("syncs say that the coordinator moved", kerr.NotCoordinator, 2, kmsg.SyncGroup)
	answer("commits say that the coordinator moved", kerr.NotCoordinator, 3, kmsg.OffsetCommit)
	answer("the coordinator loads", kerr.CoordinatorLoadInProgress, 5, kmsg.Heartbeat, kmsg.OffsetCommit, kmsg.OffsetFetch)
	answer("a heartbeat has an illegal generation", kerr.IllegalGeneration, 1, kmsg.Heartbeat)
	answer("a heartbeat is of an unknown member", kerr.UnknownMemberID, 1, kmsg.Heartbeat)
	answer("a commit has an illegal generation", kerr.IllegalGeneration, 1, kmsg.OffsetCommit)
	answer("a sync has an illegal generation", kerr.IllegalGeneration, 1, kmsg.SyncGroup)
	answer("a join is of an unknown member", kerr.UnknownMemberID, 1, kmsg.JoinGroup)
	answer("partitions have no leader", kerr.NotLeaderForPartition, 4, kmsg.Produce, kmsg.Fetch)
	for _, key := range []kmsg.Key{kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetCommit, kmsg.Produce, kmsg.Fetch, kmsg.Heartbeat, kmsg.OffsetFetch, kmsg.ListOffsets} {
		list = append(list,
			fault{"cut at " + key.Name(), func(f *faults) { f.cut(key, 2) }},
			fault{"slow " + key.Name(), func(f *faults) { f.slow(key, 6) }})
	}
	return append(list,
		fault{"coordinators move", func(f *faults) { f.c.RehashCoordinators() }},
		fault{"leaders move", func(f *faults) { f.c.ShufflePartitionLeaders() }})
}

// start starts a fault by a number.
func (f *faults) start(n int) {
	list := allFaults()
	x := list[n%len(list)]
	f.say("fault: %s", x.name)
	x.run(f)
}

// answer answers so many requests with an error.
func (f *faults) answer(err *kerr.Error, n int, keys ...kmsg.Key) {
	h := f.c.Fault(kfake.Fault{Keys: keys, Err: err, Count: n})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handles = append(f.handles, h)
}

// some runs do with the next n requests of a key.
func (f *faults) some(key kmsg.Key, n int, do func() (kmsg.Response, error, bool)) {
	f.c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.mu.Lock()
		n--
		left, over := n, f.over
		f.mu.Unlock()
		if over || left < 0 {
			f.c.DropControl()
			return nil, nil, false
		}
		f.c.KeepControl()
		return do()
	})
}

// cut cuts the connection of so many requests before they are looked at.
func (f *faults) cut(key kmsg.Key, n int) {
	f.some(key, n, func() (kmsg.Response, error, bool) { return nil, io.EOF, true })
}

// slow holds so many requests up.
func (f *faults) slow(key kmsg.Key, n int) {
	f.some(key, n, func() (kmsg.Response, error, bool) {
		f.c.SleepControl(func() { time.Sleep(400 * time.Millisecond) })
		return nil, nil, false
	})
}

// end takes all faults back.
func (f *faults) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	for _, h := range f.handles {
		h.Remove()
	}
}
