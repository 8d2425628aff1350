package groupmeta

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// Each kind of damage is reported at its field and offset
// (wire-formats.md, section 11).
func TestDecodeErrors(t *testing.T) {
	const (
		sub11 = "0000000b 0000000b 7b9f2c104d534f0e9a410c5d1be0a001"
		ass11 = "0000000b 0000000b"
	)
	for _, c := range []struct {
		name, kind, hex string
		field           string
		offset          int
	}{
		{"version cut", KindSubscription, "000000", "version", 0},
		{"version 0", KindSubscription, "00000000", "version", 0},
		{"version negative", KindAssignment, "ffffffff 00000000", "version", 0},
		{"newer, second number cut", KindSubscription, "00000063 0000", "latestSupportedVersion", 4},
		{"newer, second number missing", KindAssignment, "00000063", "commonlySupportedVersion", 4},
		{"latest below used", KindSubscription, "0000000b 0000000a", "latestSupportedVersion", 4},
		{"process cut", KindSubscription, "0000000b 0000000b 7b9f", "processId", 8},
		{"endpoint length below -1", KindSubscription, sub11 + "fffffffe", "userEndPoint", 24},
		{"endpoint null", KindSubscription, sub11 + "ffffffff", "userEndPoint", 24},
		{"endpoint longer than the rest", KindSubscription, sub11 + "00000005 61626364", "userEndPoint", 24},
		{"too many sums", KindSubscription, sub11 + "00000000 00000001 0000000000000000 0000000000000000 ff", "taskOffsetSums", 28},
		{"topology name cut", KindSubscription, sub11 + "00000000 00000001 0000000000000000 0000000000000000 0003 6162", "taskOffsetSums.namedTopology", 48},
		{"topology name length -2", KindSubscription, sub11 + "00000000 00000001 0000000000000000 0000000000000000 fffe 6162", "taskOffsetSums.namedTopology", 48},
		{"second sum cut", KindSubscription, sub11 + "00000000 00000002 0000000000000000 0000000000000000 0008 6162636465666768 00000001 00000002 0000", "taskOffsetSums.offsetSum", 66},
		{"inner list too long", KindSubscription, "00000007 00000007 7b9f2c104d534f0e9a410c5d1be0a001 00000000 00000001 00000000 00000002 000000000000000000000000", "taskOffsetSums.partitions", 36},
		{"previous tasks", KindSubscription, "00000001 7b9f2c104d534f0e9a410c5d1be0a001 00000001 000000", "prevTasks", 20},
		{"standby tasks", KindSubscription, "00000001 7b9f2c104d534f0e9a410c5d1be0a001 00000000 80000000", "standbyTasks", 24},
		{"unique field", KindSubscription, sub11 + "00000000 00000000", "uniqueField", 32},
		{"error code", KindSubscription, sub11 + "00000000 00000000 01 0000", "errorCode", 33},
		{"tag value", KindSubscription, sub11 + "00000000 00000000 01 00000000 00000001 00000001 61 00000009", "clientTags.value", 46},
		{"active tasks", KindAssignment, ass11 + "00000001 0000000000000000 000000", "activeTasks", 8},
		{"topology negative", KindAssignment, ass11 + "00000001 0000000000000000 ffffffff", "activeTasks.topologyName", 20},
		{"topology doubled beyond 32 bits", KindAssignment, ass11 + "00000001 0000000000000000 7fffffff 0000", "activeTasks.topologyName", 20},
		{"standby partitions", KindAssignment, ass11 + "00000000 00000001 0000000000000000 00000000 00000001 0001", "standbyTasks.partitions", 28},
		{"standby topic", KindAssignment, ass11 + "00000000 00000001 0000000000000000 00000000 00000001 ffff 61626364", "standbyTasks.topic", 32},
		{"standby topic not modified UTF-8", KindAssignment, ass11 + "00000000 00000001 0000000000000000 00000000 00000001 0001 80 00000000", "standbyTasks.topic", 32},
		{"dictionary", KindAssignment, ass11 + "00000000 00000000 00000001 00000000 00", "topicDictionary", 16},
		{"dictionary topic", KindAssignment, ass11 + "00000000 00000000 00000001 00000000 0005 61", "topicDictionary.topic", 24},
		{"no such topic", KindAssignment, ass11 + "00000000 00000000 00000001 00000000 0001 61 00000001 0001 68 00000001 00000001 00000001 00000000", "partitionsByHost.index", 42},
		{"far index", KindAssignment, ass11 + "00000000 00000000 00000001 00000009 0001 61 00000001 0001 68 00000001 00000001 00000008 00000000", "partitionsByHost.index", 42},
		{"port", KindAssignment, ass11 + "00000000 00000000 00000000 00000001 0006 616263646566 0000", "partitionsByHost.port", 32},
		{"host partitions", KindAssignment, ass11 + "00000000 00000000 00000000 00000001 0001 61 00000000 00000001", "partitionsByHost.partitions", 31},
		{"standby hosts", KindAssignment, ass11 + "00000000 00000000 00000000 00000000 00000001 0001 61", "standbyPartitionsByHost", 24},
		{"next rebalance", KindAssignment, ass11 + "00000000 00000000 00000000 00000000 00000000 00000000 00", "nextRebalanceMs", 32},
		{"host topic of format 2", KindAssignment, "00000002 00000000 00000000 00000001 0001 68 00000001 00000001 0002 61 00000000", "partitionsByHost.partition", 31},
		{"frame version negative", KindConsumerSubscription, "ffff", "version", 0},
		{"topics null", KindConsumerSubscription, "0000 ffffffff", "topics", 2},
		{"topic null", KindConsumerSubscription, "0000 00000001 ffff", "topics", 6},
		{"user data length -2", KindConsumerSubscription, "0000 00000000 fffffffe", "userData", 6},
		{"owned partitions", KindConsumerSubscription, "0001 00000000 ffffffff 00000001 0000 00000001", "ownedPartitions.partitions", 16},
		{"generation", KindConsumerSubscription, "0002 00000000 ffffffff 00000000", "generationId", 14},
		{"rack", KindConsumerSubscription, "0003 00000000 ffffffff 00000000 00000000 0002 61", "rackId", 18},
		{"assigned partitions", KindConsumerAssignment, "0003 0fffffff", "assignedPartitions", 2},
		{"assigned topic", KindConsumerAssignment, "0003 00000001 0005 61626364", "assignedPartitions.topic", 6},
		{"user data of an assignment", KindConsumerAssignment, "0003 00000000 00000001", "userData", 6},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		_, err = Decode(c.kind, b)
		d, ok := errors.AsType[*DecodeError](err)
		if !ok || d.Structure != c.kind || d.Field != c.field || d.Offset != c.offset {
			t.Errorf("%s: got %v, want field %q at offset %d", c.name, err, c.field, c.offset)
		}
	}
}

// The JVM takes these, and so do we.
func TestOddButFine(t *testing.T) {
	for _, c := range []struct{ name, kind, hex string }{
		{"empty rack", KindConsumerSubscription, "0003 00000000 ffffffff 00000000 00000000 0000"},
		{"standby without partitions", KindAssignment, "00000001 00000000 00000001 0000000000000000 00000000"},
		{"port -1", KindAssignment, "00000002 00000000 00000000 00000001 0001 68 ffffffff 00000000"},
		{"dictionary indexes far apart", KindAssignment, "00000005 00000005 00000000 00000000 00000002 7fffffff 0001 61 80000000 0001 62 00000001 0001 68 00000001 00000002 7fffffff 00000000 80000000 00000001 00000000"},
		{"unknown error code", KindAssignment, "00000004 00000004 00000000 00000000 00000000 00000063"},
		{"stated version of the future below the used one", KindConsumerSubscription, "0000 00000000 00000008 00000063 00000062"},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(c.kind, b); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestErrorCodeNames(t *testing.T) {
	want := []string{"NONE", "INCOMPLETE_SOURCE_TOPIC_METADATA", "VERSION_PROBING", "ASSIGNMENT_ERROR", "SHUTDOWN_REQUESTED", "unknown (5)"}
	for code, name := range want {
		if got := ErrorCode(code).String(); got != name {
			t.Errorf("code %d is %q, want %q", code, got, name)
		}
	}
	if got := ErrorCode(-1).String(); got != "unknown (-1)" {
		t.Errorf("code -1 is %q", got)
	}
}
