package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every line of the log that docs/howto/plug-in.md explains is one that the
// plug-in writes.
func TestPlugInPageNamesLogLines(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../jvm/src/main/java/io/github/streamctl/streams/*.java")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	unquoted := strings.NewReplacer(`\"`, "", `"`, "")
	written := unquoted.Replace(sources.String())
	_, page, _ := strings.Cut(howTo(t, "plug-in.md"), "## What it says in the log\n")
	page, _, _ = strings.Cut(page, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(page, -1)
	if len(rows) < 7 {
		t.Fatalf("%d lines in the table", len(rows))
	}
	for _, row := range rows {
		for _, line := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			for part := range strings.SplitSeq(unquoted.Replace(line[1]), "…") {
				if !strings.Contains(written, strings.TrimSpace(part)) {
					t.Errorf("the plug-in does not write %q of %q", part, line[1])
				}
			}
		}
	}
}
