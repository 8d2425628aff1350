package report

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// MemberDescription is what `describe member` shows.
type MemberDescription struct {
	Head
	Of
	Instance string `json:"instance"` // process id
	Member
	Read

	g  *model.Group
	in *model.Instance
	m  *model.Member
	o  DescribeOptions
}

// NewMemberDescription makes the report of one member of an instance of g.
func NewMemberDescription(g *model.Group, in *model.Instance, m *model.Member, o DescribeOptions) *MemberDescription {
	return &MemberDescription{
		Head: head("MemberDescription"), Of: ofGroup(g), Instance: in.ID, Member: newMember(m), Read: readOf(g), g: g, in: in, m: m, o: o,
	}
}

// Text writes the screen.
func (d *MemberDescription) Text(p *render.Page) {
	s := newScreen(p, d.g, d.o)
	s.partHeadline(shortName(d.m), "member")
	s.partVerdict(memberObjects([]model.Member{*d.m}))
	p.Blank()
	p.Facts(0, s.memberFacts(d.in, d.m))
	s.block(d.Grid())
}

// Grid is a row a task of the member.
func (d *MemberDescription) Grid() *render.Grid {
	return heldGrid(d.g, []model.Member{*d.m})
}

func (s *screen) memberFacts(in *model.Instance, m *model.Member) []render.Fact {
	var out []render.Fact
	add := func(label, text string) {
		if text != "" {
			out = append(out, render.Fact{Label: label, Text: text})
		}
	}
	add("Member", render.Escape(m.ID))
	add("Client id", render.Escape(m.ClientID))
	if m.InstanceID != "" {
		add("Instance-id", render.Escape(m.InstanceID)+" (static)")
	} else {
		add("Instance-id", "- (dynamic)")
	}
	add("Instance", render.Escape(instanceName(in)))
	host := strings.TrimPrefix(m.Host, "/")
	if m.Address != m.Host {
		host += ", " + strings.TrimPrefix(m.Address, "/") + " to the broker"
	}
	add("Host", render.Escape(host))
	if m.Epoch != nil {
		text := strconv.Itoa(int(*m.Epoch))
		if m.TargetEpoch != nil && *m.TargetEpoch != *m.Epoch {
			text += ", target " + strconv.Itoa(int(*m.TargetEpoch))
		}
		add("Epoch", text)
	}
	if m.ReportsOffsets != nil {
		add("Task offsets", plural(boolCount(*m.ReportsOffsets), "yes", "no"))
	}
	add("Metadata", metadataText(&m.Metadata))
	add("User data", hexText(m.Metadata.UserData))
	add("Assignment", assignmentText(&m.Assignment))
	add("Topics", render.Escape(strings.Join(m.Metadata.Topics, " ")))
	add("Notes", render.Escape(strings.Join(memberNotes(m), ", ")))
	add("Positions", s.positions())
	return out
}

func boolCount(b bool) int {
	if b {
		return 1
	}
	return 0
}

// metadataText says what the metadata are, or which byte could not be read.
func metadataText(m *model.MemberMetadata) string {
	if m.Status == model.MetadataEmpty {
		return "empty (nothing is known at the moment)"
	}
	text := formatText(m.Status, m.UsedVersion)
	if text == "" {
		return ""
	}
	if m.SupportedVersion > 0 {
		text += ", supports up to v" + strconv.Itoa(int(m.SupportedVersion))
	}
	if m.Error != "" {
		text += "; " + render.Escape(m.Error)
		if m.ErrorField != "" && !strings.Contains(m.Error, m.ErrorField) {
			text += " (field " + render.Escape(m.ErrorField) + ", offset " + strconv.Itoa(m.ErrorOffset) + ")"
		}
	}
	if m.ErrorCode != 0 {
		text += "; error code " + strconv.Itoa(int(m.ErrorCode))
	}
	if m.TrailingBytes > 0 {
		text += "; " + render.Count(m.TrailingBytes, "trailing byte")
	}
	return text
}

// formatText is the version of bytes that are there, and whether they are
// understood; "" for bytes without a version.
func formatText(status model.MetadataStatus, version int32) string {
	switch {
	case status == model.MetadataNewer:
		return "v" + strconv.Itoa(int(version)) + ": not understood"
	case status == model.MetadataMalformed:
		return "undecodable"
	case version == 0:
		return ""
	}
	return "v" + strconv.Itoa(int(version))
}

// hexText shows the first bytes of what was not understood (field case 43).
func hexText(b []byte) string {
	const shown = 32
	if len(b) == 0 {
		return ""
	}
	text := hex.EncodeToString(b[:min(len(b), shown)])
	var groups []string
	for len(text) > 8 {
		groups, text = append(groups, text[:8]), text[8:]
	}
	text = strings.Join(append(groups, text), " ")
	if len(b) > shown {
		text += " … (" + render.Count(len(b), "byte") + "; -o json has all)"
	}
	return text
}

func assignmentText(a *model.MemberAssignment) string {
	switch a.Status {
	case "":
		return ""
	case model.MetadataEmpty:
		return "empty"
	}
	text := formatText(a.Status, a.UsedVersion)
	if text == "" {
		return ""
	}
	if a.Error != "" {
		text += "; " + render.Escape(a.Error)
	}
	if a.TrailingBytes > 0 {
		text += "; " + render.Count(a.TrailingBytes, "trailing byte")
	}
	return text
}
