package kclient

import (
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// ReleaseOf names the Kafka release that a broker's API versions fit, for
// example "v4.3", "at least v4.4" or "between v3.8 and v3.9". API versions never
// tell the patch level. "" when nothing is known.
func ReleaseOf(v *snapshot.APIVersions) string {
	if len(v.Keys) == 0 {
		return ""
	}
	known := new(kversion.Versions)
	for _, k := range v.Keys {
		known.SetMaxKeyVersion(k.Key, k.Max)
	}
	return known.VersionGuess()
}
