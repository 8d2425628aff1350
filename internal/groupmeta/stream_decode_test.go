package groupmeta

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The batch form of decode gives what the vectors expect, and says of a newer
// version that it is not understood, with both numbers.
func TestStreamVectorsThroughDecode(t *testing.T) {
	for _, file := range []string{"metadata.jsonl", "assignment.jsonl"} {
		for _, v := range readStreamVectors(t, file) {
			if v.ProtocolType != ProtocolTypeStream {
				continue
			}
			t.Run(v.Kind+"/"+v.Name, func(t *testing.T) { v.throughDecode(t) })
		}
	}
}

func (v *streamVector) throughDecode(t *testing.T) {
	out, err := DecodeLine(fmt.Appendf(nil, `{"kind":%q,"hex":%q}`, v.Kind, v.Hex))
	var got struct {
		FormatVersion *int            `json:"format_version"`
		Decoded       json.RawMessage `json:"decoded"`
		Error         *struct {
			Message string `json:"message"`
			Field   string `json:"field"`
			Offset  int    `json:"offset"`
		} `json:"error"`
	}
	if e := json.Unmarshal(out, &got); e != nil {
		t.Fatal(e)
	}
	switch {
	case v.Error == nil:
		if err != nil || got.Error != nil || got.FormatVersion == nil || *got.FormatVersion != StreamMajor {
			t.Fatalf("%s, %v", out, err)
		}
		if a, b := plainJSON(t, got.Decoded), plainJSON(t, v.Expected); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("got  %s\nwant %s", got.Decoded, v.Expected)
		}
	case got.Error == nil || got.Decoded != nil:
		t.Errorf("no error, or a document with it: %s", out)
	case v.Error.NewerMajor != 0:
		want := fmt.Sprintf("version %d is newer than this streamctl understands (%d)", v.Error.NewerMajor, StreamMajor)
		if m := got.Error.Message; !strings.Contains(m, "not understood") || !strings.Contains(m, want) {
			t.Errorf("message %q", m)
		}
	case got.Error.Field != v.Error.Field || got.Error.Offset != v.Error.Offset:
		t.Errorf("error %+v, want %+v", *got.Error, *v.Error)
	}
}
