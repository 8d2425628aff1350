package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/scenario"
)

// everyNth are the scenarios of the recorded files with a number that step
// divides, and some captured groups.
func everyNth(t *testing.T, step int) (all []*Input) {
	t.Helper()
	for _, glob := range []string{"../../testdata/assign/*.jsonl", "../scenario/testdata/learner/*.jsonl"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			list, err := scenario.Read(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range list {
				switch {
				case i%step > 0 || s.Kafka != nil && s.Kafka.Group.Topology.Len() > 200:
				case s.Kafka != nil:
					all = append(all, FromAssign(s.Name, s.Assignor, s.Kafka.KafkaVersion, s.Kafka.Group))
				default:
					all = append(all, FromLearner(s.Name, &s.Learner.Input))
				}
			}
		}
	}
	for _, name := range []string{"classic-learners", "classic-standbys", "classic-one-instance", "streams-stable-4.3.1", "streams-standbys-4.4.0"} {
		all = append(all, captured(t, name))
	}
	return all
}

// settingValues are some values that each setting may have, and one that it may
// not.
func settingValues() map[string][]string {
	const most = "9223372036854775807"
	return map[string][]string{
		KeyStandbys: {"0", "1", "3", "x"}, KeyWarmups: {"1", "100", most, "0"}, KeyAcceptableLag: {"0", "10000", most, "-1"}, KeyProbing: {"60000", "100000", "1"},
		KeyRackStrategy: {"none", "min_traffic", "balance_subtopology", "x"}, KeyRackTags: {"", "zone", "zone,cluster"}, KeyRackTraffic: {"0", "1", most, "-1"},
		KeyRackOverlap: {"0", "10", "x"}, KeySession: {"1", "45000", "31536000000", "0"}, KeyHeartbeat: {"1", "3000", "31536000000", "0"}, KeyMaxLearners: {"1", "unlimited", "0"},
		KeyRejoin: {"stable", "eager", "x"}, KeyFactor: {"1", "1.5", "3", "0.5"}, KeyScaleDown: {"0", "60000", "-1"}, KeyFollowUp: {"100", "5000", "1"},
	}
}

// anyChange draws a change in the form of its flag.
func anyChange(r *rand.Rand, in *Input) (flag, value string) {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	instance := in.Instances[r.IntN(len(in.Instances))]
	name := pick(instance.Name, instance.ID)
	switch pick("add", "add", "remove", "leaving", "bounce", "threads", "partitions", "wait") {
	case "add":
		value = strconv.Itoa(r.IntN(4)) + pick("", "", "x3") + pick("", ",name=x y", ",rack=rack1", ",state=all", ",id="+instance.ID)
		return "add", value + pick("", fmt.Sprintf(",id=%08x-0000-4000-8000-000000000000", r.Uint32()))
	case "remove":
		return "remove", name + pick("", ",how=stop", ",how=kill", ",how=leave")
	case "leaving":
		return "leaving", name
	case "bounce":
		return "bounce", name + pick("", ",threads=3", ",static", ",threads=1,static")
	case "threads":
		return "threads", name + "=" + strconv.Itoa(1+r.IntN(5))
	case "partitions":
		topic := "in-0-0"
		if subs := in.Topology.Subtopologies(); len(subs) > 0 && len(subs[0].Sources) > 0 {
			topic = subs[0].Sources[0]
		}
		return "partitions", topic + "=" + strconv.Itoa(1+r.IntN(60))
	}
	return "wait", strconv.Itoa(1 + r.IntN(3))
}

// anyOptions draws what a person may ask for, and tells it in words.
func anyOptions(r *rand.Rand, in *Input) (o Options, said string) {
	o = Options{Draws: 1 + r.IntN(3), Force: r.IntN(2) == 0, Set: map[string]string{}}
	for range r.IntN(4) {
		flag, value := anyChange(r, in)
		said += " --" + flag + " " + value
		if c, err := ParseChange(flag, value); err == nil {
			o.Changes = append(o.Changes, c)
		}
	}
	for range r.IntN(3) {
		key := SettingKeys()[r.IntN(len(SettingKeys()))]
		values := settingValues()[key]
		o.Set[key] = values[r.IntN(len(values))]
	}
	o.Factor = []float64{0, 0, 0, 1, 1.2, 999.999}[r.IntN(6)]
	o.Assignor = append([]string{"", "", "", ""}, assign.Names()...)[r.IntN(4+len(assign.Names()))]
	o.Rate = []Rate{{}, {}, {Records: 1}, {Records: 5000}, {Bytes: 1e7}, {Records: 1e18}}[r.IntN(6)]
	o.MaxRounds = []int{0, 0, 1, 2, 30}[r.IntN(5)]
	return o, fmt.Sprintf("%s set %v factor %v assignor %q rate %q rounds %d", said, o.Set, o.Factor, o.Assignor, o.Rate, o.MaxRounds)
}

// Whatever is asked of whatever group, there is a plan whose totals are the sums
// of its rounds, or a reason why there is none; the input stays as it was.
func TestAnyChangeOfAnyGroup(t *testing.T) {
	inputs := everyNth(t, 23)
	planned := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		in := inputs[r.IntN(len(inputs))]
		o, said := anyOptions(r, in)
		before, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Make(in, o)
		after, err2 := json.Marshal(in)
		if err2 != nil || string(after) != string(before) {
			t.Errorf("seed %d, %s%s: the input was changed", seed, in.Group, said)
		}
		_, refused := IsRefused(err)
		_, change := errors.AsType[*ChangeError](err)
		_, setting := errors.AsType[*SettingError](err)
		switch {
		case refused || change || setting:
			continue
		case err != nil && !strings.Contains(err.Error(), in.Group):
			t.Errorf("seed %d, %s%s: %v", seed, in.Group, said, err)
			continue
		case err != nil:
			continue
		}
		planned++
		if err := checkPlan(p); err != nil {
			t.Errorf("seed %d, %s%s: %v", seed, in.Group, said, err)
		}
		if r.IntN(10) == 0 {
			checkSweep(t, in, o)
		}
	}
	if t.Logf("%d plans", planned); planned < 100 {
		t.Errorf("only %d plans", planned)
	}
}

// checkPlan says what is wrong with a plan by itself.
func checkPlan(p *Plan) error {
	if _, err := json.Marshal(p); err != nil {
		return err
	}
	sum := Totals{Moves: 0}
	down, records, last := map[string]bool{}, int64(0), 0.0
	for i, r := range p.Rounds {
		if r.Round != i+1 || r.AtS < last {
			return fmt.Errorf("round %d at %v is the %d. after one at %v", r.Round, r.AtS, i+1, last)
		}
		last = r.AtS
		sum.Moves, sum.Learners, sum.Standbys = sum.Moves+len(r.Moves), sum.Learners+len(r.Learners), sum.Standbys+len(r.Standbys)
		if r.Trigger != TriggerHandOver {
			sum.Rounds++
		}
		for k, m := range r.Moves {
			if m.From == m.To || k > 0 && r.Moves[k-1].Task == m.Task {
				return fmt.Errorf("round %d has the move %+v", r.Round, m)
			}
		}
		for _, d := range r.Down {
			down[d.Task] = true
		}
		for _, c := range slices.Concat(r.Learners, r.Standbys) {
			if c.RemainingRecords != nil {
				records = plus(records, *c.RemainingRecords)
			}
		}
	}
	t := p.Totals
	if t.TasksDown != len(down) || t.RemainingRecords != nil && *t.RemainingRecords < records || t.DiscardedRecords < 0 || t.EarliestS < 0 {
		return fmt.Errorf("totals %+v of %d tasks down and %d records", t, len(down), records)
	}
	// What is extrapolated or cut off is in no round.
	for _, f := range p.Findings {
		if f.Code == NoteBound || f.Code == NoteUnfinished {
			return nil
		}
	}
	if t.Moves != sum.Moves || t.Learners != sum.Learners || t.Standbys != sum.Standbys || t.Rounds != sum.Rounds {
		return fmt.Errorf("totals %+v of rounds with %+v", t, sum)
	}
	return nil
}

// checkSweep compares the rows of a sweep with plans of their own.
func checkSweep(t *testing.T, in *Input, o Options) {
	t.Helper()
	spec := SweepSpec{Key: SweepFactor, Values: []string{"1", "1.5", "3"}}
	s, err := MakeSweep(in, o, spec)
	if err != nil {
		return // with this factor it is refused; the message is that of the plan
	}
	for i, value := range spec.Values {
		of, err := spec.options(o, value)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Make(in, of)
		if err != nil || !reflect.DeepEqual(s.Items[i].Totals, p.Totals) || !reflect.DeepEqual(s.Items[i].After, p.After) {
			t.Errorf("%s, factor %s: the row %+v is not that of a plan: %v", in.Group, value, s.Items[i], err)
		}
	}
}
