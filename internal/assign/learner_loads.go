package assign

// learnerLoads counts the planned load of each instance: its active tasks,
// minus those being learned elsewhere or to be released, plus those that it
// learns or that are to be released to it.
type learnerLoads struct {
	nodes    []learnerNode
	planned  []int64
	lightest *learnerTree // of the staying instances; nil while only counted
}

func newLearnerLoads(nodes []learnerNode) *learnerLoads {
	return &learnerLoads{nodes: nodes, planned: make([]int64, len(nodes))}
}

// watch begins to keep the lightest instance.
func (l *learnerLoads) watch() {
	l.lightest = newLearnerTree(len(l.nodes), func(i int32) bool { return l.nodes[i].stays }, func(a, b int32) bool {
		if ca, cb := l.room(a), l.room(b); ca != cb {
			return ca < cb
		}
		return l.compare(a, b) < 0
	})
}

// room is 0 below the low, 1 below the high, else 2: of whom there are some in
// the first of these, the lightest is one.
func (l *learnerLoads) room(i int32) int {
	switch n := l.planned[i]; {
	case n < int64(l.nodes[i].bounds.Low):
		return 0
	case n < int64(l.nodes[i].bounds.High):
		return 1
	}
	return 2
}

// compare compares planned loads per worker, exactly.
func (l *learnerLoads) compare(a, b int32) int {
	return l.perWorker(l.planned[a], a, l.planned[b], b)
}

// perWorker compares x tasks on a with y tasks on b per worker, exactly.
func (l *learnerLoads) perWorker(x int64, a int32, y int64, b int32) int {
	d := x*int64(len(l.nodes[b].workers)) - y*int64(len(l.nodes[a].workers))
	switch {
	case d < 0:
		return -1
	case d > 0:
		return 1
	}
	return 0
}

// add changes the planned load of an instance.
func (l *learnerLoads) add(i int32, by int64) {
	l.planned[i] += by
	if l.lightest != nil && l.nodes[i].stays {
		l.lightest.update(i, true)
	}
}
