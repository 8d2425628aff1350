//go:build pin

package main

// Keeps the pinned modules in go.mod while the packages that use them are
// being written; removed once everything imports what it needs.
import (
	_ "github.com/adrg/xdg"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/fatih/color"
	_ "github.com/magiconair/properties"
	_ "github.com/mattn/go-isatty"
	_ "github.com/mattn/go-runewidth"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/pavlo-v-chernykh/keystore-go/v4"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "github.com/twmb/franz-go/pkg/kadm"
	_ "github.com/twmb/franz-go/pkg/kfake"
	_ "github.com/twmb/franz-go/pkg/kgo"
	_ "github.com/twmb/franz-go/pkg/kmsg"
	_ "github.com/youmark/pkcs8"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/oauth2/clientcredentials"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
	_ "software.sslmate.com/src/go-pkcs12"
)
