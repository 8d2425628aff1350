package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// haTag is one client tag: a key with its value.
type haTag struct{ key, value string }

// internTags gives the tags of the clients numbers, if any rule asks for them.
func (h *ha) internTags() {
	if len(h.g.Settings.StandbyTags) == 0 {
		return
	}
	number := map[haTag]int32{}
	for i := range h.clients {
		c := &h.clients[i]
		for k, v := range h.g.Processes[c.process].Tags {
			tag := haTag{k, v}
			n, ok := number[tag]
			if !ok {
				n = int32(len(number))
				number[tag] = n
			}
			c.tags = append(c.tags, n)
		}
		slices.Sort(c.tags)
	}
}

// tagsWithin says whether every tag of a client is one of the other as well.
func (h *ha) tagsWithin(i, other int32) bool {
	tags := h.clients[other].tags
	for _, tag := range h.clients[i].tags {
		if !slices.Contains(tags, tag) {
			return false
		}
	}
	return true
}

// haZones keeps the loads of clients apart by their values of the configured
// tags, so that all clients with a value are left out at once.
type haZones struct {
	zones  []haZone
	zone   []int32 // by client
	place  []int32 // by client: its number within the zone
	values []int   // by configured key: its number of values
}

// haZone is the clients that agree in all configured tags.
type haZone struct {
	values  []int32 // by configured key: number of the value, -1 for none
	clients []int32
	least   *leastTree
}

func newHAZones(h *ha, keys []string) *haZones {
	z := &haZones{zone: make([]int32, len(h.clients)), place: make([]int32, len(h.clients)), values: make([]int, len(keys))}
	number := make([]map[string]int32, len(keys))
	for k := range keys {
		number[k] = map[string]int32{}
	}
	byValues := map[string]int32{}
	for i := range h.clients {
		values := make([]int32, len(keys))
		var name []byte
		for k, key := range keys {
			values[k] = -1
			if v, ok := h.g.Processes[h.clients[i].process].Tags[key]; ok {
				n, known := number[k][v]
				if !known {
					n = int32(len(number[k]))
					number[k][v] = n
				}
				values[k] = n
			}
			name = append(name, byte(values[k]), byte(values[k]>>8), byte(values[k]>>16), byte(values[k]>>24))
		}
		n, known := byValues[string(name)]
		if !known {
			n = int32(len(z.zones))
			byValues[string(name)] = n
			z.zones = append(z.zones, haZone{values: values})
		}
		zone := &z.zones[n]
		z.zone[i], z.place[i] = n, int32(len(zone.clients))
		zone.clients = append(zone.clients, int32(i))
	}
	for k := range keys {
		z.values[k] = len(number[k])
	}
	for n := range z.zones {
		zone := &z.zones[n]
		zone.least = newLeastTree(len(zone.clients), func(i int32) float64 { return h.load(zone.clients[i]) })
	}
	return z
}

func (z *haZones) set(i int32, load float64) { z.zones[z.zone[i]].least.set(z.place[i], load) }

// best is the least (load, id) client that has neither the mark nor a used
// value, -1 for none.
func (z *haZones) best(h *ha, used [][]int32) int32 {
	best := int32(-1)
	for n := range z.zones {
		zone := &z.zones[n]
		if zone.uses(used) {
			continue
		}
		i := zone.bestBelow(1, h)
		if i < 0 {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(h.load(i), h.load(best)), cmp.Compare(i, best)) < 0 {
			best = i
		}
	}
	return best
}

func (zone *haZone) uses(used [][]int32) bool {
	for k, v := range zone.values {
		if v >= 0 && slices.Contains(used[k], v) {
			return true
		}
	}
	return false
}

// bestBelow is leastTree.bestBelow with marks by client.
func (zone *haZone) bestBelow(p int, h *ha) int32 {
	t := zone.least
	w := t.win[p]
	if w < 0 {
		return -1
	}
	if i := zone.clients[w]; h.marked[i] != h.mark {
		return i
	}
	if p >= t.base {
		return -1
	}
	a, b := zone.bestBelow(2*p, h), zone.bestBelow(2*p+1, h)
	if a < 0 || b >= 0 && h.load(b) < h.load(a) {
		return b
	}
	return a
}

// placeByTags gives each stateful task its standbys on clients that differ in
// their tags as far as may be (3.7), then what is missing to the least loaded.
func (h *ha) placeByTags(want int) {
	keys := uniqueKeys(h.g.Settings.StandbyTags)
	h.zones = newHAZones(h, keys)
	used := make([][]int32, len(keys)) // by key: values that are not to be used again
	type shortfall struct {
		task    Task
		missing int
	}
	left := []shortfall{}
	for t, stateful := range h.stateful {
		if stateful {
			left = append(left, shortfall{Task(t), h.placeApart(Task(t), want, used)})
		}
	}
	h.zones = nil
	// What is left is walked as Java's hash map of all stateful tasks does.
	order := javaorder.NewHashMap(javaorder.DefaultCapacity)
	for _, l := range left {
		order.Put(h.g.Topology.hash(l.task))
	}
	for _, e := range order.Order() {
		if l := left[e]; l.missing > 0 {
			h.placeLeastLoaded(l.task, l.missing)
		}
	}
}

// placeApart gives out the standbys of one task and returns how many found no
// client.
func (h *ha) placeApart(t Task, want int, used [][]int32) int {
	for k := range used {
		used[k] = used[k][:0]
	}
	h.markHolders(t)
	last := h.active[t]
	for copies := 1; want > 0; copies++ {
		for k, v := range h.zones.zones[h.zones.zone[last]].values {
			switch {
			case v < 0:
			case h.zones.values[k] <= copies:
				used[k] = used[k][:0]
			case !slices.Contains(used[k], v):
				used[k] = append(used[k], v)
			}
		}
		i := h.zones.best(h, used)
		if i < 0 {
			break
		}
		h.addStandby(t, i)
		h.add(i, 1)
		h.setMark(i)
		last = i
		want--
	}
	return want
}

func uniqueKeys(keys []string) []string {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	return slices.Compact(keys)
}
