package cmd

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// blocks are the code blocks of a page in one language.
func blocks(page, language string) []string {
	var out []string
	for rest := page; ; {
		_, after, found := strings.Cut(rest, "```"+language+"\n")
		if !found {
			return out
		}
		block, more, _ := strings.Cut(after, "```")
		out, rest = append(out, block), more
	}
}

// manifest is what Kubernetes makes of a StatefulSet, as far as names must fit.
type manifest struct {
	Kind string
	Spec struct {
		Selector struct {
			Labels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Grace      int         `yaml:"terminationGracePeriodSeconds"`
				Init       []container `yaml:"initContainers"`
				Containers []container
				Volumes    []struct{ Name string }
			}
		}
		Claims []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
	}
}

type container struct {
	Name    string
	Command []string
	Mounts  []struct {
		Name string
		Path string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	Lifecycle struct {
		PreStop struct{ Exec struct{ Command []string } } `yaml:"preStop"`
	}
}

// The manifest of docs/howto/plug-in.md fits together, and its hook marks the
// instance of the pod that runs it, within the time that Kubernetes gives.
func TestPreStopOfThePlugInPage(t *testing.T) {
	t.Parallel()
	var m manifest
	for _, block := range blocks(howTo(t, "plug-in.md"), "yaml") {
		for d := yaml.NewDecoder(strings.NewReader(block)); ; {
			var one manifest
			err := d.Decode(&one)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, block)
			}
			if one.Kind == "StatefulSet" {
				m = one
			}
		}
	}
	pod := m.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.Init) != 1 {
		t.Fatalf("the page's manifest: %+v", m)
	}
	if labels := m.Spec.Template.Metadata.Labels; len(labels) == 0 || labels["app"] != m.Spec.Selector.Labels["app"] {
		t.Errorf("labels %v, selected by %v", labels, m.Spec.Selector.Labels)
	}
	var volumes []string
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, c := range m.Spec.Claims {
		volumes = append(volumes, c.Metadata.Name)
	}
	under := func(c container, file string) bool {
		for _, mount := range c.Mounts {
			if strings.HasPrefix(file, mount.Path+"/") {
				return slices.Contains(volumes, mount.Name)
			}
		}
		return false
	}
	hook := slices.Clone(pod.Containers[0].Lifecycle.PreStop.Exec.Command)
	file, wait := slices.Index(hook, "--command-config")+1, slices.Index(hook, "--timeout")+1
	if file == 0 || wait == 0 || !under(pod.Containers[0], hook[0]) || !under(pod.Containers[0], hook[file]) || !under(pod.Init[0], pod.Init[0].Command[2]) {
		t.Fatalf("the hook is %q with the volumes %q", hook, volumes)
	}
	if limit, err := time.ParseDuration(hook[wait]); err != nil || limit+30*time.Second > time.Duration(pod.Grace)*time.Second {
		t.Errorf("the hook waits for %s, Kubernetes for %d s: the app needs time after it (%v)", hook[wait], pod.Grace, err)
	}

	p := plugged(t)
	hook[slices.Index(hook, "-g")+1] = p.id
	hook[file] = filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(hook[file], []byte("bootstrap.servers=fake:9092\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runWith(t, fakeDeps(t, p, "HOSTNAME=pod-a"), append(hook[1:], "--dry-run")...)
	if got.code != 0 || !strings.Contains(got.err, "marking pod-a") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// Both pages name the class that there is, and every setting of the plug-in.
func TestPlugInPagesNameItsSettings(t *testing.T) {
	t.Parallel()
	const sources = "../jvm/src/main/java/"
	settings, err := os.ReadFile(sources + "io/github/streamctl/streams/PluginSettings.java")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../docs/protocol/plug-in.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`"(streamctl\.[a-z.]+)"`).FindAllStringSubmatch(string(settings), -1)
	if len(names) < 5 {
		t.Fatalf("%d settings", len(names))
	}
	for _, page := range []string{howTo(t, "plug-in.md"), string(rules)} {
		for _, n := range names {
			if !strings.Contains(page, "`"+n[1]+"`") {
				t.Errorf("a page lacks %s", n[1])
			}
		}
		class := regexp.MustCompile(`task\.assignor\.class(?:=|: |` + "` \\| \\| `" + `)([\w.]+)`).FindStringSubmatch(page)
		if class == nil {
			t.Error("a page names no class")
			continue
		}
		if _, err := os.Stat(sources + strings.ReplaceAll(class[1], ".", "/") + ".java"); err != nil {
			t.Error(err)
		}
	}
}
