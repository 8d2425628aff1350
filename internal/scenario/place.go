package scenario

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// level is an open object or list on the way to a value.
type level struct {
	list bool
	next int    // lists: number of the next element, from 0
	name string // objects: field whose value comes next
	key  bool   // objects: a name comes next
}

// placeAt says where in a JSON object the value is that ends at an offset, or,
// of an object or a list, the one that has just begun there: fields by name,
// elements of lists by number, for example "processes[2].consumers[0].owned[1]".
// It is "" when there is none.
func placeAt(data []byte, offset int64) string {
	var open []level
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		delim, _ := token.(json.Delim)
		if n := len(open); n > 0 && open[n-1].key && delim == 0 {
			open[n-1].name, _ = token.(string)
			open[n-1].key = false
			continue
		}
		switch {
		case delim == ']' || delim == '}':
			open = open[:len(open)-1]
		case d.InputOffset() >= offset:
			return place(open)
		case delim != 0:
			open = append(open, level{list: delim == '[', key: delim == '{'})
			continue
		}
		if n := len(open); n > 0 { // a value is complete
			open[n-1].next++
			open[n-1].key = !open[n-1].list
		}
	}
}

func place(open []level) string {
	var at []byte
	for _, l := range open {
		switch {
		case l.list:
			at = append(strconv.AppendInt(append(at, '['), int64(l.next), 10), ']')
		case len(at) > 0:
			at = append(append(at, '.'), l.name...)
		default:
			at = append(at, l.name...)
		}
	}
	return string(at)
}
