package kclient

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/snapshot"
)

func told(v *kversion.Versions, drop ...int16) *snapshot.APIVersions {
	out := &snapshot.APIVersions{}
	v.EachMaxKeyVersion(func(k, highest int16) {
		for _, d := range drop {
			if k == d {
				return
			}
		}
		out.Keys = append(out.Keys, snapshot.APIRange{Key: k, Max: highest})
	})
	return out
}

// Every release but 4.2 is told apart from it; what nothing tells may be 4.2, and
// so may a broker some of whose APIs are hidden.
func TestMayBe42(t *testing.T) {
	for name, c := range map[string]struct {
		v    *snapshot.APIVersions
		want bool
	}{
		"3.6": {told(kversion.V3_6_0()), false}, "3.9": {told(kversion.V3_9_0()), false}, "4.0": {told(kversion.V4_0_0()), false},
		"4.1": {told(kversion.V4_1_0()), false}, "4.2": {told(kversion.V4_2_0()), true}, "4.3": {told(kversion.V4_3_0()), false}, "4.4": {told(kversion.V4_4_0()), false},
		"nothing told":           {&snapshot.APIVersions{}, true},
		"4.2 with an API hidden": {told(kversion.V4_2_0(), 0, 37), true},
		"4.2 and one that no release has": {func() *snapshot.APIVersions {
			v := told(kversion.V4_2_0())
			v.Keys = append(v.Keys, snapshot.APIRange{Key: 10_000, Max: 3})
			return v
		}(), true},
	} {
		if got := MayBe42(c.v); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
