package assign

import "slices"

// rackPaths looks for ways from the source to the sink that are free, the
// shortest first, nodes in their order.
type rackPaths struct {
	*rackFlow
	queue  []int
	via    []int // by node: the node before it, -1 as long as it was not reached
	unseen []int // by group: places that were not reached
	last   int   // client next to the sink
}

// fill lets every task flow somewhere: as the shares of a client are not less
// than its part of each group, there is room for all.
func (f *rackFlow) fill() {
	p := &rackPaths{rackFlow: f, via: filledInts(f.nodes(), -1), unseen: make([]int, len(f.places)/f.clients)}
	for p.search() {
		p.send()
	}
	for x := range f.places {
		f.refresh(int32(x))
	}
}

func filledInts(n, x int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// reach enters a node into the queue unless it was there.
func (p *rackPaths) reach(v, from int) bool {
	if v == 0 || p.via[v] >= 0 {
		return false
	}
	p.via[v] = from
	p.queue = append(p.queue, v)
	return true
}

func (p *rackPaths) search() bool {
	for _, v := range p.queue {
		p.via[v] = -1
	}
	p.queue = p.queue[:0]
	for g := range p.unseen {
		p.unseen[g] = p.clients
	}
	for t, on := range p.on {
		if on < 0 {
			p.reach(1+t, 0)
		}
	}
	n, end := len(p.on), p.placeNode(int32(len(p.places)))
	for head := 0; head < len(p.queue); head++ {
		switch v := p.queue[head]; {
		case v <= n:
			p.fromTask(int32(v - 1))
		case v < end:
			p.fromPlace(int32(v - 1 - n))
		default:
			if p.fromClient(v - end) {
				return true
			}
		}
	}
	return false
}

func (p *rackPaths) fromTask(t int32) {
	g := p.group[t]
	if p.unseen[g] == 0 {
		return
	}
	for j := range int32(p.clients) {
		if j != p.on[t] && p.reach(p.placeNode(p.place(t, j)), 1+int(t)) {
			p.unseen[g]--
		}
	}
}

func (p *rackPaths) fromPlace(x int32) {
	for _, t := range p.places[x].tasks {
		p.reach(1+int(t), p.placeNode(x))
	}
	if p.flow[x] < p.share[x] {
		p.reach(p.placeNode(int32(len(p.places))+x%int32(p.clients)), p.placeNode(x))
	}
}

// fromClient says whether the sink is next.
func (p *rackPaths) fromClient(j int) bool {
	for x := j; x < len(p.places); x += p.clients {
		if p.flow[x] > 0 && p.reach(p.placeNode(int32(x)), p.placeNode(int32(len(p.places)+j))) {
			p.unseen[x/p.clients]--
		}
	}
	if p.out[j] >= p.total[j] {
		return false
	}
	p.last = j
	return true
}

// send lets one task flow along the way that was found.
func (p *rackPaths) send() {
	n, end := len(p.on), p.placeNode(int32(len(p.places)))
	p.out[p.last]++
	var way []int
	for v := end + p.last; v > 0; v = p.via[v] {
		way = append(way, v)
	}
	slices.Reverse(way)
	for k := 1; k < len(way); k++ {
		switch u, v := way[k-1], way[k]; {
		case u <= n:
			p.move(int32(u-1), int32(v-1-n)%int32(p.clients))
		case u < end && v >= end:
			p.flow[u-1-n]++
		case u >= end:
			p.flow[v-1-n]--
		}
	}
}
