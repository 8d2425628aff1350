//go:build realkafka

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// result is how a command ended and what it said.
type result struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// streamctlCmd is a streamctl process that knows no context and no settings of
// the one who runs the tests.
func streamctlCmd(ctx context.Context, t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := env.build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	return cmd
}

// streamctl runs a command against the cluster's plaintext listener.
func (c *cluster) streamctl(t testing.TB, args ...string) result {
	t.Helper()
	return runCmd(t, streamctlCmd(t.Context(), t, append(args, "--bootstrap-server", c.addrs[0])...))
}

func runCmd(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	res := result{stdout: out.String(), stderr: errs.String(), took: time.Since(start)}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		res.code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return res
}

// tool runs one of Kafka's own tools, which must succeed, and gives its
// standard output.
func (c *cluster) tool(t testing.TB, class string, args ...string) string {
	t.Helper()
	argv := env.java(c.spec.version, 256, append([]string{class, "--bootstrap-server", c.addrs[0]}, args...)...)
	res := runCmd(t, exec.CommandContext(t.Context(), argv[0], argv[1:]...))
	if res.code != 0 {
		t.Fatalf("%s: exit %d\n%s\n%s", class, res.code, res.stdout, res.stderr)
	}
	return res.stdout
}

// Classes of Kafka's tools.
const (
	consumerGroups = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
	streamsGroups  = "org.apache.kafka.tools.streams.StreamsGroupCommand"
)

// table cuts a tool's table into rows by column name. Lines before the heading
// (which starts with GROUP) are dropped; a value holds no blanks unless it is
// the last.
func table(t testing.TB, text string) []map[string]string {
	t.Helper()
	var head []string
	var rows []map[string]string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || (head == nil && words[0] != "GROUP") {
			continue
		}
		if words[0] == "GROUP" {
			head = words
			continue
		}
		row := map[string]string{}
		for i, h := range head {
			if i < len(words) {
				row[h] = words[i]
			}
		}
		if len(words) > len(head) {
			row[head[len(head)-1]] = strings.Join(words[len(head)-1:], " ")
		}
		rows = append(rows, row)
	}
	if head == nil {
		t.Fatalf("no heading in %q", text)
	}
	return rows
}

// doc is a JSON object; numbers are json.Number.
type doc map[string]any

func parse(t testing.TB, text string) doc {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var d doc
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("not one JSON object: %v\n%s", err, text)
	}
	if dec.More() {
		t.Fatalf("more than one JSON value:\n%s", text)
	}
	return d
}
