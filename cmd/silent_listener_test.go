package cmd

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/streamctl/streamctl/internal/ui"
)

// A port that takes connections and never answers is named by every command, in
// the same words.
func TestSilentListenerIsNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // nothing depends on it
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() }) //nolint:errcheck // nothing depends on it
		}
	}()
	var all sync.WaitGroup
	for _, line := range []string{
		"get groups", "describe group shop", "check stop pod-a -g shop", "check stop pod-a", "plan shop --add 1", "wait shop --for stable --settle 0s",
		"wait shop --for drained --instance pod-a", "watch shop --for 3s", "snapshot shop", "can-i -g shop", "mark-leaving pod-a -g shop", "mark-leaving pod-a -g shop --wait",
		"unmark pod-a -g shop", "mode get shop", "mode set shop incremental --yes", "rebalance shop --yes", "rebalance shop --yes --until converged",
		"replace shop --with 1 --yes", "remove-member shop --instance pod-a --yes",
	} {
		// All at once: each does nothing but wait, and a busy machine has to get to
		// the end of its connecting within the time.
		all.Go(func() {
			args := strings.Fields(line)
			got := runWith(t, newDeps(&ui.Streams{In: strings.NewReader("")}), append(args, "--bootstrap-server", l.Addr().String(), "--timeout", "3s")...)
			want := "error: " + l.Addr().String() + " accepted the connection and said nothing for "
			if got.code != 1 || !strings.HasPrefix(got.err, want) || !strings.Contains(got.err, "hint: check the port") {
				t.Errorf("%s: exit code %d\n%s%s", line, got.code, got.out, got.err)
			}
		})
	}
	all.Wait()
}
