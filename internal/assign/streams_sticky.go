package assign

// StreamsSticky is the task assignor of a KIP-1071 broker (assignors.md,
// section 4). It moves few tasks and knows no warm-ups. It has no fixed point:
// from its own target it may make another one.
type StreamsSticky struct{ Variant StickyVariant }

// StickyVariant tells the versions of the broker's assignor apart.
type StickyVariant uint8

// The variants.
const (
	Sticky42 StickyVariant = iota // of 4.2 and 4.3
	Sticky44                      // since 4.4: offsets count, better choice of a standby
)

// Name is "streams-sticky".
func (StreamsSticky) Name() string { return NameStreamsSticky }

// Assign gives the target that follows from the previous tasks of the members.
// The order of the members decides some ties.
func (a StreamsSticky) Assign(g *Group) (*Result, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	s := newSticky(g, a.Variant)
	left := s.keepActives()
	left = s.promoteStandbys(left)
	s.placeActives(left)
	if g.Settings.Standbys > 0 {
		s.placeStandbys()
	}
	return s.result(), nil
}
