package cmd

import (
	"testing"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// A command that a hint gives to be copied does what it says, whatever an app
// calls itself.
func TestNamesInCommandsAreQuoted(t *testing.T) {
	m := &marking{s: &steered{g: &model.Group{ID: "my group"}}, targets: []target{{in: &model.Instance{Name: "pod-a"}, mark: control.Leaving{}}, {in: &model.Instance{Name: "`id`"}}}}
	if got, want := m.unmarkArgs(), "pod-a '`id`' -g 'my group'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
