package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/ui"
)

// docs/permissions.md has a row for every need that can-i knows, and no command
// that can-i does not know takes a right there.
func TestPermissionsPageSaysWhatCanISays(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "permissions.md"))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		commands            []string
		requests, acl, rest string
		used                bool
	}
	var rows []*row
	for _, l := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.ReplaceAll(l, `\|`, "/"), "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "command" {
			continue
		}
		r := &row{requests: cells[2], acl: strings.TrimSpace(cells[3]), rest: cells[4]}
		for i, c := range strings.Split(cells[1], "`") {
			if name, kinds, ok := strings.Cut(c, "/"); i%2 == 1 && ok { // get instances/members/tasks
				verb, first, _ := strings.Cut(name, " ")
				for _, k := range append([]string{first}, strings.Split(kinds, "/")...) {
					r.commands = append(r.commands, verb+" "+k)
				}
			} else if i%2 == 1 {
				r.commands = append(r.commands, c)
			}
		}
		if len(r.commands) == 0 && len(rows) > 0 {
			r.commands = rows[len(rows)-1].commands // a row of the same commands
		}
		rows = append(rows, r)
	}
	words := map[string]string{"cluster": "cluster", "group": "group", "topics": "topics", onControl: onControl}
	for _, n := range needs() {
		i := slices.IndexFunc(rows, func(r *row) bool {
			for _, api := range strings.Split(n.api, ", ") {
				if !strings.Contains(r.requests, api) {
					return false
				}
			}
			return slices.Contains(r.commands, n.command) && strings.Contains(r.acl, n.operation+" on ") && strings.Contains(r.acl, words[n.on])
		})
		if i < 0 {
			t.Errorf("no row: %s needs %s on %s for %s", n.command, n.operation, n.on, n.api)
			continue
		}
		rows[i].used = true
	}
	root := newRootCmd(newDeps(&ui.Streams{}))
	for _, r := range rows {
		if !r.used && !strings.HasPrefix(r.acl, "none") {
			t.Errorf("can-i knows nothing of the row of %q: %s", r.commands, r.acl)
		}
		for _, c := range r.commands {
			if _, rest, err := root.Find(strings.Fields(strings.TrimSuffix(c, " FILE"))); !strings.HasPrefix(c, "--") && (err != nil || len(rest) > 0) {
				t.Errorf("the page names %q, which is no command", c)
			}
		}
	}
}
