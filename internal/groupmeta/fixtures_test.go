package groupmeta

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// wireFixture is one line of testdata/wire.
type wireFixture struct {
	KafkaVersion  string          `json:"kafka_version"`
	Kind          string          `json:"kind"`
	Case          string          `json:"case"`
	FormatVersion int             `json:"format_version"`
	Hex           string          `json:"hex"`
	Expected      json.RawMessage `json:"expected"`
}

func (f wireFixture) name() string {
	return fmt.Sprintf("%s/%s/%s/v%d", f.KafkaVersion, f.Kind, f.Case, f.FormatVersion)
}

func (f wireFixture) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(f.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wireFixtures reads all recorded lines of the given kinds, of every kind when
// none is given.
func wireFixtures(t testing.TB, kinds ...string) []wireFixture {
	t.Helper()
	files, err := filepath.Glob("../../testdata/wire/*.jsonl")
	if err != nil || len(files) != 22 {
		t.Fatalf("recordings of 22 releases wanted, got %d (%v)", len(files), err)
	}
	var out []wireFixture
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var fixture wireFixture
			if err := json.Unmarshal(lines.Bytes(), &fixture); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if len(kinds) == 0 || slices.Contains(kinds, fixture.Kind) {
				out = append(out, fixture)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// findFixture returns one recorded case.
func findFixture(t testing.TB, kafka, kind, name string) wireFixture {
	t.Helper()
	for _, f := range wireFixtures(t, kind) {
		if f.KafkaVersion == kafka && f.Case == name {
			return f
		}
	}
	t.Fatalf("no case %q of kind %s in the recordings of %s", name, kind, kafka)
	return wireFixture{}
}

// Every recorded line decodes to exactly what the JVM says it holds, to the
// byte.
func TestFixturesDecode(t *testing.T) {
	fixtures := wireFixtures(t)
	if len(fixtures) != 116 {
		t.Fatalf("%d cases, want 116", len(fixtures))
	}
	for _, f := range fixtures {
		t.Run(f.name(), func(t *testing.T) {
			d, err := Decode(f.Kind, f.bytes(t))
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind != f.Kind || d.FormatVersion != f.FormatVersion || d.TrailingBytes != 0 {
				t.Errorf("got kind %s, version %d, %d trailing bytes", d.Kind, d.FormatVersion, d.TrailingBytes)
			}
			got, err := MarshalASCII(d.Document)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(f.Expected) {
				t.Errorf("decoded differs\ngot  %s\nwant %s", got, f.Expected)
			}
		})
	}
}

// The batch form gives the same documents.
func TestFixturesDecodeLine(t *testing.T) {
	for _, f := range wireFixtures(t) {
		got, err := DecodeLine(fmt.Appendf(nil, `{"kind":%q,"case":%q,"hex":%q}`, f.Kind, f.Case, f.Hex))
		want := fmt.Sprintf(`{"kind":%q,"format_version":%d,"decoded":%s}`, f.Kind, f.FormatVersion, f.Expected)
		if err != nil || string(got) != want {
			t.Errorf("%s\ngot  %s (%v)\nwant %s", f.name(), got, err, want)
		}
	}
}

// reencode decodes and encodes again.
func reencode(kind string, b []byte) ([]byte, error) {
	switch kind {
	case KindSubscription:
		s, err := DecodeSubscriptionInfo(b)
		if err != nil {
			return nil, err
		}
		return s.Encode()
	case KindAssignment:
		a, err := DecodeAssignmentInfo(b)
		if err != nil {
			return nil, err
		}
		return a.Encode()
	case KindConsumerSubscription:
		s, err := DecodeConsumerSubscription(b)
		if err != nil {
			return nil, err
		}
		return s.Encode()
	}
	a, err := DecodeConsumerAssignment(b)
	if err != nil {
		return nil, err
	}
	return a.Encode()
}

// The encoders give back the bytes of every release: the values keep the
// order of the wire, also where it is a hash order.
func TestFixturesEncode(t *testing.T) {
	for _, f := range wireFixtures(t) {
		got, err := reencode(f.Kind, f.bytes(t))
		if err != nil || hex.EncodeToString(got) != f.Hex {
			t.Errorf("%s\ngot  %x (%v)\nwant %s", f.name(), got, err, f.Hex)
		}
	}
}
