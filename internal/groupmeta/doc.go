// Package groupmeta turns the metadata bytes of group members into values and
// back, and a snapshot of a cluster into the model. It is pure: no I/O, no
// clock. Bytes come from strangers: nothing here panics on them, and no count
// is believed before it was compared with the bytes that are left.
//
// Classic Kafka Streams members are layered: a consumer frame
// (ConsumerSubscription, ConsumerAssignment) carries user data, which is a
// SubscriptionInfo or an AssignmentInfo. All four have a decoder that returns
// the value and a *DecodeError, and an Encode method.
package groupmeta
