package control_test

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/control"
)

const replaceValue = `{"schema_version":1,"mark":"m","with":1,"old":["7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"],"at":"2026-11-30T06:30:00.000Z","who":"alice@ops-1","reason":null}`

// What a replacement rests on is checked field by field.
func TestReplaceRecordsThatDoNotDecode(t *testing.T) {
	if r, err := control.DecodeReplace([]byte(replaceValue)); err != nil || r.With != 1 || len(r.Old) != 1 || r.Mark != "m" {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, c := range map[string][2]string{
		"no mark":       {`"mark":"m"`, `"mark":null`},
		"empty mark":    {`"mark":"m"`, `"mark":""`},
		"none to come":  {`"with":1`, `"with":0`},
		"too many":      {`"with":1`, `"with":2147483648`},
		"no old":        {`["7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"]`, `null`},
		"nobody":        {`["7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"]`, `[]`},
		"no UUID":       {`7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001`, `pod-a`},
		"upper case":    {`7b9f2c10`, `7B9F2C10`},
		"a fraction":    {`"with":1`, `"with":1.5`},
		"newer version": {`"schema_version":1`, `"schema_version":2`},
	} {
		if r, err := control.DecodeReplace([]byte(strings.Replace(replaceValue, c[0], c[1], 1))); err == nil {
			t.Errorf("%s: decoded as %+v", name, r)
		}
	}
}

// The last record decides, a tombstone ends it, and so does what does not
// decode.
func TestReplaceInAFold(t *testing.T) {
	good := control.Record{Key: control.KeyReplace, Value: []byte(replaceValue), Offset: 4}
	s := control.Fold([]control.Record{good})
	if s.Replace == nil || s.Replace.Offset != 4 {
		t.Fatalf("%+v", s.Replace)
	}
	end := control.Replaced()
	end.Offset = 5
	if s.Apply(end); s.Replace != nil || len(s.Problems()) != 0 {
		t.Errorf("after the tombstone: %+v, %v", s.Replace, s.Problems())
	}
	s = control.Fold([]control.Record{good, {Key: control.KeyReplace, Value: []byte("{}"), Offset: 5}})
	if s.Replace != nil || len(s.Problems()) != 1 {
		t.Errorf("after bytes that do not decode: %+v, %v", s.Replace, s.Problems())
	}
}
