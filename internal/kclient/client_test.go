package kclient

import (
	"regexp"
	"testing"
)

// Brokers refuse an ApiVersions request whose software version has other
// letters, and with it every command of a build from a changed checkout.
func TestSoftwareVersionIsOneThatBrokersTake(t *testing.T) {
	takes := regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)
	for in, want := range map[string]string{
		"1.2.3": "1.2.3", "": "0", "+": "0", "devel-0123456789ab": "devel-0123456789ab",
		"0.0.0-20261130023000-0123456789ab+dirty": "0.0.0-20261130023000-0123456789ab-dirty",
		"ü~": "0", "-1.": "1",
	} {
		got := softwareVersion(in)
		if got != want || !takes.MatchString(got) {
			t.Errorf("softwareVersion(%q) = %q, want %q", in, got, want)
		}
	}
}
