package groupmeta

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParseBytes(t *testing.T) {
	raw := string([]byte{0xde, 0xad, 0xbe, 0xef, 0x00, 0xff, 0xfb})
	for _, c := range []struct{ name, in, want string }{
		{"hex", "deadbeef00fffb", raw},
		{"hex, capitals and white space", " DEAD beef\n00ff\tfb\n", raw},
		{"base64", base64.StdEncoding.EncodeToString([]byte(raw)), raw},
		{"base64 without padding", base64.RawStdEncoding.EncodeToString([]byte(raw)), raw},
		{"base64 in lines", "3q2+\n7wD/\r\n+w==", raw},
		{"hex digits, odd in number, are base64", "abc", "\x69\xb7"},
		{"hex digits, even in number, are hex", "abcd", "\xab\xcd"},
		{"nothing", "", ""},
	} {
		got, err := ParseBytes(c.in)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %x, %v, want %x", c.name, got, err, c.want)
		}
	}
	for _, in := range []string{"deadbeefX!", "a", "-"} {
		if b, err := ParseBytes(in); err == nil {
			t.Errorf("%q gives %x, want an error", in, b)
		}
	}
}

func TestDecodeLineErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{
			"truncated", `{"kind":"subscription","hex":"0000000b00"}`,
			`{"kind":"subscription","format_version":11,"error":{"message":"subscription: field \"latestSupportedVersion\" at offset 4: needs 4 bytes, 1 left","field":"latestSupportedVersion","offset":4}}`,
		},
		{
			"no bytes", `{"kind":"consumer-assignment","hex":""}`,
			`{"kind":"consumer-assignment","format_version":null,"error":{"message":"consumer-assignment: field \"version\" at offset 0: needs 2 bytes, 0 left","field":"version","offset":0}}`,
		},
		{
			"newer", `{"kind":"assignment","hex":"0000000f0000000d00"}`,
			`{"kind":"assignment","format_version":15,"error":{"message":"assignment: metadata version 15 (minimum compatible 13) not understood: newer than this build knows (11)","field":"version","offset":0}}`,
		},
		{
			"left over", `{"kind":"assignment","hex":"00000001000000000000000000ff"}`,
			`{"kind":"assignment","format_version":1,"decoded":{"version":1,"commonly_supported_version":-1,"active_tasks":[],"standby_tasks":[],"partitions_by_host":null,"standby_partitions_by_host":null,"error_code":null,"next_rebalance_ms":null},` +
				`"error":{"message":"assignment: field \"trailingBytes\" at offset 12: 2 bytes after the last field of version 1","field":"trailingBytes","offset":12}}`,
		},
		{
			"unknown kind", `{"kind":"connect","hex":"00"}`,
			`{"kind":"connect","format_version":null,"error":{"message":"unknown kind \"connect\": want subscription, assignment, consumer-subscription, consumer-assignment, metadata, stream-assignment","field":null,"offset":null}}`,
		},
		{
			"no hex", `{"kind":"subscription"}`,
			`{"kind":"subscription","format_version":null,"error":{"message":"no \"hex\" in the line","field":null,"offset":null}}`,
		},
		{
			"bad hex", `{"kind":"subscription","hex":"0x"}`,
			`{"kind":"subscription","format_version":null,"error":{"message":"\"hex\" is not hex: encoding/hex: invalid byte: U+0078 'x'","field":null,"offset":null}}`,
		},
	} {
		got, err := DecodeLine([]byte(c.in))
		if err == nil || string(got) != c.want {
			t.Errorf("%s\ngot  %s (%v)\nwant %s", c.name, got, err, c.want)
		}
	}
	for _, in := range []string{"", "{", "[]", `"x"`, `{"kind":7}`} {
		got, err := DecodeLine([]byte(in))
		if err == nil || !json.Valid(got) || !strings.Contains(string(got), `"error":{"message":"not a JSON object with kind and hex`) {
			t.Errorf("%q: got %s (%v)", in, got, err)
		}
	}
}

// Text that strangers chose never reaches a terminal as it is.
func TestLinesAreASCII(t *testing.T) {
	s := SubscriptionInfo{
		Version: 11, LatestSupportedVersion: 11, UserEndPoint: "\x1b[31mred\u202eright\u0085\x7f",
		ClientTags: []ClientTag{{"zone", "<\U0001f600>"}},
	}
	got, err := MarshalASCII(s.DecodedJSON())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		if c < 0x20 || c >= 0x7f {
			t.Fatalf("byte %#x in %q", c, got)
		}
	}
	for _, want := range []string{`"\u001b[31mred\u202eright\u0085\u007f"`, `"<\ud83d\ude00>"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	var back struct {
		Endpoint string `json:"user_endpoint"`
	}
	if err := json.Unmarshal(got, &back); err != nil || back.Endpoint != s.UserEndPoint {
		t.Errorf("read back as %q, %v", back.Endpoint, err)
	}
}

// What the JVM keeps as a set or a map is shown so: the last of two entries
// for one key counts.
func TestDocumentsHoldNothingTwice(t *testing.T) {
	task := Task{Subtopology: 1}
	s := SubscriptionInfo{Version: 7, LatestSupportedVersion: 7, TaskOffsetSums: []TaskOffsetSum{{task, 5}, {Task{}, 1}, {task, 6}}}
	got, err := MarshalASCII(s.DecodedJSON())
	if err != nil || !strings.Contains(string(got), `"task_offset_sums":[{"subtopology":0,"partition":0,"offset_sum":1},{"subtopology":1,"partition":0,"offset_sum":6}]`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestEncodersRefuse(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	named := []Task{{Topology: "billing"}}
	for _, c := range []struct {
		want   string
		encode func() ([]byte, error)
	}{
		{`encode subscription: field "version": format 0 is not 1 to 11`, (&SubscriptionInfo{}).Encode},
		{`encode assignment: field "version": format 12 is not 1 to 11`, (&AssignmentInfo{Version: 12}).Encode},
		{`encode subscription: field "latestSupportedVersion": 10 is below the used version 11`, (&SubscriptionInfo{Version: 11, LatestSupportedVersion: 10}).Encode},
		{`encode subscription: field "prevTasks.topologyName": formats before 10 have no topology names, task "billing__0_0" has one`, (&SubscriptionInfo{Version: 1, PrevTasks: named}).Encode},
		{`encode subscription: field "taskOffsetSums": formats before 10 have no topology names, task "billing__0_0" has one`, (&SubscriptionInfo{Version: 7, LatestSupportedVersion: 7, TaskOffsetSums: []TaskOffsetSum{{Task: named[0]}}}).Encode},
		{`encode assignment: field "activeTasks.topologyName": formats before 10 have no topology names, task "billing__0_0" has one`, (&AssignmentInfo{Version: 9, ActiveTasks: named}).Encode},
		{`encode assignment: field "partitionsByHost.host": text of 65536 bytes is too long`, (&AssignmentInfo{Version: 11, PartitionsByHost: []HostPartitions{{Host: long}}}).Encode},
		{`encode assignment: field "topicDictionary.index": index 3 is there twice`, (&AssignmentInfo{Version: 11, TopicDictionary: []DictionaryEntry{{3, "a"}, {3, "b"}}}).Encode},
		{`encode consumer-subscription: field "version": frame version -1`, (&ConsumerSubscription{Version: -1}).Encode},
		{`encode consumer-subscription: field "topics": text of 65536 bytes is too long`, (&ConsumerSubscription{Topics: []string{long}}).Encode},
	} {
		b, err := c.encode()
		if err == nil || err.Error() != c.want || b != nil {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	// Hosts of assignments go beyond what an int16 counts.
	a := AssignmentInfo{Version: 11, CommonlySupportedVersion: 11, PartitionsByHost: []HostPartitions{{Host: long[:40000]}}}
	b, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeAssignmentInfo(b); err != nil || len(got.PartitionsByHost[0].Host) != 40000 {
		t.Errorf("long host: %v", err)
	}
}

func TestProcessID(t *testing.T) {
	const text = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"
	p, err := ParseProcessID(text)
	if err != nil || p.String() != text || p[0] != 0x7b || p[15] != 0x01 {
		t.Errorf("got %s, %v", p, err)
	}
	for _, bad := range []string{"", "7b9f2c104d534f0e9a410c5d1be0a001", text + "00", "zb9f2c10-4d53-4f0e-9a41-0c5d1be0a001"} {
		if _, err := ParseProcessID(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestDecodeUnknownKind(t *testing.T) {
	_, err := Decode("connect", nil)
	if _, ok := errors.AsType[*UnknownKindError](err); !ok {
		t.Errorf("got %v", err)
	}
}

// Any generation below 0 is none, as the JVM reads it.
func TestNegativeGenerationIsNone(t *testing.T) {
	s := ConsumerSubscription{Version: 2, Generation: -87}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	wantDocument(t, KindConsumerSubscription, b, `{"version":2,"topics":[],"owned_partitions":[],"generation_id":-1,"rack_id":null,"user_data_length":-1,"user_data":null}`)
}
