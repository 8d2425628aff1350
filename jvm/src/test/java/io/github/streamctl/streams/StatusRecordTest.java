package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import io.github.streamctl.streams.learner.LearnerInput;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.junit.jupiter.api.Test;

/** What a leader writes of itself and of its round. */
class StatusRecordTest {
  private static final String A = "a0000000-0000-4000-8000-000000000001";

  private static StatusRecord of(App app) {
    StatusRecord s = new StatusRecord();
    s.group = new Group(app);
    s.settings = new LearnerInput();
    s.settings.stateful = s.group.stateful;
    s.settings.maxLearners = 2;
    s.result = Target.of(s.group, s.settings, null);
    s.followupMs = 1_500;
    s.self = A;
    s.at = Instant.parse("2026-11-30T06:30:00Z");
    return s;
  }

  private static JsonObject parsed(StatusRecord s) throws Exception {
    return Json.parse(s.value());
  }

  /** The fields are those of the vector that others read, in its order. */
  @Test
  void fields() throws Exception {
    App app = new App();
    app.subtopology(0, 2, true);
    app.process(A, 2).own(new TaskId(0, 0), new TaskId(0, 1));
    String text = new String(of(app).value(), StandardCharsets.UTF_8);
    JsonObject vector = null;
    for (String line : Files.readAllLines(Paths.get(System.getProperty("streamctl.root"), "testdata", "control", "values.jsonl"))) {
      JsonObject o = JsonParser.object().from(line);
      if (o.getString("name").equals("status-plug-in-leader")) {
        vector = JsonParser.object().from(o.getString("value"));
      }
    }
    List<String> want = new ArrayList<>(vector.keySet());
    assertInOrder(text, want);
    assertEquals(vector.keySet(), parsed(of(app)).keySet());
    JsonObject round = parsed(of(app)).getObject("round");
    assertEquals(vector.getObject("round").keySet(), round.keySet());
    assertInOrder(text.substring(text.indexOf("\"round\"")), new ArrayList<>(vector.getObject("round").keySet()));
    assertEquals(1_500, round.getInt("followup_interval_ms"));
    assertEquals(new JsonArray(new ArrayList<>(app.processes.get(A).consumers)), parsed(of(app)).getArray("members"));
  }

  private static void assertInOrder(String text, List<String> names) {
    int at = -1;
    for (String name : names) {
      int next = text.indexOf("\"" + name + "\":", at + 1);
      assertTrue(next > at, name + " is not there, or not in its place: " + text);
      at = next;
    }
  }

  /** Ids that nobody would read are left out, and what would make the record too large. */
  @Test
  void bounds() throws Exception {
    App app = new App();
    app.subtopology(0, 2, true);
    App.Process p = app.process(A, 1500);
    p.consumers.add("a" + String.join("", Collections.nCopies(255, "x")));
    JsonArray members = parsed(of(app)).getArray("members");
    assertEquals(StatusRecord.MAX_MEMBERS, members.size());
    assertTrue(members.stream().allMatch(m -> m.toString().length() <= 255));
    App large = new App();
    large.subtopology(0, 9_000, true);
    large.process(A, 1).own(large.tasks.keySet().toArray(new TaskId[0]));
    JsonObject cut = parsed(of(large));
    assertNull(cut.get("round"));
    assertEquals(9_000, cut.getArray("tasks").size());
    assertEquals(1, cut.getArray("members").size());
  }

  /** What is set about racks and does nothing is said. */
  @Test
  void racks() {
    assertNull(LearnerTaskAssignor.withoutRacks(new AssignmentConfigs(100L, 2, 0, 600_000L, Collections.emptyList())));
    String tags = LearnerTaskAssignor.withoutRacks(new AssignmentConfigs(100L, 2, 0, 600_000L, Arrays.asList("zone", "cluster")));
    assertTrue(tags.contains("neither racks nor client tags") && tags.contains("rack.aware.assignment.tags [zone, cluster]"), tags);
    Map<String, Object> configs = App.configs(A);
    configs.put(StreamsConfig.RACK_AWARE_ASSIGNMENT_STRATEGY_CONFIG, "min_traffic");
    String racks = LearnerTaskAssignor.withoutRacks(AssignmentConfigs.of(new StreamsConfig(configs)));
    assertTrue(racks.contains("rack.aware.assignment.strategy min_traffic") && !racks.contains("rack.aware.assignment.tags"), racks);
  }
}
