// Command streamctl shows and changes what the groups of Kafka stream
// processing applications do.
package main

import (
	"os"

	"github.com/streamctl/streamctl/cmd"
	"github.com/streamctl/streamctl/internal/ui"
)

func main() { os.Exit(cmd.Main(os.Args[1:], ui.System())) }
