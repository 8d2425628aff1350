package control

import (
	"cmp"
	"math"
	"slices"
)

const (
	maxSubtopologies = 10_000
	maxInstances     = 10_000
	maxTopics        = 10_000 // in one list

	minFollowUpMs, maxFollowUpMs = 100, 3_600_000 // docs/protocol/plug-in.md, Settings
)

// Round is what the leader says of the whole round.
type Round struct {
	Generation   *int32 // nil: not known
	Settings     Settings
	Topology     []Subtopology   // sorted by id
	Instances    []RoundInstance // sorted by id
	MarksVoid    bool            // no instance stays, so the marks do not count
	AnotherRound bool            // another round follows at once
	FollowUpMs   *int64          // a plug-in's time between rounds while learners run; nil: not told
}

// Settings are the leader's settings (docs/protocol/metadata.md, As JSON).
type Settings struct {
	BalancingFactor       int64  // in thousandths, ≥ 1000
	StandbyReplicas       int32  // per stateful task, learners not counted
	AcceptableRecoveryLag int64  // records
	MaxLearners           *int64 // in the group, ≥ 1; nil: unlimited
	RejoinPolicy          string // "stable" or "eager"
	ScaleDownTimeoutMs    *int64 // nil: infinity
}

// Subtopology is one part of the topology as the leader has it.
type Subtopology struct {
	ID                      int32
	Stateful                bool
	Partitions              int32 // tasks 0…Partitions−1; 0: not known
	SourceTopics            []string
	RepartitionSourceTopics []string
	RepartitionSinkTopics   []string
	ChangelogTopics         []string
	Stores                  []string // names of its state stores
}

// RoundInstance is one instance in the leader's round.
type RoundInstance struct {
	ID      string // UUID
	Workers int32
	Leaving bool
	PlugIn  bool     // it is known to run our assignor; true for workers
	Marks   []string // ids that it honours, as the leader sees it
	Tasks   []Task   // sorted by id, each once
}

type roundWire struct {
	Generation   *int64              `json:"generation"`
	Settings     *settingsWire       `json:"settings"`
	Topology     []subtopologyWire   `json:"topology"`
	Instances    []roundInstanceWire `json:"instances"`
	MarksVoid    *bool               `json:"marks_void"`
	AnotherRound *bool               `json:"another_round"`
	FollowUpMs   *int64              `json:"followup_interval_ms,omitempty"`
}

type settingsWire struct {
	Factor      *int64  `json:"balancing_factor_thousandths"`
	Standbys    *int64  `json:"num_standby_replicas"`
	Lag         *int64  `json:"acceptable_recovery_lag"`
	MaxLearners *int64  `json:"max_learners"`
	Policy      *string `json:"rejoin_policy"`
	TimeoutMs   *int64  `json:"scale_down_timeout_ms"`
}

type subtopologyWire struct {
	ID                *int64   `json:"id"`
	Stateful          *bool    `json:"stateful"`
	Partitions        *int64   `json:"partitions"`
	Sources           []string `json:"source_topics"`
	RepartitionSource []string `json:"repartition_source_topics"`
	RepartitionSink   []string `json:"repartition_sink_topics"`
	Changelogs        []string `json:"changelog_topics"`
	Stores            []string `json:"stores"`
}

type roundInstanceWire struct {
	ID      *string         `json:"id"`
	Workers *int64          `json:"workers"`
	Leaving *bool           `json:"leaving"`
	PlugIn  *bool           `json:"plug_in"`
	Marks   []string        `json:"marks"`
	Tasks   []roundTaskWire `json:"tasks"`
}

func (r *Round) wire() *roundWire {
	if r == nil {
		return nil
	}
	s := r.Settings
	w := roundWire{
		Generation: optional64(r.Generation),
		Settings: &settingsWire{
			&s.BalancingFactor, ref(int64(s.StandbyReplicas)), &s.AcceptableRecoveryLag, s.MaxLearners, &s.RejoinPolicy, s.ScaleDownTimeoutMs,
		},
		Topology:     []subtopologyWire{},
		Instances:    []roundInstanceWire{},
		MarksVoid:    &r.MarksVoid,
		AnotherRound: &r.AnotherRound,
		FollowUpMs:   r.FollowUpMs,
	}
	for _, t := range slices.SortedFunc(slices.Values(r.Topology), bySubtopology) {
		w.Topology = append(w.Topology, subtopologyWire{
			ref(int64(t.ID)), ref(t.Stateful), ref(int64(t.Partitions)), orEmpty(t.SourceTopics),
			orEmpty(t.RepartitionSourceTopics), orEmpty(t.RepartitionSinkTopics), orEmpty(t.ChangelogTopics), orEmpty(t.Stores),
		})
	}
	for _, i := range slices.SortedFunc(slices.Values(r.Instances), byInstance) {
		w.Instances = append(w.Instances, roundInstanceWire{
			ref(i.ID), ref(int64(i.Workers)), ref(i.Leaving), ref(i.PlugIn), orEmpty(i.Marks), roundTasksWire(i.Tasks),
		})
	}
	return &w
}

func bySubtopology(a, b Subtopology) int { return cmp.Compare(a.ID, b.ID) }
func byInstance(a, b RoundInstance) int  { return cmp.Compare(a.ID, b.ID) }

func (f *fields) round(field string, w *roundWire) *Round {
	r := &Round{
		Generation:   f.optionalCount(field+".generation", w.Generation),
		Settings:     f.settings(field+".settings", w.Settings),
		Topology:     []Subtopology{},
		Instances:    []RoundInstance{},
		MarksVoid:    need(f, field+".marks_void", w.MarksVoid),
		AnotherRound: need(f, field+".another_round", w.AnotherRound),
	}
	if w.FollowUpMs != nil {
		r.FollowUpMs = ref(f.number(field+".followup_interval_ms", w.FollowUpMs, minFollowUpMs, maxFollowUpMs))
	}
	f.list(field+".topology", w.Topology == nil, len(w.Topology), maxSubtopologies)
	f.list(field+".instances", w.Instances == nil, len(w.Instances), maxInstances)
	for i := 0; i < len(w.Topology) && f.err == nil; i++ {
		var one fields
		r.Topology = append(r.Topology, one.subtopology(&w.Topology[i]))
		f.take(field+".topology", i, &one)
	}
	for i := 0; i < len(w.Instances) && f.err == nil; i++ {
		var one fields
		r.Instances = append(r.Instances, one.roundInstance(&w.Instances[i]))
		f.take(field+".instances", i, &one)
	}
	slices.SortStableFunc(r.Topology, bySubtopology)
	slices.SortStableFunc(r.Instances, byInstance)
	for i := 1; i < len(r.Topology); i++ {
		if r.Topology[i].ID == r.Topology[i-1].ID {
			f.wrong(field+".topology", "has subtopology %d twice", r.Topology[i].ID)
		}
	}
	for i := 1; i < len(r.Instances); i++ {
		if r.Instances[i].ID == r.Instances[i-1].ID {
			f.wrong(field+".instances", "has an instance twice")
		}
	}
	return r
}

func (f *fields) settings(field string, p *settingsWire) Settings {
	w := need(f, field, p)
	s := Settings{
		BalancingFactor:       f.number(field+".balancing_factor_thousandths", w.Factor, 1000, math.MaxInt64),
		StandbyReplicas:       f.count(field+".num_standby_replicas", w.Standbys),
		AcceptableRecoveryLag: f.number(field+".acceptable_recovery_lag", w.Lag, 0, math.MaxInt64),
		RejoinPolicy:          need(f, field+".rejoin_policy", w.Policy),
		ScaleDownTimeoutMs:    f.optionalNumber(field+".scale_down_timeout_ms", w.TimeoutMs),
	}
	if w.MaxLearners != nil {
		s.MaxLearners = ref(f.number(field+".max_learners", w.MaxLearners, 1, math.MaxInt64))
	}
	if w.Policy != nil && s.RejoinPolicy != "stable" && s.RejoinPolicy != "eager" {
		f.wrong(field+".rejoin_policy", "is neither stable nor eager")
	}
	return s
}

func (f *fields) subtopology(w *subtopologyWire) Subtopology {
	return Subtopology{
		ID:                      f.count("id", w.ID),
		Stateful:                need(f, "stateful", w.Stateful),
		Partitions:              f.count("partitions", w.Partitions),
		SourceTopics:            f.ids("source_topics", w.Sources, maxTopics),
		RepartitionSourceTopics: f.ids("repartition_source_topics", w.RepartitionSource, maxTopics),
		RepartitionSinkTopics:   f.ids("repartition_sink_topics", w.RepartitionSink, maxTopics),
		ChangelogTopics:         f.ids("changelog_topics", w.Changelogs, maxTopics),
		Stores:                  f.ids("stores", w.Stores, maxTopics),
	}
}

func (f *fields) roundInstance(w *roundInstanceWire) RoundInstance {
	i := RoundInstance{
		ID:      f.id("id", w.ID),
		Workers: f.count("workers", w.Workers),
		Leaving: need(f, "leaving", w.Leaving),
		PlugIn:  need(f, "plug_in", w.PlugIn),
		Marks:   f.ids("marks", w.Marks, maxMarks),
		Tasks:   f.roundTasks("tasks", w.Tasks),
	}
	if w.ID != nil && !IsUUID(i.ID) {
		f.wrong("id", "is not a UUID in lower case")
	}
	return i
}
