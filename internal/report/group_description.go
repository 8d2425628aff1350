package report

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// DescribeOptions says how a describe is shown to people. The document is the
// same whatever is set.
type DescribeOptions struct {
	Cluster    string                    // name of the context; "" shows the cluster id
	InStateFor time.Duration             // how long the group was seen in a state that is not Stable; 0 is not known
	Threads    bool                      // --threads
	By         By                        // --by
	Topology   bool                      // --topology
	Commands   func(command string) bool // whether this build has a command, for example "get tasks"; nil: none
}

func (o *DescribeOptions) has(command string) bool { return o.Commands != nil && o.Commands(command) }

// By is the value of --by: what the sums of a describe are over.
type By string

// The values of By; ByNothing shows the tables of the default form.
const (
	ByNothing     By = ""
	ByTopic       By = "topic"
	ByInstance    By = "instance"
	BySubtopology By = "subtopology"
)

// GroupDescription is what `describe group NAME` shows.
type GroupDescription struct {
	Head
	GroupFields
	Read

	g *model.Group
	o DescribeOptions
}

// GroupFields is one described group.
type GroupFields struct {
	Group           string         `json:"group"`
	GroupKind       string         `json:"group_kind"`
	State           string         `json:"state"`
	ProtocolType    *string        `json:"protocol_type"`
	Protocol        *string        `json:"protocol"`
	Mode            *string        `json:"mode"`
	Assignor        *string        `json:"assignor"`
	Epoch           *int32         `json:"epoch"`
	AssignmentEpoch *int32         `json:"assignment_epoch"`
	Coordinator     *Coordinator   `json:"coordinator"`
	Verdict         Verdict        `json:"verdict"`
	AssignmentBasis string         `json:"assignment_basis"`
	Positions       Positions      `json:"positions"`
	Totals          Totals         `json:"totals"`
	Timing          Timing         `json:"timing"`
	NextRebalance   *NextRebalance `json:"next_rebalance"`
	Prediction      *Prediction    `json:"prediction"` // what the planned rebalances come to; null where none is planned or it cannot be told
	Topology        Topology       `json:"topology"`
	Balance         *Balance       `json:"balance"`
	Instances       []Instance     `json:"instances"`
	Unassigned      []model.TaskID `json:"unassigned_tasks"`
	Offsets         []Offset       `json:"offsets"`
	Marks           []Mark         `json:"marks"`
	PlugIn          *PlugIn        `json:"plug_in"` // of our assignor; null where no instance is known to have it
	Control         *Control       `json:"control"` // null where the group has no control topic, or it was not read
}

// NewGroupDescription makes the report of one group.
func NewGroupDescription(g *model.Group, o DescribeOptions) *GroupDescription {
	return &GroupDescription{Head: head("GroupDescription"), GroupFields: newGroupFields(g), Read: readOf(g), g: g, o: o}
}

func newGroupFields(g *model.Group) GroupFields {
	f := GroupFields{
		Group: g.ID, GroupKind: kindName(g.Kind), State: g.State, ProtocolType: optional(g.ProtocolType), Protocol: optional(g.Protocol),
		Mode: optional(g.Mode), Assignor: optional(g.Assignor), Epoch: g.Epoch, AssignmentEpoch: g.AssignmentEpoch,
		Coordinator: newCoordinator(g.Coordinator), Verdict: newVerdict(g), AssignmentBasis: string(g.AssignmentBasis),
		Positions: newPositions(g.Positions), Totals: newTotals(g), Timing: newTiming(&g.Timing),
		NextRebalance: newNextRebalance(g.NextRebalance), Prediction: newPrediction(g), Topology: newTopology(&g.Topology), Balance: newBalance(g.Balance),
		Instances: make([]Instance, len(g.Instances)), Unassigned: g.Unassigned, Offsets: newOffsets(g.Offsets),
		Marks: make([]Mark, len(g.Marks)), Control: newControl(g.Control), PlugIn: newPlugIn(g.PlugIn),
	}
	if f.AssignmentBasis == "" {
		f.AssignmentBasis = string(model.AssignmentNone)
	}
	for i := range g.Instances {
		f.Instances[i] = newInstance(g, &g.Instances[i])
	}
	for i := range g.Marks {
		f.Marks[i] = *newMark(&g.Marks[i])
	}
	return f
}

// kindName is the kind as documents name it. What may or may not be a Streams
// app is a consumer group, with no basis for more.
func kindName(k model.Kind) string {
	switch k {
	case model.Unknown:
		return string(model.Consumer)
	case "":
		return string(model.Other)
	}
	return string(k)
}

// Text writes the screen.
func (d *GroupDescription) Text(p *render.Page) {
	s := newScreen(p, d.g, d.o)
	s.prediction = d.Prediction
	s.describe()
}

// Grid is a row a task and copy, as `get tasks` lists them.
func (d *GroupDescription) Grid() *render.Grid { return taskGrid([]*model.Group{d.g}) }

// Names is the group's, though the rows of the description are tasks.
func (d *GroupDescription) Names() []string { return []string{d.g.ID} }

// Notes are remarks for stderr that are no errors.
func (d *GroupDescription) Notes() []string { return d.g.Notes }
