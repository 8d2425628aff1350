package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// What a drain is judged by where looks can be early or late.
const (
	goneLooks     = 2                // looks that show an instance gone under a mark that stands: it died
	withdrawnFor  = 10 * time.Second // a mark that is gone for so long, of an instance that owns tasks, was withdrawn
	staysFor      = 3 * time.Second  // the same where the instance says that it is not leaving
	acceptableLag = 10_000           // acceptable.recovery.lag where the group does not tell its own
)

// DrainTarget is an instance that is to hand its tasks over.
type DrainTarget struct {
	ID   string // UUID
	Name string
	Mark string // id of its mark
}

// Drain judges look after look at instances under a mark: whether they have
// handed everything over, how fast copies restore and what holds them up. It
// never takes an instance for drained of which nothing says that it honours its
// mark (stream-protocol.md, What can go wrong).
type Drain struct {
	targets []*draining
	samples *Samples
	since   map[copyKey]standing
	owners  map[model.TaskID]string              // instance that last owned a task
	copies  map[model.TaskID]map[string]copyThen // by task and instance
	told    bool                                 // copies are known of the last look
	seenAt  time.Time                            // of the last look; zero before the first
	moves   []*Handover
	last    DrainLook
	looked  bool
	led     ledRounds // of apps with our assignor
}

// draining is what is known of one target.
type draining struct {
	DrainTarget
	members  []string // at the last look at which its mark stood, sorted
	epoch    int64    // of the mode then: a switch makes all members anew
	owned    []model.TaskID
	had      map[model.TaskID]bool
	honoured bool
	expired  bool
	departed bool      // it went by itself
	gone     int       // looks in a row that show it gone while its mark stands
	unmarked time.Time // since when its mark is gone while it is there; zero while it stands
	died     bool      // it went with tasks that nobody handed over
	unseen   bool      // it went while nobody could look
	lost     string
}

// standing is since when a copy is where it is.
type standing struct {
	position int64
	at       time.Time
}

// Handover is an active task that went from a target to another instance.
type Handover struct {
	Task     model.TaskID
	From, To string // instance ids
	ToName   string
	Warm     Answer // whether its new owner had its state: Unknown until something tells
	Records  *int64 // what a cold one had to restore; nil when not known
	AtMost   bool   // Records were left at the last look before, and some may have come since

	from *draining // of a Drain
	late bool      // its time was up
	left *int64    // records that the new owner lacked at the last look before; nil when not known
}

// DrainTask is one active task that a target still owns.
type DrainTask struct {
	Task      model.TaskID
	Owner     string // name of the target
	Stateful  bool
	On        string // name of the instance with its best copy; "" when there is none
	OnID      string
	Role      model.Role // of that copy
	Ready     bool
	Remaining *int64        // records that copy still restores, or all of its changelog; nil when unknown
	Total     *int64        // records of its changelog; nil when unknown
	Rate      *float64      // of that copy, records a second; nil until two looks show its position
	Still     time.Duration // for how long that copy has not moved; 0 while it does
	Queued    bool          // it has not moved while another copy of the same instance did: its turn comes
}

// DrainLook is the judgement of one look.
type DrainLook struct {
	Met       bool           // every target is drained, or went by itself
	Over      bool           // nothing more can come of it: each is drained or lost
	Lost      []string       // what went wrong for good, a sentence each
	Open      bool           // a rebalance runs: ownership is that of the look before
	Round     *int32         // generation, by the newest status; nil when no status tells
	Owns      int            // active tasks of all targets
	Ready     int            // of these, how many have a copy that is ready
	ToRestore *int64         // records that the copies of these still restore; nil when not known of all
	Rate      *float64       // records a second of these copies together; nil until known
	Left      *time.Duration // until the slowest instance has restored its own; nil until known
	Tasks     []DrainTask    // by task
	Moved     []*Handover    // since the look before, by task
	Waiting   []string       // marks that are not honoured yet, a sentence each
	Void      bool           // no instance stays that could take the tasks: marks count for nothing
	Blockers  []Blocker      // as a wait shows them
}

// NewDrain returns a judge of these instances, which has seen nothing.
func NewDrain(targets []DrainTarget) *Drain {
	d := &Drain{samples: NewSamples(), since: map[copyKey]standing{}, owners: map[model.TaskID]string{}, copies: map[model.TaskID]map[string]copyThen{}}
	for _, t := range targets {
		d.targets = append(d.targets, &draining{DrainTarget: t, had: map[model.TaskID]bool{}})
	}
	return d
}

// Begin takes the group as it was before the marks were written: who runs what.
func (d *Drain) Begin(g *model.Group) {
	owners := activeOwners(g)
	if p := g.PlugIn; p != nil {
		d.led = ledRounds{leader: p.Leader, offset: p.Offset}
	}
	for _, t := range d.targets {
		if in := instance(g, t.ID); in != nil {
			t.take(in, owners)
		}
	}
	d.progress(g, &d.last)
	d.remember(g, owners)
	d.looked = true
}

// take notes what a target in the group owns.
func (t *draining) take(in *model.Instance, owners map[model.TaskID]*model.Instance) {
	t.owned = ownedBy(owners, t.ID)
	for _, id := range t.owned {
		t.had[id] = true
	}
	if t.members == nil {
		t.members = memberIDs(in)
	}
}

// Look judges the group as it was seen at the time, with its control topic as
// it was read after that.
func (d *Drain) Look(g *model.Group, s *control.State, at time.Time) DrainLook {
	if g.AssignmentBasis != model.AssignmentCurrent && g.State != model.StateEmpty && d.looked {
		out := d.last
		out.Open, out.Moved, out.Met, out.Over = true, nil, false, false
		return out
	}
	out := DrainLook{Round: newestRound(g, s)}
	if g.PlugIn == nil {
		d.samples.Add(g, at)
		d.stand(g, at)
	} else {
		out.Round = d.roundOfPlugIn(g, at)
	}
	owners := activeOwners(g)
	for _, t := range d.targets {
		d.judge(t, g, s, at, owners)
	}
	d.handOvers(g, owners, &out)
	d.progress(g, &out)
	if !told(g) {
		out.Ready, out.ToRestore, out.Rate, out.Left = 0, nil, nil, nil
	}
	d.outcome(g, s, owners, &out)
	d.remember(g, owners)
	d.last, d.looked, d.seenAt = out, true, at
	return out
}

// judge says how one target stands.
func (d *Drain) judge(t *draining, g *model.Group, s *control.State, at time.Time, owners map[model.TaskID]*model.Instance) {
	in := instance(g, t.ID)
	mark, marked := s.Leaving[t.ID]
	said, spoke := s.Status[t.ID]
	t.honoured = t.honoured || s.Honoured(t.ID, t.Mark)
	t.expired = t.expired || spoke && said.Expired && said.Honours(t.Mark)
	if in != nil {
		t.take(in, owners)
	}
	if t.departed || t.lost != "" {
		return
	}
	switch {
	case marked && mark.Mark != t.Mark:
		t.lost = fmt.Sprintf("%s is under another mark than this one: %s", t.Name, mark.SetBy())
	case marked && in != nil:
		t.gone, t.unmarked = 0, time.Time{}
		t.members, t.epoch = memberIDs(in), modeEpoch(s)
	case marked: // gone, and nobody withdrew its mark
		if t.gone++; len(t.owned) == 0 && d.looked {
			t.departed = true
		} else if t.members == nil {
			t.lost = t.Name + " is not in the group; its mark stands"
		} else if t.gone >= goneLooks {
			t.died = true
			t.lost = fmt.Sprintf("%s is gone with %s not handed over: %s", t.Name, tasks(len(t.owned)), idList(t.owned))
		}
	case in == nil:
		d.judgeGone(t, s, at, owners)
	case len(t.owned) == 0 && t.honoured: // about to go
	case d.looked && modeEpoch(s) == t.epoch && !sharesOne(memberIDs(in), t.members):
		t.died = true
		t.lost = fmt.Sprintf("%s died and came back, which withdrew its mark; %s not handed over: %s", t.Name, tasks(len(t.owned)), idList(t.owned))
	default:
		if t.unmarked.IsZero() {
			t.unmarked = at
		}
		patience := withdrawnFor
		if spoke && !said.Leaving && !t.expired {
			patience = staysFor
		}
		if at.Sub(t.unmarked) >= patience {
			t.lost = fmt.Sprintf("the mark of %s was withdrawn by somebody else; it still owns %s: %s", t.Name, tasks(len(t.owned)), idList(t.owned))
		}
	}
}

// outcome puts the targets together.
func (d *Drain) outcome(g *model.Group, s *control.State, owners map[model.TaskID]*model.Instance, out *DrainLook) {
	over := true
	for _, t := range d.targets {
		done := t.departed || t.honoured && len(t.owned) == 0
		for _, id := range sortedIDs(t.had) {
			if owners[id] == nil {
				done = false
				out.Blockers = append(out.Blockers, taskBlocker(id, "has no owner"))
			}
		}
		if t.lost != "" {
			out.Lost = append(out.Lost, t.lost)
			continue
		}
		over = over && done
		if !t.honoured && !t.departed {
			_, spoke := s.Status[t.ID]
			text := "the mark of " + t.Name + " is not honoured yet"
			switch {
			case g.PlugIn != nil:
				text += ": " + unhonoured(g.PlugIn)
			case !spoke:
				text += ": it has published no status"
			}
			out.Waiting = append(out.Waiting, text)
			out.Blockers = append(out.Blockers, Blocker{Object: "instance " + t.Name, Why: strings.TrimPrefix(text, "the mark of "+t.Name+" ")})
		}
	}
	out.Void = void(g, s)
	for i := range out.Tasks {
		out.Blockers = append(out.Blockers, out.Tasks[i].blocker())
	}
	sortBlockers(out.Blockers)
	out.Over = over
	out.Met = over && len(out.Lost) == 0
}

// modeEpoch is the epoch of the mode that was last asked for; 0 for none.
func modeEpoch(s *control.State) int64 {
	if s.Mode == nil {
		return 0
	}
	return s.Mode.Epoch
}

// void reports whether all instances are marked, so that no mark counts.
func void(g *model.Group, s *control.State) bool {
	for i := range g.Instances {
		if _, marked := s.Leaving[g.Instances[i].ID]; !marked {
			return false
		}
	}
	return len(g.Instances) > 0
}

// newestRound is the newest generation that the status of an instance in the
// group tells.
func newestRound(g *model.Group, s *control.State) *int32 {
	var out *int32
	for i := range g.Instances {
		if st, ok := s.Status[g.Instances[i].ID]; ok && st.Generation != nil && (out == nil || *st.Generation > *out) {
			out = st.Generation
		}
	}
	return out
}

func memberIDs(in *model.Instance) []string {
	out := make([]string, len(in.Members))
	for i := range in.Members {
		out[i] = in.Members[i].ID
	}
	slices.Sort(out)
	return out
}

func sharesOne(a, b []string) bool {
	return slices.ContainsFunc(a, func(id string) bool { return slices.Contains(b, id) })
}
