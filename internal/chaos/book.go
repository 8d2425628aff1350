package chaos

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/streamctl/streamctl/internal/taskrun"
	"github.com/streamctl/streamctl/worker"
)

// count is what a store keeps for a key.
type count struct {
	n    uint64 // records counted
	next uint64 // number of the record to come
	lost uint64 // numbers that were left out
}

func (c count) bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, c.n)
	b = binary.BigEndian.AppendUint64(b, c.next)
	return binary.BigEndian.AppendUint64(b, c.lost)
}

func countOf(b []byte) count {
	if len(b) != 24 {
		return count{}
	}
	return count{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}
}

// with is the count after one more record.
func (c count) with(number uint64) count {
	c.n++
	if number >= c.next {
		c.lost += number - c.next
		c.next = number + 1
	}
	return c
}

// Book is what was written and what became of it, as the processors see it.
type Book struct {
	mu     sync.Mutex
	sent   map[string]uint64 // records written, by key; only those that are acknowledged
	seen   map[worker.TaskID]map[uint64]int
	inside map[worker.TaskID]string // instance that is in a call of Process
	last   map[worker.TaskID]string
	turns  []turn
	wrong  []string
	dumps  map[worker.TaskID]dump // by task, of its owner
}

// turn is a record of a task that another instance processed than the one
// before.
type turn struct {
	task worker.TaskID
	name string
	at   time.Time
}

// dump is a whole store, at the end.
type dump struct {
	name   string // instance
	probe  string
	counts map[string]count
}

func newBook() *Book {
	return &Book{
		sent: map[string]uint64{}, seen: map[worker.TaskID]map[uint64]int{}, inside: map[worker.TaskID]string{},
		last: map[worker.TaskID]string{}, dumps: map[worker.TaskID]dump{},
	}
}

// probeKey marks records that ask for a dump and count for nothing.
const probeKey = "probe"

// processor counts the records of one task on one instance.
type processor struct {
	b    *Book
	t    worker.TaskID
	name string
}

func (b *Book) processor(t worker.TaskID, name string) *processor { return &processor{b, t, name} }

// Process counts one record, or dumps the store.
func (p *processor) Process(r worker.Record, s worker.Store) error {
	p.enter()
	defer p.leave()
	if string(r.Key) == probeKey {
		p.b.dumped(p.t, dump{p.name, string(r.Value), contents(s)})
		return nil
	}
	number, err := strconv.ParseUint(string(r.Value), 10, 64)
	if err != nil {
		return err
	}
	if s != nil {
		old, _ := s.Get(r.Key)
		s.Put(r.Key, countOf(old).with(number).bytes())
	}
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	if p.b.seen[p.t] == nil {
		p.b.seen[p.t] = map[uint64]int{}
	}
	p.b.seen[p.t][uint64(r.Offset)]++
	return nil
}

func (p *processor) enter() {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	if in := p.b.inside[p.t]; in != "" {
		p.b.wrong = append(p.b.wrong, fmt.Sprintf("task %s: %s processes a record while %s does", p.t, p.name, in))
	}
	p.b.inside[p.t] = p.name
	if p.b.last[p.t] != p.name {
		p.b.last[p.t] = p.name
		p.b.turns = append(p.b.turns, turn{p.t, p.name, time.Now()})
	}
}

func (p *processor) leave() {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	delete(p.b.inside, p.t)
}

func (b *Book) dumped(t worker.TaskID, d dump) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dumps[t] = d
}

// contents is a whole store.
func contents(s taskrun.Store) map[string]count {
	if s == nil {
		return nil
	}
	all := map[string]count{}
	s.Range(func(key, value []byte) bool {
		all[string(key)] = countOf(value)
		return true
	})
	return all
}
