// Package worker runs stream workers: processes that share the tasks of a
// topology among them, keep state in changelog topics, and hand a task over
// only when its new owner has all of the task's state. They follow the stream
// group protocol (docs/protocol/stream-protocol.md) on any Kafka broker from
// 0.11 on, and are steered by streamctl through the group's control topic.
//
// Give Start a group, a topology and a processor per task:
//
//	in, err := worker.Start(ctx, worker.Config{
//		Group:        "clicks",
//		Topology:     []worker.Subtopology{{ID: 0, Sources: []string{"page-views"}, Changelog: "clicks-count-changelog"}},
//		NewProcessor: func(worker.TaskID) worker.Processor { return count{} },
//		Client:       []kgo.Opt{kgo.SeedBrokers("localhost:9092")},
//		StateDir:     "/var/lib/clicks",
//	})
//
// Processing is at least once: after a crash, and after a lost membership,
// records come again.
package worker
