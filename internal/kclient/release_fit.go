package kclient

import (
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// MayBe42 reports whether a broker that tells these API versions may be of a
// Kafka 4.2 release. It is not when it tells less of an API than 4.2 does, or all
// that 4.3 has besides; an API that it does not tell proves nothing, since a
// service in front of brokers may hide some.
func MayBe42(v *snapshot.APIVersions) bool {
	told := map[int16]int16{}
	for _, k := range v.Keys {
		told[k.Key] = k.Max
	}
	older := false
	v42, newer, all := kversion.V4_2_0(), 0, true
	v42.EachMaxKeyVersion(func(k, highest int16) {
		at, ok := told[k]
		older = older || ok && at < highest
	})
	kversion.V4_3_0().EachMaxKeyVersion(func(k, highest int16) {
		before, had := v42.LookupMaxKeyVersion(k)
		if had && before == highest {
			return
		}
		at, ok := told[k]
		if ok && at >= highest {
			newer++
		} else {
			all = false
		}
	})
	return !older && (newer == 0 || !all)
}
