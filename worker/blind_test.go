package worker_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/worker"
)

// login is what a client needs to be a user.
func login(user string) kgo.Opt {
	return kgo.SASL(plain.Auth{User: user, Pass: user}.AsMechanism())
}

// An instance that may neither read nor write the control topic, and was cut off
// while the group changed its protocol type, tries both types in turn until it
// is let in.
func TestBlindWorkerTriesBothTypes(t *testing.T) {
	t.Parallel()
	var acls []kfake.ACL
	for name, kind := range map[string]kmsg.ACLResourceType{
		input: kmsg.ACLResourceTypeTopic, changelog: kmsg.ACLResourceTypeTopic, group: kmsg.ACLResourceTypeGroup, "kafka-cluster": kmsg.ACLResourceTypeCluster,
	} {
		op := kmsg.ACLOperationAll
		if kind == kmsg.ACLResourceTypeCluster {
			op = kmsg.ACLOperationIdempotentWrite
		}
		acls = append(acls, kfake.ACL{Resource: kind, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true})
	}
	r := newRigOf(t, 4, lab.Options{MinSession: time.Second, Client: []kgo.Opt{login("app")}, Kfake: []kfake.Opt{
		kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "app", "app"), kfake.User("PLAIN", "blind", "blind", acls...),
	}}, login("app"))
	short := func(c *worker.Config) { c.SessionTimeout, c.RebalanceTimeout = 4*time.Second, 4*time.Second }
	r.start("a", short)
	r.becomes("a[T1,T2,T3,T4]")
	b := r.start("b", short, func(c *worker.Config) {
		c.Client = []kgo.Opt{kgo.SeedBrokers(r.lab.Bootstrap()), login("blind")}
	})
	r.becomes("a[T2,T3,T4] b[T1]")
	r.running()
	r.produce(20)
	r.counted()
	b.Pause()
	r.setMode(worker.Upgrading, 1, 15*time.Second)
	r.until("the group has the other type", func() bool {
		return r.groupType() == "consumer" && len(r.live["a"].Stats().Tasks) == 3 && r.runningTasks() >= 3
	})
	b.Resume()
	r.until("b is in again", func() bool { return len(b.Stats().Tasks) > 0 && r.runningTasks() == 4 && r.groupType() == "consumer" })
	if s := r.state().Status[b.ID()]; s.Generation != nil {
		t.Errorf("b is not blind: it has written %+v", s)
	}
	if r.count(worker.JoinRefused) == 0 {
		t.Error("b was never refused")
	}
	r.produce(20)
	r.counted()
	r.noTaskTwice()
}
