package kclient

import (
	"cmp"
	"errors"
	"slices"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

var errNoModel = errors.New("no member's metadata are those of a Kafka Streams thread")

// visitorMetadata is what a visitor says of itself: normally no round sees it,
// but one can, and then it decides whether the leader survives (broker-facts.md,
// section 6). It is one more thread of a live process that has nothing: the
// frame and topics of a member, its process and what belongs to that, the lowest
// format in use, no tasks, no partitions. Nothing in it lowers what the group
// has agreed on.
func visitorMetadata(members []snapshot.ClassicMember) ([]byte, error) {
	known, newer := models(members)
	switch {
	case len(known) > 0:
		return likeThread(known)
	case len(newer) > 0:
		return copyOfNewer(&newer[0])
	}
	return nil, errNoModel
}

// threadModel is what one member said of itself.
type threadModel struct {
	id    string
	frame groupmeta.ConsumerSubscription
	info  groupmeta.SubscriptionInfo
}

// models are the members whose metadata are whole: those in formats known here,
// by format, and those in newer ones; both by member id.
func models(members []snapshot.ClassicMember) (known, newer []threadModel) {
	for i := range members {
		m := threadModel{id: members[i].ID}
		var err error
		if m.frame, err = groupmeta.DecodeConsumerSubscription(members[i].Metadata); err != nil || len(m.frame.UserData) == 0 {
			continue
		}
		if m.info, err = groupmeta.DecodeSubscriptionInfo(m.frame.UserData); err != nil {
			continue
		}
		if m.info.NotUnderstood() {
			newer = append(newer, m)
		} else {
			known = append(known, m)
		}
	}
	byFormat := func(a, b threadModel) int {
		return cmp.Or(cmp.Compare(a.info.Version, b.info.Version), cmp.Compare(a.id, b.id))
	}
	slices.SortFunc(known, byFormat)
	slices.SortFunc(newer, byFormat)
	return known, newer
}

// likeThread makes the metadata of a thread beside that of the first model.
func likeThread(known []threadModel) ([]byte, error) {
	m := known[0]
	info := groupmeta.SubscriptionInfo{
		Version: m.info.Version, LatestSupportedVersion: m.info.LatestSupportedVersion, ProcessID: m.info.ProcessID,
		UserEndPoint: m.info.UserEndPoint, ClientTags: m.info.ClientTags,
	}
	for _, k := range known {
		if k.info.Version >= 3 { // older ones do not tell
			info.LatestSupportedVersion = min(info.LatestSupportedVersion, k.info.LatestSupportedVersion)
		}
	}
	data, err := info.Encode()
	if err != nil {
		return nil, err
	}
	return frameOf(&m, data)
}

// copyOfNewer takes a member's own words where they are not understood: a copy
// is known to be harmless too.
func copyOfNewer(m *threadModel) ([]byte, error) { return frameOf(m, m.frame.UserData) }

// frameOf is the frame of a member with other user data, owning nothing.
func frameOf(m *threadModel, userData []byte) ([]byte, error) {
	f := groupmeta.ConsumerSubscription{
		Version: m.frame.Version, Topics: m.frame.Topics, UserData: userData, Generation: groupmeta.NoGeneration, Rack: m.frame.Rack,
	}
	return f.Encode()
}
