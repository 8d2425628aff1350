package report

import "github.com/streamctl/streamctl/internal/model"

// Member is one member with its tasks.
type Member struct {
	MemberFields
	Tasks []Task `json:"tasks"`
}

// MemberFields is a member without its tasks.
type MemberFields struct {
	ID          string   `json:"id"`
	ClientID    string   `json:"client_id"`
	InstanceID  *string  `json:"instance_id"` // group.instance.id
	Host        string   `json:"host"`        // by which people know it
	Address     string   `json:"address"`     // as the broker sees it
	Epoch       *int32   `json:"epoch"`
	TargetEpoch *int32   `json:"target_epoch"`
	Metadata    Metadata `json:"metadata"`
}

// Metadata is what became of a member's metadata.
type Metadata struct {
	UsedVersion      *int32         `json:"used_version"`
	SupportedVersion *int32         `json:"supported_version"`
	Status           string         `json:"status"` // ok, empty, newer, malformed
	Error            *MetadataError `json:"error"`
	TrailingBytes    int            `json:"trailing_bytes"`
	UserData         []byte         `json:"user_data_base64"` // only when it was not understood
}

// MetadataError says what could not be read, in which field, at which byte.
type MetadataError struct {
	Message string  `json:"message"`
	Field   *string `json:"field"`
	Offset  int     `json:"offset"`
}

func newMember(m *model.Member) Member {
	return Member{MemberFields: newMemberFields(m), Tasks: newTasks(m.Tasks)}
}

func newMemberFields(m *model.Member) MemberFields {
	return MemberFields{
		ID: m.ID, ClientID: m.ClientID, InstanceID: optional(m.InstanceID), Host: m.Host, Address: m.Address,
		Epoch: m.Epoch, TargetEpoch: m.TargetEpoch, Metadata: newMetadata(&m.Metadata),
	}
}

func newMetadata(m *model.MemberMetadata) Metadata {
	out := Metadata{
		UsedVersion: optionalInt(m.UsedVersion), SupportedVersion: optionalInt(m.SupportedVersion),
		Status: string(m.Status), TrailingBytes: m.TrailingBytes, UserData: m.UserData,
	}
	if out.Status == "" {
		out.Status = string(model.MetadataOK)
	}
	if m.Error != "" {
		out.Error = &MetadataError{Message: m.Error, Field: optional(m.ErrorField), Offset: m.ErrorOffset}
	}
	return out
}
