package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// recorded is the group of a recorded snapshot.
func recorded(t *testing.T, name, id string) *model.Group {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "snapshot", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	s, err := snapshot.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := groupmeta.Build(s, id, groupmeta.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A group whose source topic is missing has nobody knows how many tasks: null,
// not 0, as what each instance should run.
func TestTasksOfAGroupThatIsNotReady(t *testing.T) {
	for name, known := range map[string]bool{"streams-not-ready-4.3.1": false, "streams-not-ready-4.4.0": false, "streams-stable-4.4.0": true} {
		id := "returns"
		if known {
			id = "billing"
		}
		g := recorded(t, name, id)
		doc := decode(t, write(t, render.Options{Format: render.JSON}, describe(g))).(map[string]any)
		in := doc["instances"].([]any)[0].(map[string]any)
		for what, v := range map[string]any{
			"totals.tasks": doc["totals"].(map[string]any)["tasks"], "expected_active": in["expected_active"], "balanced": in["balanced"], "balance": doc["balance"],
		} {
			if (v != nil) != known {
				t.Errorf("%s: %s is %v", name, what, v)
			}
		}
		if in["active"] == nil {
			t.Errorf("%s: what it runs is known", name)
		}
		list := decode(t, write(t, render.Options{Format: render.JSON}, NewGroupList([]*model.Group{g}, ListOptions{}))).(map[string]any)
		if n := list["groups"].([]any)[0].(map[string]any)["tasks"]; (n != nil) != known {
			t.Errorf("%s: get groups tells %v tasks", name, n)
		}
	}
}
