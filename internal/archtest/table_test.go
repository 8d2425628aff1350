package archtest

import "strings"

// row is one line of the layout table: what a package may import.
type row struct {
	pkg    string   // below the module; "" is main.go
	ours   []string // packages of this module; "*" all of them
	others []string // modules or packages of others, with what is below them
	pure   bool     // no clock, network, files, random or printing
	tests  bool     // holds test code only: nothing is checked
}

// layout is the table of layout.md, section 2, from the top down. A new
// package needs a line here and there.
func layout() []row {
	const (
		franz = "github.com/twmb/franz-go/pkg/"
		kgo   = franz + "kgo"
		kadm  = franz + "kadm"
		kmsg  = franz + "kmsg"
		kbin  = franz + "kbin"
		kerr  = franz + "kerr" // names of Kafka's error codes: goes wherever kgo goes
	)
	// What stands below worker in the table.
	below := list("kclient controltopic report render progress plan scenario assign groupmeta snapshot control config model errs ui clock")
	return []row{
		{pkg: "", ours: []string{"cmd", "internal/ui"}},
		{
			pkg:  "cmd",
			ours: append([]string{"internal/lab"}, below...),
			// pflag is cobra's own flag package.
			others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
		},
		{
			pkg:    "internal/lab",
			ours:   append([]string{"worker"}, below...),
			others: []string{franz + "kfake", kgo, kadm, kmsg, kerr, "golang.org/x/sync"},
		},
		{pkg: "examples/clicks", ours: []string{"worker"}, others: []string{kgo}},
		{
			pkg:    "worker",
			ours:   list("model groupmeta assign control controltopic seat taskrun clock"),
			others: []string{kgo, kmsg, kerr},
		},
		{
			pkg:  "internal/kclient",
			ours: list("model errs snapshot groupmeta control controltopic config clock"),
			// kversion and sasl are parts of kgo under other names.
			others: []string{kgo, kadm, kmsg, kerr, franz + "kversion", franz + "sasl", "golang.org/x/sync"},
		},
		{pkg: "internal/seat", ours: list("model"), others: []string{kgo, kmsg, kerr}},
		{pkg: "internal/taskrun", ours: list("model clock"), others: []string{kgo, kmsg, kerr, "go.etcd.io/bbolt"}},
		{
			pkg:  "internal/controltopic",
			ours: list("control errs clock"),
			// What kgo unpacks batches with, here within bounds.
			others: []string{kgo, kadm, kmsg, kerr, "github.com/klauspost/compress", "github.com/pierrec/lz4/v4"},
		},
		{pkg: "internal/report", ours: list("model groupmeta plan progress render"), pure: true},
		{
			pkg:  "internal/render",
			ours: list("model ui"),
			// runewidth is what tablewriter measures with.
			others: []string{
				"github.com/olekukonko/tablewriter", "github.com/mattn/go-runewidth", "github.com/fatih/color", "go.yaml.in/yaml/v3",
				"github.com/vbauerster/mpb/v8",
			},
		},
		{pkg: "internal/progress", ours: list("model plan control"), pure: true},
		{pkg: "internal/plan", ours: list("model assign"), pure: true},
		{pkg: "internal/scenario", ours: list("model assign errs javaorder"), pure: true},
		{pkg: "internal/assign", ours: list("model javaorder"), pure: true},
		{pkg: "internal/javaorder", pure: true},
		{pkg: "internal/groupmeta", ours: list("model snapshot control"), others: []string{kmsg, kbin}, pure: true},
		{pkg: "internal/snapshot", ours: list("model errs"), pure: true},
		{pkg: "internal/control", ours: list("model"), pure: true},
		{
			pkg:  "internal/config",
			ours: list("errs"),
			others: []string{
				"go.yaml.in/yaml/v3", "software.sslmate.com/src/go-pkcs12", "github.com/pavlo-v-chernykh/keystore-go/v4",
				"github.com/youmark/pkcs8", "golang.org/x/oauth2",
			},
		},
		{pkg: "internal/e2e", tests: true},
		{pkg: "internal/chaos", tests: true},
		{pkg: "internal/archtest", tests: true},
		{pkg: "internal/model", pure: true},
		{pkg: "internal/errs", pure: true},
		{pkg: "internal/clock"},
		// x/term gives the width of a terminal and reads answers.
		{pkg: "internal/ui", others: []string{"github.com/mattn/go-isatty", "golang.org/x/term"}},
	}
}

// list gives the internal packages named in a text; worker is public.
func list(names string) []string {
	var out []string
	for _, n := range strings.Fields(names) {
		out = append(out, "internal/"+n)
	}
	return out
}
