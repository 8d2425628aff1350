package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.streamctl.streams.learner.LearnerInput;
import io.github.streamctl.streams.learner.LearnerResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What rounds aim at, with marks and with what is remembered of the round before. */
class TargetTest {
  private static final String A = "a0000000-0000-4000-8000-000000000001";
  private static final String B = "b0000000-0000-4000-8000-000000000002";
  private static final String C = "c0000000-0000-4000-8000-000000000003";

  private final App app = new App();
  private final LearnerInput settings = new LearnerInput();

  @BeforeEach
  void sixTasks() {
    app.subtopology(0, 6, true);
    settings.acceptableLag = 100;
    app.process(A, 1).own(task(0), task(1), task(2));
    app.process(B, 1).own(task(3), task(4), task(5));
  }

  private static TaskId task(int n) {
    return new TaskId(0, n);
  }

  private Group group(String marked, Long remainingMs) throws Exception {
    Group g = new Group(app);
    settings.stateful = g.stateful;
    if (marked != null) {
      Member m = g.find(marked);
      m.mark = Mark.decode(("{\"schema_version\":1,\"mark\":\"m\",\"timeout_ms\":null,\"deadline\":null,"
          + "\"at\":\"2026-11-30T06:30:00Z\",\"who\":\"me\",\"reason\":null}").getBytes(StandardCharsets.UTF_8));
      m.remainingMs = remainingMs;
      m.expired = remainingMs != null && remainingMs == 0;
    }
    return g;
  }

  private static LearnerResult.Share share(LearnerResult r, String id) {
    return r.instances.stream().filter(s -> s.id.equals(id)).findFirst().get();
  }

  private static void assertTasks(List<Integer> got, Integer... want) {
    assertEquals(Arrays.asList(want), got);
  }

  /** Caught-up copies take over in one round, also more of them than learners may run. */
  @Test
  void caughtUpAtOnce() throws Exception {
    settings.maxLearners = 1;
    for (int t = 3; t < 6; t++) {
      app.processes.get(A).copies.put(task(t), 5L);
    }
    LearnerResult r = Target.of(group(B, null), settings, null);
    assertTasks(share(r, A).active, 0, 1, 2, 3, 4, 5);
    assertTasks(share(r, B).active);
    assertTasks(share(r, B).standby);
  }

  @Test
  void coldOnesAreLearned() throws Exception {
    settings.maxLearners = 2;
    app.processes.get(A).copies.put(task(4), 5L);
    LearnerResult r = Target.of(group(B, 60_000L), settings, null);
    assertTasks(share(r, A).active, 0, 1, 2, 4);
    assertTasks(share(r, A).learner, 3, 5);
    assertTasks(share(r, A).evacuated, 3, 5);
  }

  /** Learners that restore take the place of none that has caught up. */
  @Test
  void restoringHindersNone() throws Exception {
    settings.maxLearners = 1;
    app.processes.get(A).copies.put(task(3), 5L);
    app.processes.get(A).copies.put(task(5), 900L);
    Round before = new Round();
    before.members.addAll(Arrays.asList(A, B));
    before.leaving.add(B);
    before.learning.add(new Round.Learning("0_4", A, B));
    app.processes.get(A).copies.put(task(4), 800L);
    LearnerResult r = Target.of(group(B, null), settings, before);
    assertTasks(share(r, A).active, 0, 1, 2, 3);
    assertTasks(share(r, A).learner, 4);
    assertTasks(share(Target.of(group(B, null), settings, null), A).learner, 5);
  }

  /** Stateless tasks go over at once, also where stateful ones have to wait for learners. */
  @Test
  void stateless() throws Exception {
    App mixed = new App();
    mixed.subtopology(0, 4, true);
    mixed.subtopology(1, 4, false);
    App.Process a = mixed.process(A, 1);
    mixed.tasks.keySet().forEach(a::own);
    mixed.process(B, 1);
    Group g = new Group(mixed);
    LearnerInput in = new LearnerInput();
    in.stateful = g.stateful;
    in.factor = 1000;
    in.maxLearners = 1;
    LearnerResult r = Target.of(g, in, null);
    assertTasks(share(r, B).learner, 0);
    assertTasks(share(r, B).active, 4, 5, 6);
  }

  @Test
  void expiredHasNothing() throws Exception {
    app.process(C, 1).copies.put(task(3), 500L);
    LearnerResult r = Target.of(group(B, 0L), settings, null);
    assertTasks(share(r, B).active);
    assertTrue(share(r, C).active.contains(3), "the learner did not take over as it is");
  }

  /** A process cannot go by itself: when the time of all is up, the work goes on. */
  @Test
  void allExpired() throws Exception {
    app.processes.remove(A);
    app.processes.get(B).own(task(0), task(1), task(2));
    LearnerResult r = Target.of(group(B, 0L), settings, null);
    assertTasks(share(r, B).active, 0, 1, 2, 3, 4, 5);
  }

  /** The learners of the round before go on where they are, though a newcomer would be chosen now. */
  @Test
  void learnersGoOn() throws Exception {
    app.processes.remove(A);
    app.processes.get(B).own(task(0), task(1), task(2));
    app.process(C, 1).copies.put(task(0), 900L);
    settings.maxLearners = 1;
    LearnerResult alone = Target.of(group(null, null), settings, null);
    assertTasks(share(alone, C).learner, 0);
    Round before = new Round();
    before.members.addAll(Arrays.asList(B, C));
    before.learning.add(new Round.Learning("0_0", C, B));
    app.process(A, 1);
    assertTasks(share(Target.of(group(null, null), settings, null), A).learner, 0);
    LearnerResult r = Target.of(group(null, null), settings, before);
    assertTasks(share(r, C).learner, 0);
    assertTasks(share(r, A).learner);
    // Nor if it was an evacuation and the owner is unmarked since: then balance decides anew.
    before.leaving.add(B);
    assertTasks(share(Target.of(group(null, null), settings, before), C).learner);
  }

  /** Records that are missing at an unknown end are never few. */
  @Test
  void unknownLag() throws Exception {
    app.processes.get(A).copies.put(task(5), -3L);
    Group g = group(B, null);
    assertTrue(g.lagsUnknown);
    LearnerResult r = Target.of(g, settings, null);
    assertTasks(share(r, A).active, 0, 1, 2);
  }

  @Test
  void memoryOfRecords() throws Exception {
    ControlView view = new ControlView();
    String status = "{\"schema_version\":1,\"source\":\"plug-in\",\"round\":{\"instances\":["
        + "{\"id\":\"" + A + "\",\"leaving\":false,\"tasks\":[{\"id\":\"0_3\",\"role\":\"learner\"}]},"
        + "{\"id\":\"" + B + "\",\"leaving\":true,\"tasks\":[{\"id\":\"0_3\",\"role\":\"active\"}]}]}}";
    view.apply(("status/" + A).getBytes(StandardCharsets.UTF_8), status.getBytes(StandardCharsets.UTF_8), 7);
    assertEquals(Collections.singleton(B), view.round.leaving);
    assertEquals("0_3", view.round.learning.get(0).task);
    assertEquals(B, view.round.learning.get(0).owner);
    assertEquals(A, view.leader);
    view.apply(("status/" + A).getBytes(StandardCharsets.UTF_8), null, 8);
    assertNull(view.round);
    assertTrue(view.plugIns.isEmpty());
  }
}
