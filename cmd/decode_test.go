package cmd

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/ui"
)

func TestBatchLines(t *testing.T) {
	broken := errors.New("broken")
	long := strings.Repeat("x", 200_000)
	for name, c := range map[string]struct {
		in   io.Reader
		want []string // lines, "!" for one that is too long
		err  error
	}{
		"empty":       {strings.NewReader(""), nil, io.EOF},
		"blank":       {strings.NewReader("\n \r\n\t\n"), nil, io.EOF},
		"mark":        {strings.NewReader("\ufeffa\r\nb"), []string{"a", "b"}, io.EOF},
		"only a mark": {strings.NewReader("\ufeff"), nil, io.EOF},
		"long":        {strings.NewReader("a\n" + long + "\nb\n" + long), []string{"a", "!", "b", "!"}, io.EOF},
		"at limit":    {strings.NewReader(strings.Repeat("y", 100_000) + "\n"), []string{"!"}, io.EOF},
		"under limit": {strings.NewReader(strings.Repeat("y", 99_999) + "\nz"), []string{strings.Repeat("y", 99_999), "z"}, io.EOF},
		"error":       {io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), []string{"a"}, broken},
	} {
		lines := newBatchLines(c.in, 100_000)
		var got []string
		for {
			line, err := lines.next()
			if errors.Is(err, errLongLine) {
				line = []byte("!")
			} else if err != nil {
				if !errors.Is(err, c.err) {
					t.Errorf("%s: %v, want %v", name, err, c.err)
				}
				break
			}
			got = append(got, string(line))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %.50q, want %.50q", name, got, c.want)
		}
	}
}

// A file without a line end, such as a device, is given up.
func TestBatchLinesEndless(t *testing.T) {
	if _, err := newBatchLines(endlessText{}, 1000).next(); err == nil || errors.Is(err, errLongLine) {
		t.Errorf("%v", err)
	}
}

type endlessText struct{}

func (endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Lines of any kind are answered one by one; stdout is JSON, line by line.
func TestDecodeOddBatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batch")
	good := `{"kind":"consumer-assignment","hex":"000000000000ffffffff"}`
	lines := []string{
		"\ufeff" + good + "\r", "null", "[]", `"x"`, "{}", `{"kind":null,"hex":null}`, `{"kind":"\u001b[31m","hex":"00"}`, `{"kind":"subscription","hex":5}`,
		"\x1b[31m\xff\u202e", strings.Repeat("[", 20_000), `{"kind":"subscription","hex":"` + strings.Repeat("0", maxDecodeLine) + `"}`, good,
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runWith(t, fakeDeps(t, nil), "decode", "--from", path)
	if got.code != errs.Failed || !strings.Contains(got.err, "10 of 12 lines") {
		t.Errorf("exit %d, stderr %q", got.code, got.err)
	}
	answers := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines))
	}
	for i, a := range answers {
		if !json.Valid([]byte(a)) || strings.ContainsAny(a, "\x1b\u202e") || strings.Contains(a, "groupmeta") {
			t.Errorf("line %d: %q", i, a)
		}
		if bad := strings.Contains(a, `"error"`); bad == (i == 0 || i == len(lines)-1) {
			t.Errorf("line %d: %.200q", i, a)
		}
	}
}

// What decode has no form for is bad usage, not another form.
func TestDecodeFormats(t *testing.T) {
	for format, code := range map[string]int{"table": 0, "wide": 0, "json": 0, "yaml": 2, "csv": 2, "tsv": 2, "name": 2} {
		got := runWith(t, fakeDeps(t, nil), "decode", "consumer-assignment", "000000000000ffffffff", "-o", format)
		if got.code != code || code == 0 != json.Valid([]byte(got.out)) {
			t.Errorf("-o %s: exit %d, stdout %q", format, got.code, got.out)
		}
	}
}

// More than the bound on stdin is refused, not cut.
func TestDecodeLongStdin(t *testing.T) {
	d := fakeDeps(t, nil)
	d.io.In = io.LimitReader(endlessText{}, maxDecodeLine+1000)
	if got := runWith(t, d, "decode", "subscription", "-"); got.code != errs.Failed || got.out != "" || !strings.Contains(got.err, "stdin is longer") {
		t.Errorf("exit %d, stderr %.200q", got.code, got.err)
	}
}

// The example that needs no file can be pasted as it is, and every kind is
// explained.
func TestDecodeHelp(t *testing.T) {
	cmd := newDecodeCmd(newDeps(&ui.Streams{}))
	line, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	got := runWith(t, newDeps(&ui.Streams{}), strings.Fields(line)[1:]...)
	if got.code != 0 || !strings.Contains(got.out, `"clicks"`) {
		t.Errorf("%s: exit code %d: %s%s", line, got.code, got.out, got.err)
	}
	for _, kind := range groupmeta.DecodeKinds() {
		if !strings.Contains(cmd.Long, "\n  "+kind+" ") {
			t.Errorf("kind %s is not explained", kind)
		}
	}
}
