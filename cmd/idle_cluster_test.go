package cmd

import (
	"context"
	"errors"

	"github.com/streamctl/streamctl/internal/kclient"
)

// idle is a cluster that can be changed, and must not be.
type idle struct{ fakeCluster }

var errChanged = errors.New("the cluster was changed")

func (*idle) Visit(context.Context, string, func(kclient.VisitStep)) (*kclient.Visit, error) {
	return &kclient.Visit{}, errChanged
}

func (*idle) RemoveMembers(context.Context, string, []kclient.MemberToRemove, string) ([]kclient.RemovedMember, error) {
	return nil, errChanged
}
