package progress

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// ledRounds counts the rounds of an app with our assignor, of which a leader
// tells one after the other in the control topic. They have no number that could
// be seen (docs/protocol/plug-in.md, Status).
type ledRounds struct {
	leader string
	offset int64
	seen   int32
}

// roundOfPlugIn counts the rounds that were told of since the drain began, and
// takes the positions of each once: between two rounds nobody tells any.
func (d *Drain) roundOfPlugIn(g *model.Group, at time.Time) *int32 {
	p := g.PlugIn
	if p.Leader != d.led.leader || p.Offset != d.led.offset {
		d.led.leader, d.led.offset = p.Leader, p.Offset
		d.led.seen++
		d.samples.add(g, at)
		d.stand(g, at)
	}
	if d.led.seen == 0 {
		return nil
	}
	n := d.led.seen
	return &n
}

// unhonoured says why a mark may not be honoured yet in an app with our
// assignor.
func unhonoured(p *model.PlugIn) string {
	switch {
	case p.Leader == "":
		return "no leader has told of a round since"
	case p.Fresh:
		return "the round that sees it has not come"
	case len(p.Lacks) > 0:
		return "the last round was led by an instance without the plug-in"
	}
	return "the round that sees it is not told of yet"
}

// told reports whether roles and positions are known as well as they can be: of
// an app with our assignor only while its leader's word is of the present round.
func told(g *model.Group) bool { return g.PlugIn == nil || g.PlugIn.Fresh }
