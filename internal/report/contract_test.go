package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// The fields of the machine output as its contract lists them: a path a field,
// [] for the elements of a list, {} for the values of a map. A field that is
// missing, renamed or new fails here.

const readFields = "taken_at cluster_id errors"

const taskFields = `id role tags tags[] inferred reason target_only release partitions partitions[] partitions[].topic partitions[].partition
	restore restore.state restore.basis restore.position restore.end restore.remaining_records restore.remaining_bytes
	lag lag.records lag.committed lag.end lag.beyond_end`

const memberFields = `id client_id instance_id host address epoch target_epoch metadata metadata.used_version metadata.supported_version
	metadata.status metadata.error metadata.trailing_bytes metadata.user_data_base64`

const instanceFields = `id host endpoint rack client_tags workers expected_active active target_active standby learner balanced leaving lag`

const positionFields = `positions positions.basis positions.as_of positions.estimated`

const groupFields = `kind schema_version group group_kind state protocol_type protocol mode assignor epoch assignment_epoch
	coordinator coordinator.id coordinator.host coordinator.port
	verdict verdict.ok verdict.findings verdict.findings[] verdict.findings[].code verdict.findings[].severity
	verdict.findings[].object verdict.findings[].text
	assignment_basis ` + positionFields + `
	totals totals.tasks totals.active totals.standby totals.learner totals.moving totals.unassigned totals.lag
	totals.remaining_records totals.remaining_bytes
	timing timing.session_ms timing.heartbeat_ms timing.standbys timing.source
	next_rebalance next_rebalance.at next_rebalance.in_ms next_rebalance.raw_ms next_rebalance.by_member
	prediction prediction.moves prediction.rounds prediction.learners prediction.remaining_records prediction.last_in_s
	prediction.balanced prediction.max_over_expected
	topology topology.source topology.subtopologies topology.subtopologies[] topology.subtopologies[].id
	topology.subtopologies[].source_topics topology.subtopologies[].source_topics[]
	topology.subtopologies[].repartition_sink_topics topology.subtopologies[].repartition_sink_topics[]
	topology.subtopologies[].repartition_source_topics topology.subtopologies[].repartition_source_topics[]
	topology.subtopologies[].changelog_topics topology.subtopologies[].changelog_topics[]
	topology.subtopologies[].stores topology.subtopologies[].partitions topology.subtopologies[].stateful topology.subtopologies[].inferred
	balance balance.factor balance.balanced balance.max_over_expected
	instances instances[] unassigned_tasks
	offsets offsets[] offsets[].topic offsets[].partition offsets[].committed offsets[].log_start offsets[].log_end offsets[].lag
	offsets[].beyond_end offsets[].member
	marks plug_in control ` + readFields

// under puts a prefix before each field.
func under(prefix, fields string) string {
	var out []string
	for f := range strings.FieldsSeq(fields) {
		out = append(out, prefix+f)
	}
	return strings.Join(out, " ")
}

func describedGroup(prefix string) string {
	return under(prefix, groupFields) + " " + under(prefix+"instances[].", instanceFields+" members members[]") + " " +
		under(prefix+"instances[].members[].", memberFields+" tasks tasks[]") + " " +
		under(prefix+"instances[].members[].tasks[].", taskFields)
}

func contract() map[string]string {
	const opening = "kind schema_version "
	const blocker = "blockers blockers[] blockers[].task blockers[].why blockers[].copy blockers[].remaining_records "
	return map[string]string{
		"group-shop":    describedGroup(""),
		"group-several": opening + readFields + " items items[] " + describedGroup("items[]."),
		"groups": opening + readFields + " groups groups[] not_shown not_shown.consumer not_shown.unknown " + under("groups[].",
			"group group_kind state protocol_type protocol kind_basis members instances tasks coordinator notes notes[] lag"),
		"instances": opening + readFields + " items items[] " + under("items[].", "group leaving.instance leaving.id leaving.name leaving.who leaving.reason leaving.stale leaving.honoured leaving.at leaving.timeout_ms leaving.deadline leaving.expired leaving.remaining_ms "+instanceFields),
		"members":   opening + readFields + " items items[] " + under("items[].", "group instance "+memberFields),
		"tasks":     opening + readFields + " items items[] " + under("items[].", "group instance member "+taskFields),
		"instance": opening + readFields + " group group_kind state " + positionFields + " " + under("stop.", "answer blockers blockers[] blockers[].task blockers[].why blockers[].copy blockers[].remaining_records") + " stop " + instanceFields + " members members[] " +
			under("members[].", memberFields+" tasks tasks[] "+under("tasks[].", taskFields)),
		"member": opening + readFields + " group group_kind state instance " + positionFields + " " + memberFields + " tasks tasks[] " + under("tasks[].", taskFields),
		"task": opening + readFields + " group group_kind state instance member " + positionFields + " " + taskFields + " copies copies[] " +
			under("copies[].", "instance member "+taskFields),
		"check-unknown": opening + readFields + " check group instance answer findings refreshed " + blocker,
		"wait-unmet":    opening + readFields + " group for met waited_ms left cold " + blocker,
		"change-replaced": opening + readFields + " change group targets targets[] dry_run done who reason plan wait rebalance remove_member mode leaving standbys replace " +
			under("leaving.", "marks marks[] "+under("marks[].", "instance name mark before timeout_ms honoured gone")+" handed_over handed_over[] "+under("handed_over[].", "task from to cold remaining_records")) + " " +
			under("replace.", "with old old[] new new[] resumed steps steps[] steps[].step steps[].done"),
		"change-streams-drained": opening + readFields + " change group targets targets[] dry_run done who reason plan wait rebalance remove_member mode leaving replace standbys " +
			under("standbys.", "before before_own set need put_back left safe positions_every_ms departures departures[] "+under("departures[].", "task from to to[] answer why remaining_records")),
		"event": opening + readFields + " at group what object before after cause cause_inferred",
		"diff":  opening + readFields + " changes changes[] changes[].object changes[].what changes[].before changes[].after",
		"can-i": opening + readFields + " command group principal allowed permissions permissions[] " +
			under("permissions[].", "command operation resource api purpose required allowed needed ask"),
		"config-test": opening + readFields + " ok steps steps[] " + under("steps[].", "step object ok took_ms detail error hint"),
		"config-view": opening + "context file keys keys[] " + under("keys[].", "key value set source where"),
		"contexts":    opening + "items items[] " + under("items[].", "name current bootstrap_servers bootstrap_servers[] group readonly"),
		"lab": opening + "bootstrap group mode tasks unassigned_tasks unassigned_tasks[] longest_idle_ms restore_rate records instances instances[] " +
			under("records.", "produced counted waiting twice lost") + " " +
			under("instances[].", "name id state leader leaving active standby learner remaining_records error"),
		"version": opening + readFields + " client client.version client.commit client.go client.platform brokers brokers[] " + under("brokers[].", "id address version streams_groups"),
	}
}

func TestDocumentsHaveTheContractsFields(t *testing.T) {
	all := reports()
	for name, fields := range contract() {
		want := slices.Compact(slices.Sorted(strings.FieldsSeq(fields)))
		got := map[string]bool{}
		paths(t, "", decode(t, write(t, render.Options{Format: render.JSON}, all[name])), got)
		for _, w := range want {
			if !got[w] {
				t.Errorf("%s has no %s", name, w)
			}
			delete(got, w)
		}
		for g := range got {
			t.Errorf("%s has %s, which the contract does not know", name, g)
		}
	}
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if d.More() {
		t.Fatalf("more than one document: %s", b)
	}
	return v
}

func paths(t *testing.T, at string, v any, out map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			p := k
			if at != "" {
				p = at + "." + k
			}
			out[p] = true
			paths(t, p, e, out)
		}
	case []any:
		for _, e := range v {
			out[at+"[]"] = true
			paths(t, at+"[]", e, out)
		}
	}
}

// Lists are never null, whatever a group lacks.
func TestListsAreNeverNull(t *testing.T) {
	empty := &model.Group{ID: "x", Instances: []model.Instance{{Members: []model.Member{{Tasks: []model.Task{{}}}}}}}
	empty.Topology.Subtopologies = []model.Subtopology{{ID: "0"}}
	task, _ := NewTaskDescription(empty, model.TaskID{}, DescribeOptions{})
	for _, r := range []render.Report{
		NewGroupDescription(empty, DescribeOptions{}), NewGroupList(nil, ListOptions{}), NewGroupDescriptionList(nil, false, DescribeOptions{}),
		NewInstanceList(nil, ItemOptions{}), NewMemberList(nil, ItemOptions{}), NewTaskList(nil, ItemOptions{}), task,
		NewWait(WaitResult{}), NewDiff(DiffResult{}), NewCanI(nil, CanIOptions{}), NewConfigTest(nil, ItemOptions{}),
		NewConfigView("", "", nil), NewContextList(nil), NewVersion(ClientVersion{}, nil, ItemOptions{}), NewLabStatus(LabStatus{}, ""),
	} {
		b := write(t, render.Options{Format: render.JSON}, r)
		notNull(t, string(b), "", decode(t, b))
	}
}

func notNull(t *testing.T, doc, at string, v any) {
	lists := []string{
		"groups", "items", "findings", "instances", "members", "tasks", "tags", "partitions", "unassigned_tasks", "offsets", "marks", "errors",
		"subtopologies", "source_topics", "changelog_topics", "repartition_sink_topics", "repartition_source_topics", "notes", "blockers",
		"copies", "changes", "steps", "keys", "permissions", "brokers", "bootstrap_servers",
	}
	m, ok := v.(map[string]any)
	if !ok {
		if l, ok := v.([]any); ok {
			for _, e := range l {
				notNull(t, doc, at+"[]", e)
			}
		}
		return
	}
	for k, e := range m {
		if k == "partitions" && strings.HasSuffix(at, "subtopologies[]") {
			continue // a number there
		}
		if k == "tasks" && strings.HasSuffix(at, "totals") {
			continue // a number there
		}
		if e == nil && (slices.Contains(lists, k) || k == "client_tags") {
			t.Errorf("%s.%s is null in %s", at, k, doc)
		}
		notNull(t, doc, at+"."+k, e)
	}
}

// Every document has sorted keys, kind and schema version, and is one line.
func TestDocumentsAreSortedAndVersioned(t *testing.T) {
	for name, r := range reports() {
		b := write(t, render.Options{Format: render.JSON}, r)
		if n := bytes.Count(b, []byte("\n")); n != 1 {
			t.Errorf("%s has %d lines", name, n)
		}
		doc, ok := decode(t, b).(map[string]any)
		if !ok || doc["kind"] == "" || doc["schema_version"] != json.Number("1") {
			t.Errorf("%s: kind %v, schema version %v", name, doc["kind"], doc["schema_version"])
		}
		again, err := json.Marshal(doc) // sorts keys
		if err != nil {
			t.Fatal(err)
		}
		var a, z bytes.Buffer
		if json.Compact(&a, b) != nil || json.Compact(&z, again) != nil || !bytes.Equal(unescaped(a.Bytes()), unescaped(z.Bytes())) {
			t.Errorf("%s has unsorted keys: %s", name, b)
		}
	}
}

// unescaped undoes the escapes of < > & that json.Marshal adds.
func unescaped(b []byte) []byte {
	return []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b)))
}

func TestLargeIntegersAreExact(t *testing.T) {
	r := NewGroupDescription(extremes(), DescribeOptions{})
	const largest = "9223372036854775807"
	if b := string(write(t, render.Options{Format: render.JSON}, r)); !strings.Contains(b, `"log_end":`+largest) || !strings.Contains(b, `"raw_ms":9223372036854775806`) {
		t.Errorf("large numbers are not exact in %s", b)
	}
	if b := string(write(t, render.Options{Format: render.YAML}, r)); !strings.Contains(b, "log_end: "+largest+"\n") {
		t.Errorf("large numbers are not exact in %s", b)
	}
	b := string(write(t, render.Options{Format: render.JSON, JSONStrings: true}, r))
	for _, want := range []string{`"log_end":"` + largest + `"`, `"beyond_end":"0"`, `"partition":0`, `"schema_version":1`} {
		if !strings.Contains(b, want) {
			t.Errorf("--json-strings: no %s", want)
		}
	}
	text(t, r) // must not panic on durations beyond their range
}
