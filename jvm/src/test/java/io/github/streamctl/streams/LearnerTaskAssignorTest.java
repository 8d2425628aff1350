package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignmentUtils;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.AssignmentError;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;
import org.apache.kafka.streams.processor.internals.assignment.ReferenceContainer;
import org.junit.jupiter.api.Test;

/** The assignor as Streams drives it, without brokers: the control topic cannot be read, which must hinder nothing. */
class LearnerTaskAssignorTest {
  private static final String A = "a0000000-0000-4000-8000-000000000001";
  private static final String B = "b0000000-0000-4000-8000-000000000002";
  private static final String C = "c0000000-0000-4000-8000-000000000003";

  private static boolean round(App app, String leader, Map<String, Object> configs) {
    LearnerTaskAssignor assignor = new LearnerTaskAssignor();
    assignor.configure(configs);
    long now = System.currentTimeMillis();
    TaskAssignment given = assignor.assign(app);
    AssignmentError error = TaskAssignmentUtils.validateTaskAssignment(app, given);
    assertEquals(AssignmentError.NONE, error);
    Set<TaskId> owned = new HashSet<>();
    for (KafkaStreamsAssignment a : given.assignment()) {
      a.tasks().values().stream().filter(t -> t.type() == KafkaStreamsAssignment.AssignedTask.Type.ACTIVE).forEach(t -> owned.add(t.id()));
      assertTrue(!a.followupRebalanceDeadline().isPresent() || a.processId().id().toString().equals(leader), "a follow-up on another than the leader");
    }
    assertEquals(app.tasks.keySet(), owned);
    assignor.onAssignmentComputed(null, null, error);
    return app.take(given, now);
  }

  /** Goes on until the group rests; gives the number of rounds. */
  private static int settle(App app, String leader, Map<String, Object> configs) {
    for (int n = 1; n < 100; n++) {
      boolean atOnce = round(app, leader, configs);
      boolean later = app.processes.get(leader).followupMs.isPresent();
      if (!atOnce && !later) {
        return n;
      }
      if (!atOnce) {
        app.restore(700);
      }
    }
    throw new AssertionError("the group does not come to rest");
  }

  /** The tests run with the release that they are meant to run with. */
  @Test
  void release() throws Exception {
    Properties stamp = new Properties();
    try (InputStream in = StreamsConfig.class.getResourceAsStream("/kafka/kafka-streams-version.properties")) {
      stamp.load(in);
    }
    assertEquals(System.getProperty("kafka.version"), stamp.getProperty("version"));
  }

  /** What is looked at of Streams' own is there in this release. */
  @Test
  void streamsTellsTheProcess() throws Exception {
    assertEquals("__reference.container.instance__", StreamsConfig.InternalConfig.REFERENCE_CONTAINER_PARTITION_ASSIGNOR);
    assertEquals(ProcessId.class, ReferenceContainer.class.getField("taskManager").getType().getMethod("processId").getReturnType());
  }

  /** Stands for Streams' own object; what it names is what is asked of it. */
  public static final class Container {
    /** As there. */
    public final Manager taskManager;

    Container(String id) {
      taskManager = new Manager(id);
    }
  }

  /** The same one step further. */
  public static final class Manager {
    private final ProcessId id;

    Manager(String id) {
      this.id = new ProcessId(UUID.fromString(id));
    }

    /** As there. */
    public ProcessId processId() {
      return id;
    }
  }

  /** Pods often share a client id: then Streams has to tell which process leads. */
  @Test
  void sharedClientId() {
    App app = new App();
    app.subtopology(0, 4, true);
    for (String id : new String[] {A, B, C}) {
      App.Process p = app.process(id, 1);
      p.consumers.clear();
      p.consumers.add("shop-StreamThread-1-consumer-" + id);
    }
    app.processes.get(C).own(app.tasks.keySet().toArray(new TaskId[0]));
    Map<String, Object> configs = App.configs(A);
    configs.put("application.id", "shared");
    configs.put("client.id", "shop-StreamThread-1-consumer");
    configs.put("__reference.container.instance__", new Container(B));
    round(app, B, configs);
    assertTrue(app.processes.get(B).followupMs.isPresent());
    configs.put("__reference.container.instance__", "something else");
    round(app, A, configs);
    assertTrue(app.processes.get(A).followupMs.isPresent());
  }

  @Test
  void scaleUp() {
    App app = new App();
    app.subtopology(0, 12, true);
    app.subtopology(1, 3, false);
    Map<String, Object> configs = App.configs(A);
    configs.put("application.id", "scale-up");
    configs.put(PluginSettings.FACTOR, "1");
    app.process(A, 1);
    assertFalse(round(app, A, configs));
    assertEquals(15, app.processes.get(A).owned.size());
    app.process(B, 2);
    settle(app, A, configs);
    assertEquals(5, app.processes.get(A).owned.size());
    assertEquals(10, app.processes.get(B).owned.size());
  }

  @Test
  void followup() {
    App app = new App();
    app.subtopology(0, 4, true);
    Map<String, Object> configs = App.configs(A);
    configs.put("application.id", "followup");
    configs.put(PluginSettings.FOLLOWUP, "7000");
    app.process(A, 1).own(new TaskId(0, 0), new TaskId(0, 1), new TaskId(0, 2), new TaskId(0, 3));
    app.process(B, 1);
    assertFalse(round(app, A, configs), "a cold task moved");
    long ms = app.processes.get(A).followupMs.get();
    assertTrue(ms >= 6_900 && ms < 8_000, "follow-up after " + ms + " ms");
    assertEquals(1, app.processes.get(B).copies.size());
    app.restore(App.END - 1);
    assertTrue(round(app, A, configs), "the caught-up learner did not take over");
    assertTrue(app.processes.get(B).owned.isEmpty() && app.processes.get(A).owned.size() == 3);
    assertFalse(round(app, A, configs));
    assertEquals(1, app.processes.get(B).owned.size());
  }


  /** Whoever leads, the same comes out: a new leader knows nothing of the rounds before. */
  @Test
  void newLeader() {
    App app = new App();
    app.subtopology(0, 12, true);
    app.subtopology(1, 6, true);
    app.standbys = 1;
    Map<String, Object> configs = App.configs(B);
    configs.put("application.id", "new-leader");
    app.process(B, 1);
    app.process(C, 1);
    settle(app, B, configs);
    app.process(A, 2);
    for (int n = 0; n < 100; n++) {
      String leader = n % 2 == 0 ? B : C;
      configs.put("client.id", App.configs(leader).get("client.id"));
      configs.put("application.id", "new-leader-" + n);
      if (!round(app, leader, configs) && !app.processes.get(leader).followupMs.isPresent()) {
        assertTrue(app.processes.get(A).owned.size() >= 5, app.processes.get(A).owned.toString());
        return;
      }
      app.restore(300);
    }
    throw new AssertionError("the group does not come to rest");
  }
}
