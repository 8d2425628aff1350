package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSecretNeverPrints(t *testing.T) {
	const value = "hunter2"
	s := Secret(value)
	type holder struct {
		Name string
		Key  Secret
		Many []Secret
	}
	h := holder{"n", s, []Secret{s}}
	var out []string
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d", "%c", "%U", "%10s", "%t"} {
		out = append(out, fmt.Sprintf(verb, s), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &h))
	}
	out = append(out, fmt.Sprint(s), fmt.Sprintln(h), fmt.Errorf("x %w", fmt.Errorf("%v", s)).Error())
	js, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	ym, err := yaml.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s, "all", h)
	out = append(out, string(js), string(ym), log.String())
	for _, text := range out {
		low := strings.ToLower(text)
		if strings.Contains(low, value) || strings.Contains(low, fmt.Sprintf("%x", value)) || strings.Contains(low, "104 117") {
			t.Errorf("the value is visible in %q", text)
		}
	}
	if s.Reveal() != value || s.String() != hidden || Secret("").String() != "" {
		t.Errorf("Reveal %q, String %q, empty %q", s.Reveal(), s, Secret(""))
	}
}
