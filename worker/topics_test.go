package worker

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicsOn are the topics of a job that counts orders, whose input has so many
// partitions, on a cluster of their own.
func topicsOn(t *testing.T, partitions int32) (*topics, *kfake.Cluster) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	topics, err := openTopics([]kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...)}, []Subtopology{{Sources: []string{"orders"}, Changelog: "orders-changelog"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(topics.close)
	return topics, c
}

func TestChangelogsAreMadeAndGrow(t *testing.T) {
	topics, c := topicsOn(t, 3)
	if err := topics.refresh(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if n := topics.counts()["orders-changelog"]; n != 3 {
		t.Errorf("changelog with %d partitions, want 3", n)
	}
	if err := topics.ensure(t.Context(), map[string]int32{"orders": 5}); err != nil {
		t.Fatal(err)
	}
	if info := c.TopicInfo("orders-changelog"); info == nil || info.Configs["cleanup.policy"] == nil || *info.Configs["cleanup.policy"] != "compact" {
		t.Errorf("changelog %+v, want a compacted one", info)
	}
	if err := topics.refresh(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if n := topics.counts()["orders-changelog"]; n != 5 {
		t.Errorf("changelog with %d partitions, want 5", n)
	}
}

// What a broker says when it refuses a changelog reaches whoever reads the event,
// with the topic's name; that another instance was faster is no error.
func TestRefusedChangelog(t *testing.T) {
	for _, c := range []struct {
		name string
		code int16
		text string
		want string // behind the name of the topic; "" for no error
	}{
		{"policy", kerr.PolicyViolation.Code, "names begin with the team's", kerr.PolicyViolation.Error() + " (names begin with the team's)"},
		{"acl", kerr.TopicAuthorizationFailed.Code, "", kerr.TopicAuthorizationFailed.Error()},
		{"faster", kerr.TopicAlreadyExists.Code, "it is there", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			topics, cluster := topicsOn(t, 3)
			cluster.ControlKey(int16(kmsg.CreateTopics), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				resp := kreq.ResponseKind().(*kmsg.CreateTopicsResponse)
				rt := kmsg.NewCreateTopicsResponseTopic()
				rt.Topic, rt.ErrorCode = "orders-changelog", c.code
				if c.text != "" {
					rt.ErrorMessage = kmsg.StringPtr(c.text)
				}
				resp.Topics = append(resp.Topics, rt)
				return resp, nil, true
			})
			err := topics.refresh(t.Context(), time.Minute)
			want := c.want
			if want != "" {
				want = `create changelog topic "orders-changelog": ` + want
			}
			if got := errorText(err); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A broker that does not answer is told of with the topic that was to be made.
func TestChangelogWithoutAnAnswer(t *testing.T) {
	topics, cluster := topicsOn(t, 3)
	gone := errors.New("gone")
	cluster.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return nil, gone, true
	})
	err := topics.refresh(t.Context(), time.Minute)
	if err == nil || !strings.HasPrefix(err.Error(), `create changelog topic "orders-changelog": `) {
		t.Errorf("got %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
