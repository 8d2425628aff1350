package kclient

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/streamctl/streamctl/internal/config"
)

// secured is a cluster with a superuser, and a reader who may describe the
// group "shop" and its topics and nothing else.
func secured(t *testing.T, opts ...kfake.Opt) *fake {
	t.Helper()
	describe := func(kind kmsg.ACLResourceType, name string) kfake.ACL {
		return kfake.ACL{
			Principal: "User:reader", Resource: kind, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral,
			Operation: kmsg.ACLOperationDescribe, Allow: true,
		}
	}
	f := newFake(t, append(opts, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "root", "secret"),
		kfake.User("PLAIN", "reader", "pw",
			describe(kmsg.ACLResourceTypeGroup, "shop"), describe(kmsg.ACLResourceTypeTopic, "orders"),
			describe(kmsg.ACLResourceTypeTopic, "shop-bykey-changelog")))...)
	f.admin(kgo.SASL(plain.Auth{User: "root", Pass: "secret"}.AsMechanism()))
	f.topic("orders", 1, 10)
	f.topic("shop-bykey-changelog", 1, 2)
	f.topic("hidden", 1, 2)
	f.commit("shop", "orders", 4)
	f.commit("other", "orders", 4)
	return f
}

func (f *fake) readerConnection() config.Connection {
	conn := f.connection()
	conn.SASL = &config.SASL{Mechanism: "PLAIN", User: "reader", Password: "pw"}
	return conn
}

// Field case 73: with the least rights the group is read, and what is hidden
// makes no noise where nothing says that it should be there.
func TestFieldCase73LeastRightsByACL(t *testing.T) {
	f := secured(t)
	s, err := dialTest(t, f.readerConnection()).Snapshot(within(t, 10*time.Second), DescribeQuery("shop"))
	if err != nil {
		t.Fatal(err)
	}
	g := s.Group("shop")
	if len(s.Errors) != 0 || g.Classic == nil || len(g.Commits) != 1 || s.Options[OptionLogDirs] != "refused" {
		t.Errorf("errors %+v, options %v, group %+v", s.Errors, s.Options, g)
	}
	if l := logOf(t, s, "shop-bykey-changelog", 0); *l.End != 2 {
		t.Errorf("changelog: %+v", l)
	}
	s, err = dialTest(t, f.readerConnection()).Snapshot(within(t, 10*time.Second), DescribeQuery("other"))
	if err != nil {
		t.Fatal(err)
	}
	if e := errorOf(s, "group other"); e == nil || e.Hint != `needs DESCRIBE on group "other"` {
		t.Errorf("errors: %+v", s.Errors)
	}
}

func TestAuthorized(t *testing.T) {
	f := secured(t)
	a, err := dialTest(t, f.readerConnection()).Authorized(within(t, 10*time.Second), []string{"shop", "other"}, []string{"hidden"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Cluster.May("DESCRIBE") {
		t.Errorf("cluster: %+v", a.Cluster)
	}
	if len(a.Groups) != 2 || a.Groups[0].Name != "other" || a.Groups[0].Known || a.Groups[0].Error != "GROUP_AUTHORIZATION_FAILED" {
		t.Fatalf("groups: %+v", a.Groups)
	}
	if g := a.Groups[1]; !g.Known || !g.May("DESCRIBE") || g.May("DELETE") {
		t.Errorf("shop: %+v", g)
	}
	if len(a.Topics) != 2 || a.Topics[0].Name != "hidden" || a.Topics[0].Error != "TOPIC_AUTHORIZATION_FAILED" || !a.Topics[1].May("DESCRIBE") {
		t.Errorf("topics: %+v", a.Topics)
	}
	root := f.connection()
	root.SASL = &config.SASL{Mechanism: "PLAIN", User: "root", Password: "secret"}
	a, err = dialTest(t, root).Authorized(within(t, 10*time.Second), []string{"shop"}, nil)
	if err != nil || !a.Cluster.May("DESCRIBE") || !a.Groups[0].May("DELETE") || len(a.Errors) != 0 {
		t.Errorf("%v: %+v", err, a)
	}
}

// Brokers before 2.8 tell the operations on the cluster with metadata.
func TestAuthorizedOldBroker(t *testing.T) {
	f := secured(t, kfake.MaxVersions(kversion.V2_7_0()))
	root := f.connection()
	root.SASL = &config.SASL{Mechanism: "PLAIN", User: "root", Password: "secret"}
	a, err := dialTest(t, root).Authorized(within(t, 10*time.Second), []string{"shop"}, nil)
	if err != nil || len(a.Errors) != 0 || !a.Cluster.Known || !a.Cluster.May("DESCRIBE") {
		t.Errorf("%v: %+v", err, a)
	}
}
