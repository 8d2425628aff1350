package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Request is what a plan was asked for, in the form of the command's flags, so
// that a saved plan can be made again (plan --check).
type Request struct {
	Changes      []RequestedChange `json:"changes"`
	Set          map[string]string `json:"set"`
	Factor       float64           `json:"balancing_factor"` // 0: not given
	Assignor     string            `json:"assignor"`         // "": not given
	KafkaVersion string            `json:"kafka_version"`
	Rate         Rate              `json:"restore_rate"`
	MaxRounds    int               `json:"max_rounds"`
}

// RequestedChange is one flag with its value.
type RequestedChange struct {
	Flag  string `json:"flag"` // add, remove, leaving, bounce, threads, partitions, wait
	Value string `json:"value"`
}

func requestOf(o *Options) Request {
	r := Request{Changes: []RequestedChange{}, Set: map[string]string{}, Factor: o.Factor, Assignor: o.Assignor, KafkaVersion: o.KafkaVersion, Rate: o.Rate, MaxRounds: o.MaxRounds}
	for k, v := range o.Set {
		r.Set[k] = v
	}
	for _, c := range o.Changes {
		r.Changes = append(r.Changes, requested(c))
	}
	return r
}

func requested(c Change) RequestedChange {
	switch x := c.(type) {
	case Add:
		return RequestedChange{"add", x.flag()}
	case Remove:
		if x.How != "" {
			return RequestedChange{"remove", x.Instance + ",how=" + x.How}
		}
		return RequestedChange{"remove", x.Instance}
	case Leaving:
		return RequestedChange{"leaving", x.Instance}
	case Bounce:
		return RequestedChange{"bounce", x.flag()}
	case Threads:
		return RequestedChange{"threads", fmt.Sprintf("%s=%d", x.Instance, x.Count)}
	case Partitions:
		return RequestedChange{"partitions", fmt.Sprintf("%s=%d", x.Topic, x.Count)}
	case Wait:
		return RequestedChange{"wait", strconv.Itoa(x.Rounds)}
	}
	return RequestedChange{}
}

func (a Add) flag() string {
	s := strconv.Itoa(a.Count)
	if a.Threads > 0 {
		s += "x" + strconv.Itoa(a.Threads)
	}
	for _, id := range a.IDs {
		s += ",id=" + id
	}
	for _, id := range a.Members {
		s += ",member=" + id
	}
	for _, name := range a.Names {
		s += ",name=" + name
	}
	if a.Rack != "" {
		s += ",rack=" + a.Rack
	}
	switch {
	case a.AllState:
		s += ",state=all"
	case len(a.State) > 0:
		var ids []string
		for _, t := range a.State {
			ids = append(ids, t.String())
		}
		s += ",state=" + strings.Join(ids, ",")
	}
	return s
}

func (b Bounce) flag() string {
	s := b.Instance
	if b.Threads > 0 {
		s += ",threads=" + strconv.Itoa(b.Threads)
	}
	if b.Static {
		s += ",static"
	}
	return s
}

// ParseBounce reads INSTANCE[,threads=N][,static].
func ParseBounce(text string) (Bounce, error) {
	b := Bounce{}
	b.Instance, b.Static = strings.CutSuffix(text, ",static")
	name, n, ok := cutLast(b.Instance, ",threads=")
	if ok {
		k, err := strconv.Atoi(n)
		if err != nil || k < 1 || k > maxThreads {
			return b, &ChangeError{"bounce " + text, strconv.Quote(n) + " is no number of threads"}
		}
		b.Instance, b.Threads = name, k
	}
	if b.Instance == "" {
		return b, &ChangeError{"bounce " + text, "no instance is named"}
	}
	return b, nil
}

// ParseChange reads a flag and its value: what the command's flags of that name
// take, and wait=ROUNDS.
func ParseChange(flag, value string) (Change, error) {
	switch flag {
	case "add":
		return ParseAdd(value)
	case "remove":
		return ParseRemove(value)
	case "leaving":
		if value == "" {
			return nil, &ChangeError{"leaving", "no instance is named"}
		}
		return Leaving{value}, nil
	case "bounce":
		return ParseBounce(value)
	case "threads":
		return ParseThreads(value)
	case "partitions":
		return ParsePartitions(value)
	case "wait":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return nil, &ChangeError{"wait " + value, "is no number of rounds"}
		}
		return Wait{n}, nil
	}
	return nil, &ChangeError{flag + " " + value, "is no change"}
}

// Options gives the options that make the plan again.
func (r Request) Options() (Options, error) {
	o := Options{Set: r.Set, Factor: r.Factor, Assignor: r.Assignor, KafkaVersion: r.KafkaVersion, Rate: r.Rate, MaxRounds: r.MaxRounds}
	for _, c := range r.Changes {
		x, err := ParseChange(c.Flag, c.Value)
		if err != nil {
			return o, err
		}
		o.Changes = append(o.Changes, x)
	}
	return o, nil
}
