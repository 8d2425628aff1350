// Command bare is the yardstick of the benchmarks: the three requests that a
// description of a classic group cannot do without (DescribeGroups, OffsetFetch,
// ListOffsets) and a line of counts, with nothing around them. Arguments:
// bootstrap address, group.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addr, group string) error {
	ctx := context.Background()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		return err
	}
	defer cl.Close()
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{group}
	d, err := describe.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	fetch.Groups = append(fetch.Groups, g)
	o, err := fetch.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	ends := kmsg.NewPtrListOffsetsRequest()
	ends.ReplicaID = -1
	for _, topic := range o.Groups[0].Topics {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic.Topic
		for _, p := range topic.Partitions {
			lp := kmsg.NewListOffsetsRequestTopicPartition()
			lp.Partition, lp.Timestamp, lp.CurrentLeaderEpoch = p.Partition, -1, -1
			t.Partitions = append(t.Partitions, lp)
		}
		ends.Topics = append(ends.Topics, t)
	}
	e, err := ends.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	fmt.Println(len(d.Groups[0].Members), len(o.Groups[0].Topics), len(e.Topics))
	return nil
}
