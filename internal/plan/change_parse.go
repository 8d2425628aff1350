package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Bounds of what can be asked for.
const (
	maxAdded   = 10_000
	maxThreads = 1_000
)

// ParseAdd reads N[xTHREADS][,id=UUID…][,name=NAME…][,rack=RACK][,state=all|TASK,TASK…], for
// example "2x4" or "1,id=2387…,state=0_1,0_2". member=ID gives member ids of groups in
// which they break ties.
func ParseAdd(text string) (Add, error) {
	fail := func(why string) (Add, error) { return Add{}, &ChangeError{"add " + text, why} }
	parts := strings.Split(text, ",")
	n, threads, many := strings.Cut(parts[0], "x")
	a := Add{}
	var err error
	if a.Count, err = strconv.Atoi(n); err != nil || a.Count < 0 || a.Count > maxAdded {
		return fail("the number of instances is no whole number up to " + strconv.Itoa(maxAdded))
	}
	if many {
		if a.Threads, err = strconv.Atoi(threads); err != nil || a.Threads < 1 || a.Threads > maxThreads {
			return fail("the number of threads is no whole number from 1 to " + strconv.Itoa(maxThreads))
		}
	}
	inState := false
	for _, p := range parts[1:] {
		key, value, ok := strings.Cut(p, "=")
		switch {
		case ok && key == "id":
			id, err := canonicalUUID(value)
			if err != nil {
				return fail("the id " + strconv.Quote(value) + " is no UUID")
			}
			if slices.Contains(a.IDs, id) {
				return fail("the id " + id + " is there twice")
			}
			a.IDs, inState = append(a.IDs, id), false
		case ok && key == "member":
			a.Members, inState = append(a.Members, value), false
		case ok && key == "name" && value != "":
			a.Names, inState = append(a.Names, value), false
		case ok && key == "rack":
			a.Rack, inState = value, false
		case ok && key == "state":
			inState = true
			if value == "all" {
				a.AllState, inState = true, false
				continue
			}
			p, ok = value, false
			fallthrough
		case !ok && inState:
			id, err := model.ParseTaskID(p)
			if err != nil {
				return fail(err.Error())
			}
			a.State = append(a.State, id)
		default:
			return fail(strconv.Quote(p) + " is neither id=UUID nor name=NAME, rack=RACK, state=all or state=TASKS")
		}
	}
	if len(a.IDs) > a.Count {
		return fail("more ids than instances")
	}
	if len(a.Names) > a.Count {
		return fail("more names than instances")
	}
	return a, nil
}

// ParseRemove reads INSTANCE[,how=stop|kill|leave].
func ParseRemove(text string) (Remove, error) {
	name, how, ok := cutLast(text, ",how=")
	r := Remove{Instance: name}
	if ok {
		if !slices.Contains([]string{HowStop, HowKill, HowLeave}, how) {
			return r, &ChangeError{"remove " + text, strconv.Quote(how) + " is none of stop, kill, leave"}
		}
		r.How = how
	}
	if name == "" {
		return r, &ChangeError{"remove " + text, "no instance is named"}
	}
	return r, nil
}

// ParseThreads reads INSTANCE=N.
func ParseThreads(text string) (Threads, error) {
	name, n, err := nameAndNumber("threads "+text, text, maxThreads)
	return Threads{name, n}, err
}

// ParsePartitions reads TOPIC=N.
func ParsePartitions(text string) (Partitions, error) {
	name, n, err := nameAndNumber("partitions "+text, text, 1_000_000)
	return Partitions{name, n}, err
}

func nameAndNumber(change, text string, most int) (string, int, error) {
	name, number, ok := cutLast(text, "=")
	n, err := strconv.Atoi(number)
	switch {
	case !ok || name == "":
		return "", 0, &ChangeError{change, "is not NAME=NUMBER"}
	case err != nil || n < 1 || n > most:
		return "", 0, &ChangeError{change, strconv.Quote(number) + " is no whole number from 1 to " + strconv.Itoa(most)}
	}
	return name, n, nil
}

// ParseSet reads KEY=VALUE.
func ParseSet(text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	switch {
	case !ok || key == "":
		return "", "", &ChangeError{"set " + text, "is not KEY=VALUE"}
	case !slices.Contains(SettingKeys(), key):
		return "", "", unknownSetting(key, value)
	}
	return key, value, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
