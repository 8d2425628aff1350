package groupmeta

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Field case 35: a version from the future is a result that names both
// numbers, not the end of the program.
func TestFieldCase35VersionFromTheFuture(t *testing.T) {
	userData := binary.BigEndian.AppendUint32(nil, 99)
	userData = binary.BigEndian.AppendUint32(userData, 99)
	userData = append(userData, "20 bytes of anything"...)

	s, err := DecodeSubscriptionInfo(userData)
	if err != nil || !s.NotUnderstood() || s.Version != 99 || s.LatestSupportedVersion != 99 {
		t.Errorf("subscription: %+v, %v", s, err)
	}
	a, err := DecodeAssignmentInfo(userData)
	if err != nil || !a.NotUnderstood() || a.Version != 99 || a.CommonlySupportedVersion != 99 {
		t.Errorf("assignment: %+v, %v", a, err)
	}
	for _, kind := range []string{KindSubscription, KindAssignment} {
		_, err := Decode(kind, userData)
		newer, ok := errors.AsType[*NewerFormatError](err)
		if !ok || newer.Version != 99 || newer.Stated != 99 || newer.Newest != 11 {
			t.Fatalf("%s: %v", kind, err)
		}
		if m := err.Error(); !strings.Contains(m, "99 (minimum compatible 99) not understood") || !strings.Contains(m, "newer than this build knows (11)") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	// Inside a frame the rest of the member is there.
	frame := ConsumerSubscription{Version: 1, Topics: []string{"orders"}, UserData: userData}
	b, err := frame.Encode()
	if err != nil {
		t.Fatal(err)
	}
	wantDocument(t, KindConsumerSubscription, b, `{"version":1,"topics":["orders"],"owned_partitions":[],"generation_id":null,"rack_id":null,`+
		`"user_data_length":28,"user_data":{"version":99,"latest_supported_version":99,"not_understood":true}}`)
	given := ConsumerAssignment{Assigned: []TopicPartitions{{"orders", []int32{3}}}, UserData: userData}
	if b, err = given.Encode(); err != nil {
		t.Fatal(err)
	}
	wantDocument(t, KindConsumerAssignment, b, `{"version":0,"assigned_partitions":[["orders",3]],"user_data_length":28,`+
		`"user_data":{"version":99,"commonly_supported_version":99,"not_understood":true},"active_by_task":null}`)
}

func wantDocument(t *testing.T, kind string, b []byte, want string) {
	t.Helper()
	d, err := Decode(kind, b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := MarshalASCII(d.Document)
	if err != nil || string(got) != want {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
}

// Field case 36: every format from 1 to 11 shows what the member runs, of both
// structures.
func TestFieldCase36EveryFormat(t *testing.T) {
	subscriptions, assignments := map[int32]bool{}, map[int32]bool{}
	for _, f := range wireFixtures(t, KindSubscription, KindAssignment) {
		switch f.Case {
		case "running-and-standby":
			s, err := DecodeSubscriptionInfo(f.bytes(t))
			got := fmt.Sprint(taskIDs(s.PrevActive()), taskIDs(s.PrevStandby()), s.ProcessID)
			if want := "[0_0 0_1 1_0] [1_3 2_2] 0e3b8d52-77aa-4c1d-8f20-5b7c9d0e1f02"; err != nil || got != want {
				t.Errorf("%s: got %s (%v), want %s", f.name(), got, err, want)
			}
			subscriptions[s.Version] = true
		case "two-source-subtopology":
			a, err := DecodeAssignmentInfo(f.bytes(t))
			if got := fmt.Sprint(taskIDs(a.ActiveTasks), len(a.StandbyTasks)); err != nil || got != "[1_0 1_1 0_0 1_0 1_1] 2" {
				t.Errorf("%s: got %s (%v)", f.name(), got, err)
			}
			assignments[a.Version] = true
		}
	}
	if len(subscriptions) != NewestFormat || len(assignments) != NewestFormat {
		t.Errorf("formats seen: subscriptions %v, assignments %v", subscriptions, assignments)
	}
}

func taskIDs(tasks []Task) []string {
	out := make([]string, 0, len(tasks))
	for _, t := range tasks {
		out = append(out, t.ID().String())
	}
	return out
}

// Field case 39: no assignment, an empty one and one without topics are read
// without harm.
func TestFieldCase39MemberWithoutAssignment(t *testing.T) {
	for _, b := range [][]byte{nil, {}} {
		for _, kind := range DecodeKinds()[:4] {
			_, err := Decode(kind, b)
			d, ok := errors.AsType[*DecodeError](err)
			if !ok || d.Field != "version" || d.Offset != 0 {
				t.Errorf("%s of no bytes: %v", kind, err)
			}
		}
	}
	empty := ConsumerAssignment{Version: 3}
	b, err := empty.Encode()
	if err != nil {
		t.Fatal(err)
	}
	wantDocument(t, KindConsumerAssignment, b, `{"version":3,"assigned_partitions":[],"user_data_length":-1,"user_data":null,"active_by_task":null}`)
}

// Field case 41: what follows a frame newer than v3 is counted; in a known
// version it is a finding, and the known fields are still there.
func TestFieldCase41TrailingBytes(t *testing.T) {
	owned := []TopicPartitions{{Topic: "audit", Partitions: []int32{0, 1}}}
	for _, c := range []struct {
		frame    ConsumerSubscription
		stray    int
		trailing int    // counted, no finding
		finding  string // error of Decode
	}{
		{ConsumerSubscription{Version: 1, Topics: []string{"audit"}, Owned: owned, Generation: NoGeneration}, 0, 0, ""},
		{ConsumerSubscription{Version: 3, Topics: []string{"audit"}, Owned: owned, Generation: 7, Rack: "a"}, 0, 0, ""},
		{ConsumerSubscription{Version: 9, Topics: []string{"audit"}, Owned: owned, Generation: 7, Rack: "a"}, 4, 4, ""},
		{
			ConsumerSubscription{Version: 3, Topics: []string{"audit"}, Owned: owned, Generation: 7, Rack: "a"}, 4, 0,
			`consumer-subscription: field "trailingBytes" at offset 47: 4 bytes after the last field of version 3`,
		},
	} {
		b, err := c.frame.Encode()
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, make([]byte, c.stray)...)
		s, err := DecodeConsumerSubscription(b)
		if err != nil || s.TrailingBytes != c.stray || s.Rack != c.frame.Rack || s.Generation != c.frame.Generation || len(s.Owned) != 1 {
			t.Errorf("version %d with %d stray bytes: %+v, %v", c.frame.Version, c.stray, s, err)
		}
		d, err := Decode(KindConsumerSubscription, b)
		if d.Document == nil || d.TrailingBytes != c.trailing || (err == nil) != (c.finding == "") || err != nil && err.Error() != c.finding {
			t.Errorf("version %d with %d stray bytes: %+v, %v", c.frame.Version, c.stray, d, err)
		}
	}
	line, err := DecodeLine([]byte(`{"kind":"consumer-subscription","hex":"0009000000010001610000000000000000ffffffffffffdeadbeef"}`))
	want := `{"kind":"consumer-subscription","format_version":9,"decoded":{"version":9,"topics":["a"],"owned_partitions":[],"generation_id":-1,` +
		`"rack_id":null,"user_data_length":0,"user_data":{"opaque_hex":""}},"trailing_bytes":4}`
	if err != nil || string(line) != want {
		t.Errorf("got  %s (%v)\nwant %s", line, err, want)
	}
	// The same for user data: known formats only.
	for _, f := range wireFixtures(t) {
		d, err := Decode(f.Kind, append(f.bytes(t), 1, 2, 3))
		finding, ok := errors.AsType[*DecodeError](err)
		if !ok || finding.Field != "trailingBytes" || finding.Offset != len(f.Hex)/2 {
			t.Fatalf("%s: %v", f.name(), err)
		}
		got, err := MarshalASCII(d.Document)
		if err != nil || string(got) != string(f.Expected) {
			t.Errorf("%s: known fields are lost: %s", f.name(), got)
		}
	}
}

// Field case 43: a member's bytes that do not decode name field and offset.
func TestFieldCase43CutAfter19Bytes(t *testing.T) {
	b := findFixture(t, "2.6.3", KindSubscription, "running-and-standby").bytes(t)[:19]
	_, err := DecodeSubscriptionInfo(b)
	d, ok := errors.AsType[*DecodeError](err)
	if !ok || d.Structure != "subscription" || d.Field != "processId" || d.Offset != 8 {
		t.Fatalf("got %v", err)
	}
	line, err := DecodeLine(fmt.Appendf(nil, `{"kind":"subscription","hex":%q}`, hex.EncodeToString(b)))
	if err == nil {
		t.Error("no error for a cut line")
	}
	var out struct {
		FormatVersion int             `json:"format_version"`
		Decoded       json.RawMessage `json:"decoded"`
		Error         struct {
			Message, Field string
			Offset         int
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatal(err)
	}
	if out.FormatVersion != 8 || out.Decoded != nil || out.Error.Field != "processId" || out.Error.Offset != 8 || out.Error.Message == "" {
		t.Errorf("got %s", line)
	}
}
