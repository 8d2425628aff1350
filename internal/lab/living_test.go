package lab

import (
	"fmt"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// Few groups live, each of which takes a moment to settle; of many none does, so
// that a lab of 10,000 groups is there at once.
func TestManyGroupsDoNotLive(t *testing.T) {
	for n, want := range map[int]bool{1: true, maxLivingGroups: true, maxLivingGroups + 1: false, 10_000: false} {
		s := &snapshot.Snapshot{}
		for i := range n {
			s.Groups = append(s.Groups, snapshot.Group{ID: fmt.Sprint("g", i), Classic: &snapshot.ClassicGroup{
				State: stateStable, ProtocolType: "consumer", Protocol: streamsProtocol, Members: make([]snapshot.ClassicMember, 4),
			}})
		}
		if got := living(s)(&s.Groups[0]); got != want {
			t.Errorf("of %d groups one lives: %v", n, got)
		}
	}
}
