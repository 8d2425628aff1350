package cmd

import (
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// A list does without control topics that it may not read, and counts them;
// what else could not be read stays an error.
func TestListDoesWithoutControlTopics(t *testing.T) {
	s := snapshot.New()
	s.Groups = []snapshot.Group{{ID: "clicks"}, {ID: "shop"}}
	s.Errors = []snapshot.Error{
		{Object: "topic clicks-streamctl-control", Code: "TOPIC_AUTHORIZATION_FAILED"},
		{Object: "group shop", Code: "GROUP_AUTHORIZATION_FAILED"},
		{Object: "topic other-streamctl-control", Code: "TOPIC_AUTHORIZATION_FAILED"},
	}
	if n := dropControlErrors(s); n != 1 || len(s.Errors) != 2 || s.Errors[0].Object != "group shop" {
		t.Errorf("dropped %d, left %+v", n, s.Errors)
	}
}
