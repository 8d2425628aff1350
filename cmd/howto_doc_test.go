package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/streamctl/streamctl/internal/ui"
)

func howTo(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "howto", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The story howto-scale-down.txtar runs the script of docs/howto/scale-down.md
// as it stands there.
func TestScriptOfTheScaleDownPage(t *testing.T) {
	story, err := txtar.ParseFile(filepath.Join("..", "testdata", "script", "howto-scale-down.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(howTo(t, "scale-down.md"), "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	i := slices.IndexFunc(story.Files, func(f txtar.File) bool { return f.Name == "drain.sh" })
	if !found || i < 0 || string(story.Files[i].Data) != script {
		t.Errorf("the page has another script than the story:\n%s", script)
	}
}

// Every command line of README and how-to pages is one of this build, flags
// included.
func TestCommandsOfThePages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "docs", "howto", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, p := range append(pages, filepath.Join("..", "README.md")) {
		page, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range commandLines(string(page)) {
			lines++
			if err := parses(words(l)[1:]); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(p), l, err)
			}
		}
	}
	if lines < 40 {
		t.Errorf("only %d command lines found", lines)
	}
}

// parses says what a command line has that this build has not.
func parses(args []string) error {
	root := newRootCmd(newDeps(&ui.Streams{Env: func(string) (string, bool) { return "", false }}))
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if rest = c.Flags().Args(); c.HasSubCommands() && c.Name() != "lab" && len(rest) > 0 {
		return fmt.Errorf("%s has no %q", c.Name(), rest[0])
	}
	return nil
}

// The check of the pages finds what is wrong.
func TestParses(t *testing.T) {
	for line, right := range map[string]bool{
		"streamctl mode set clicks incremental --yes": true, "streamctl mode put clicks": false, "streamctl frob": false,
		"streamctl wait clicks --for stable --settel 3s": false, `streamctl unmark pod-c -g clicks --reason "not today" # x`: true,
	} {
		if err := parses(words(line)[1:]); (err == nil) != right {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// commandLines are the lines of a page that are typed, with what continues
// them, and the commands within its text.
func commandLines(page string) []string {
	var out []string
	for i, code := range strings.Split(page, "`") {
		if i%2 == 1 && strings.HasPrefix(code, "streamctl ") && !strings.ContainsAny(code, "…\n") {
			out = append(out, code)
		}
	}
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		l, ok := strings.CutPrefix(lines[i], "$ streamctl ")
		if !ok {
			continue
		}
		for strings.HasSuffix(l, `\`) && i+1 < len(lines) {
			i++
			l = strings.TrimSuffix(l, `\`) + strings.TrimSpace(lines[i])
		}
		out = append(out, "streamctl "+l)
	}
	return out
}

// words splits a line as a shell does: quotes hold words together, a comment, a
// pipe and a second command are no words of the first.
func words(line string) []string {
	var out []string
	for len(line) > 0 {
		line = strings.TrimLeft(line, " ")
		var w string
		if q := line != "" && (line[0] == '"' || line[0] == '\''); q {
			w, line, _ = strings.Cut(line[1:], line[:1])
		} else {
			w, line, _ = strings.Cut(line, " ")
		}
		if w == "#" || w == "|" || w == "&&" || w == ">" || w == "&" {
			break
		}
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// preStop is what the manifest of a page says about the end of a pod.
type preStop struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Lifecycle struct {
						PreStop struct{ Exec struct{ Command []string } } `yaml:"preStop"`
					}
				}
			}
		}
	}
	Data map[string]string `yaml:"stringData"`
}

// The hook of docs/howto/kubernetes.md drains the pod that runs it, with the
// client properties of the page's Secret, without a terminal, within the time
// that Kubernetes gives.
func TestPreStopOfTheKubernetesPage(t *testing.T) {
	t.Parallel()
	_, manifest, _ := strings.Cut(howTo(t, "kubernetes.md"), "```yaml\n")
	manifest, _, _ = strings.Cut(manifest, "```")
	var command []string
	var properties string
	var grace time.Duration
	for d := yaml.NewDecoder(strings.NewReader(manifest)); ; {
		var m preStop
		if d.Decode(&m) != nil {
			break
		}
		switch m.Kind {
		case "StatefulSet":
			command = m.Spec.Template.Spec.Containers[0].Lifecycle.PreStop.Exec.Command
			grace = time.Duration(m.Spec.Template.Spec.Grace) * time.Second
		case "Secret":
			properties = m.Data["client.properties"]
		}
	}
	at := slices.Index(command, "--command-config")
	wait := slices.Index(command, "--timeout")
	if len(command) < 2 || at < 0 || wait < 0 || command[0] != "/tools/streamctl" {
		t.Fatalf("the hook is %q", command)
	}
	if limit, err := time.ParseDuration(command[wait+1]); err != nil || limit+30*time.Second > grace {
		t.Errorf("the hook waits for %s, Kubernetes for %s: the app needs time after it (%v)", command[wait+1], grace, err)
	}

	j := startJob(t, 3, 0)
	var plain []string
	for _, l := range strings.Split(properties, "\n") {
		switch key, _, _ := strings.Cut(l, "="); key {
		case "bootstrap.servers":
			plain = append(plain, "bootstrap.servers="+j.Status().Bootstrap)
		case "security.protocol", "sasl.mechanism", "sasl.jaas.config", "ssl.truststore.type", "ssl.truststore.location": // the lab has no login
		default:
			plain = append(plain, l)
		}
	}
	file := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(file, []byte(strings.Join(plain, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	command[at+1] = file
	d := newDeps(&ui.Streams{In: strings.NewReader("")})
	d.io.Env = func(name string) (string, bool) { return "pod-b", name == "HOSTNAME" }
	var out, errOut bytes.Buffer
	d.io.Out, d.io.Err = &out, &errOut
	if code := execute(context.Background(), command[1:], d); code != 0 || !strings.Contains(out.String(), "drained: pod-b") {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
	j.until("pod-b is out", func() bool { return j.pod("pod-b").State == "drained" })
	j.right()
}
