package cmd

import (
	"time"

	"github.com/streamctl/streamctl/internal/progress"
)

// drainBars draws a line a task on a terminal, in place.
type drainBars struct{ d *deps }

func newDrainBars(d *deps) *drainBars { return nil }

func (b *drainBars) say(text string) bool                            { return false }
func (b *drainBars) draw(since time.Duration, l *progress.DrainLook) {}
func (b *drainBars) close()                                          {}
