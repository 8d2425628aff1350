package chaos

import (
	"math/rand/v2"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// op is one kind of trouble.
type op string

// What can be done to a job.
const (
	opJoin       op = "join"        // a new instance
	opRestart    op = "restart"     // one that ended, with its state
	opDrain      op = "drain"       // marked as leaving, without a deadline
	opTimeout    op = "timeout"     // marked as leaving, with a short one
	opUnmark     op = "unmark"      // a mark is withdrawn
	opKill       op = "kill"        // an instance crashes
	opKillLeader op = "kill-leader" // that which led last
	opClose      op = "close"       // one leaves by itself
	opPause      op = "pause"       // one is cut off, perhaps past its session
	opSwitch     op = "switch"      // to the other mode
	opFault      op = "fault"       // the cluster misbehaves for a moment
	opBurst      op = "burst"       // many records at once
)

// step is one line of a script.
type step struct {
	op   op
	pick int           // which instance, fault or time: modulo what there is
	rest time.Duration // before the next step
}

// script is everything that a seed decides.
type script struct {
	seed      uint64
	calm      bool // nothing crashes and nobody is cut off
	instances int  // at the start
	tasks     int
	stateless int
	workers   int
	restore   int
	settings  worker.Settings
	before    int // records of each task before the first instance starts
	steps     []step
}

// draw makes the script of a seed: every fourth is calm.
func draw(seed uint64, faults bool) script {
	r := rand.New(rand.NewPCG(seed, 5))
	s := script{
		seed: seed, calm: seed%4 == 0, instances: 2 + r.IntN(3), tasks: 3 + r.IntN(10), stateless: r.IntN(4), workers: 1 + r.IntN(3),
		before: 100 + r.IntN(300), settings: worker.DefaultSettings(),
	}
	if r.IntN(2) == 0 {
		s.restore = 1000 + r.IntN(3000)
	}
	s.settings.BalancingFactor = []int64{1000, 1200, 2000}[r.IntN(3)]
	s.settings.StandbyReplicas = int32(r.IntN(4) / 2)
	s.settings.MaxLearners = int64(r.IntN(3))
	s.settings.AcceptableLag = int64([]int{0, 50, 10000}[r.IntN(3)])
	s.settings.Mode = []worker.Mode{worker.Incremental, worker.Upgrading}[r.IntN(2)]
	if r.IntN(2) == 0 {
		s.settings.RejoinPolicy = worker.RejoinEager
	}
	ops := []op{opJoin, opJoin, opDrain, opDrain, opUnmark, opClose, opSwitch, opBurst, opRestart}
	if !s.calm {
		ops = append(ops, opTimeout, opKill, opKill, opKillLeader, opPause, opPause, opRestart, opRestart)
		if faults {
			ops = append(ops, opFault, opFault, opFault, opFault, opFault, opFault)
		}
	}
	for range 8 + r.IntN(5) {
		s.steps = append(s.steps, step{ops[r.IntN(len(ops))], r.IntN(1 << 20), time.Duration(100+r.IntN(1200)) * time.Millisecond})
	}
	return s
}
