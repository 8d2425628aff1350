package kclient

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
)

// joiner is one member that a test puts into a group.
type joiner struct {
	client     string
	metadata   []byte
	assignment []byte
}

// streamsMember is a member whose frames name topics and partitions.
func streamsMember(t *testing.T, client string, topics []string, runs ...groupmeta.TopicPartitions) joiner {
	t.Helper()
	sub := groupmeta.ConsumerSubscription{Version: 1, Topics: topics, UserData: []byte{1, 2, 3}}
	meta, err := sub.Encode()
	if err != nil {
		t.Fatal(err)
	}
	a := groupmeta.ConsumerAssignment{Version: 1, Assigned: runs, UserData: []byte{4, 5}}
	assignment, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return joiner{client, meta, assignment}
}

func runsOf(topic string, partitions ...int32) groupmeta.TopicPartitions {
	return groupmeta.TopicPartitions{Topic: topic, Partitions: partitions}
}

// member speaks the group protocol by hand, on a connection of its own.
type member struct {
	t    *testing.T
	conn net.Conn
	corr int32
}

func (f *fake) dialMember(group string) *member {
	f.t.Helper()
	addrs := f.ListenAddrs()
	conn, err := net.Dial("tcp", addrs[f.CoordinatorFor(group)])
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	return &member{t: f.t, conn: conn}
}

func (m *member) send(client string, req kmsg.Request) {
	m.t.Helper()
	m.corr++
	b := kmsg.NewRequestFormatter(kmsg.FormatterClientID(client)).AppendRequest(nil, req, m.corr)
	if _, err := m.conn.Write(b); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) receive(resp kmsg.Response) {
	m.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(m.conn, head[:]); err != nil {
		m.t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(m.conn, body); err != nil {
		m.t.Fatal(err)
	}
	if err := resp.ReadFrom(body[4:]); err != nil {
		m.t.Fatal(err)
	}
}

// awaitRebalance heartbeats until the broker has heard of a newcomer.
func (m *member) awaitRebalance(group, id string, gen int32) {
	m.t.Helper()
	for range 5000 {
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group, req.MemberID, req.Generation = group, id, gen
		m.send("", req)
		resp := kmsg.NewPtrHeartbeatResponse()
		m.receive(resp)
		if resp.ErrorCode == kerr.RebalanceInProgress.Code {
			return
		}
		time.Sleep(time.Millisecond)
	}
	m.t.Fatalf("group %q did not start a round", group)
}

// join brings a classic group to Stable with these members.
func (f *fake) join(group, protocolType, protocol string, joiners ...joiner) {
	f.t.Helper()
	members := make([]*member, len(joiners))
	ids := make([]string, len(joiners))
	reqs := make([]*kmsg.JoinGroupRequest, len(joiners))
	for i, j := range joiners {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Version = 5
		req.Group, req.ProtocolType = group, protocolType
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 60000, 60000
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = protocol, j.metadata
		req.Protocols = append(req.Protocols, p)
		m := f.dialMember(group)
		m.send(j.client, req)
		resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
		m.receive(resp)
		req.MemberID = resp.MemberID
		members[i], reqs[i], ids[i] = m, req, resp.MemberID
	}
	gen, leader := int32(0), ""
	for n := range members { // each newcomer starts a round that all before it join again
		members[n].send(joiners[n].client, reqs[n])
		for i, m := range members[:n] {
			m.awaitRebalance(group, ids[i], gen)
			m.send(joiners[i].client, reqs[i])
		}
		for i, m := range members[:n+1] {
			resp := reqs[i].ResponseKind().(*kmsg.JoinGroupResponse)
			m.receive(resp)
			if resp.ErrorCode != 0 {
				f.t.Fatalf("join group %q: %s", group, codeName(resp.ErrorCode))
			}
			gen, leader = max(gen, resp.Generation), resp.LeaderID
		}
	}
	for i, m := range members {
		req := kmsg.NewPtrSyncGroupRequest()
		req.Version = 3
		req.Group, req.Generation, req.MemberID = group, gen, ids[i]
		if ids[i] == leader {
			for k, j := range joiners {
				a := kmsg.NewSyncGroupRequestGroupAssignment()
				a.MemberID, a.MemberAssignment = ids[k], j.assignment
				req.GroupAssignment = append(req.GroupAssignment, a)
			}
		}
		m.send(joiners[i].client, req)
	}
	for i, m := range members {
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.Version = 3
		m.receive(resp)
		if resp.ErrorCode != 0 {
			f.t.Fatalf("sync group %q, member %d: %s", group, i, codeName(resp.ErrorCode))
		}
	}
}
