package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

/** What a leader makes of the control topic from round to round. */
class SessionTest {
  private static final String A = "a0000000-0000-4000-8000-000000000001";
  private static final String B = "b0000000-0000-4000-8000-000000000002";

  private final Log log = new Log();
  private final ControlReader reader = new ControlReader(c -> log.consumer(), Log.TOPIC);
  private final Session session = new Session(Log.TOPIC, reader, new Publisher(c -> null, Log.TOPIC, Duration.ofSeconds(5)));
  private final PluginSettings settings = new PluginSettings(Collections.singletonMap("application.id", "app"));

  private static String mark(String id, String timeout) {
    return "{\"schema_version\":1,\"mark\":\"" + id + "\",\"timeout_ms\":" + timeout + ",\"deadline\":null,\"at\":\"2026-11-30T06:30:00.000Z\","
        + "\"who\":\"alice\",\"reason\":null}";
  }

  private Group round() {
    App app = new App();
    app.subtopology(0, 2, true);
    app.process(A, 1);
    app.process(B, 1);
    Group g = new Group(app);
    session.refresh(2_000);
    session.mark(g, settings, A);
    return g;
  }

  @Test
  void fromWhereItEnded() {
    log.add("leaving/" + B, mark("m-1", "null"));
    log.add("note", "of somebody else");
    assertEquals("m-1", round().find(B).mark.id);
    assertEquals(Long.valueOf(2), session.offset());
    log.add("leaving/" + B, null);
    assertFalse(round().find(B).marked());
    assertEquals(4, log.delivered, "the news, and the last record before them to see that it is the same topic");
    assertEquals(1, log.opened);
  }

  @Test
  void noTopic() {
    log.records = null;
    assertFalse(round().find(B).marked());
    assertTrue(!session.writable() && session.error == null);
    log.records = new java.util.ArrayList<>();
    log.add("leaving/" + B, mark("m-1", "null"));
    assertTrue(round().find(B).marked());
    log.records = null; // somebody deleted it
    assertFalse(round().find(B).marked());
    assertFalse(session.writable());
  }

  /** A consumer that read a topic takes it for granted: where it gets no answer it does not count as there, so nobody makes it. */
  @Test
  void deleted() {
    log.remembers = true;
    log.add("leaving/" + B, mark("m-1", "null"));
    assertTrue(round().find(B).marked() && session.writable());
    log.records = null;
    assertTrue(round().find(B).marked());
    assertTrue(session.error.contains("no end within the time") && !session.writable(), session.error);
    assertFalse(round().find(B).marked());
    assertTrue(session.error == null && !session.writable());
  }

  /** Rounds without a topic share a consumer as others do. */
  @Test
  void oneConsumer() {
    log.records = null;
    round();
    round();
    log.records = new java.util.ArrayList<>();
    log.add("leaving/" + B, mark("m-1", "null"));
    assertTrue(round().find(B).marked());
    assertEquals(1, log.opened);
  }

  /** A password that was changed is used by the next round; which thread leads makes no difference. */
  @Test
  void newSettings() {
    Map<String, Object> configs = App.configs(A);
    reader.use(ClientConfigs.consumer(configs));
    round();
    configs.put("client.id", "app-a-StreamThread-2-consumer");
    reader.use(ClientConfigs.consumer(configs));
    round();
    assertEquals(1, log.opened);
    configs.put("sasl.jaas.config", "new");
    reader.use(ClientConfigs.consumer(configs));
    round();
    assertEquals(2, log.opened);
    assertEquals(1, log.closed);
  }

  /** What a process remembers does not end with time: a mark may wait for days. Of very many sessions the one used least lately goes. */
  @Test
  void remembered() {
    Session used = Session.of("used", A, settings, App.configs(A));
    Session unused = Session.of("unused", A, settings, App.configs(A));
    for (int i = 0; i < 150; i++) {
      Session.of("other-" + i, A, settings, App.configs(A));
      assertSame(used, Session.of("used", A, settings, App.configs(A)));
    }
    assertNotSame(unused, Session.of("unused", A, settings, App.configs(A)));
  }

  @Test
  void madeAnew() {
    log.add("leaving/" + B, mark("m-1", "null"));
    log.add("leaving/" + A, mark("m-2", "null"));
    assertTrue(round().find(B).marked());
    log.records.clear();
    log.add("leaving/" + A, mark("m-3", "null"));
    Group g = round();
    assertFalse(g.find(B).marked());
    assertEquals("m-3", g.find(A).mark.id);
  }

  /** As many records as there were are not the same records. */
  @Test
  void madeAnewAndGrown() {
    log.add("leaving/" + B, mark("m-1", "null"));
    assertTrue(round().find(B).marked());
    assertTrue(round().find(B).marked());
    log.records.clear();
    log.add("leaving/" + A, mark("m-2", "null"));
    Group g = round();
    assertTrue(!g.find(B).marked() && g.find(A).marked());
    assertEquals(Long.valueOf(1), session.offset());
    log.records.clear();
    log.add("leaving/" + B, mark("m-3", "null"));
    log.add("note", "of somebody else");
    g = round();
    assertTrue(g.find(B).marked() && !g.find(A).marked());
  }

  @Test
  void goesOnWithWhatItKnows() {
    log.add("leaving/" + B, mark("m-1", "null"));
    assertTrue(round().find(B).marked());
    log.failing = new TopicAuthorizationException(Log.TOPIC);
    assertTrue(round().find(B).marked());
    assertTrue(session.error.contains("needs READ and DESCRIBE") && session.writable(), session.error);
    log.failing = null;
    log.add("leaving/" + B, null);
    assertFalse(round().find(B).marked());
    assertNull(session.error);
    assertEquals(1, log.closed);
  }

  /** A topic that may be seen and not read is there: the leader says in it that it cannot read the marks. */
  @Test
  void mayNotRead() {
    log.add("leaving/" + B, mark("m-1", "null"));
    log.refusing = new TopicAuthorizationException(Log.TOPIC);
    for (int i = 0; i < 2; i++) {
      assertFalse(round().find(B).marked());
      assertTrue(session.error.contains("needs READ and DESCRIBE") && session.writable(), session.error);
    }
  }

  /** A broker that hangs costs a round what it may cost, no more; what it says later counts in the next. */
  @Test
  void inTime() throws Exception {
    log.add("leaving/" + B, mark("m-1", "null"));
    log.hanging = Duration.ofMillis(400);
    long before = System.nanoTime();
    session.refresh(50);
    assertTrue(System.nanoTime() - before < 300_000_000L, "the round waited too long");
    assertTrue(session.error.contains("was not read within 50 ms"), session.error);
    log.hanging = Duration.ZERO;
    assertTrue(round().find(B).marked());
  }

  /** A reading of the round before that comes late does not stand for what was written since. */
  @Test
  void late() {
    log.add("note", "of somebody else");
    log.hanging = Duration.ofMillis(300);
    session.refresh(50);
    assertTrue(session.error.contains("was not read within 50 ms"), session.error);
    log.add("leaving/" + B, mark("m-1", "null"));
    log.hanging = Duration.ZERO;
    assertTrue(round().find(B).marked());
  }

  /** A topic that takes longer to read than a round may wait is read all the same, over several rounds. */
  @Test
  void longTopic() {
    for (int i = 0; i < 30; i++) {
      log.add("note/" + i, "of somebody else");
    }
    log.add("leaving/" + B, mark("m-1", "null"));
    log.atOnce = 1;
    log.hanging = Duration.ofMillis(20);
    int rounds = 0;
    do {
      session.refresh(200);
      rounds++;
    } while (session.error != null && rounds < 60);
    assertTrue(rounds > 1, "it was read in one round");
    assertNull(session.error);
    assertTrue(round().find(B).marked());
    assertEquals(1, log.opened);
  }

  /** One number of a megabyte must not hold up those who read it. */
  @Test
  void hugeNumber() {
    StringBuilder huge = new StringBuilder(999_000);
    for (int i = 0; i < 990_000; i++) {
      huge.append('9');
    }
    log.add("leaving/" + A, "{\"schema_version\":1,\"mark\":\"m\",\"timeout_ms\":" + huge + "}");
    log.add("leaving/" + B, mark("m-1", "null"));
    Group g = round();
    assertNull(session.error);
    assertTrue(!g.find(A).marked() && g.find(B).marked());
  }

  /** Time counts from the first sight of an id; a longer time-out under the same id lengthens it. */
  @Test
  void deadlines() throws Exception {
    log.add("leaving/" + B, mark("m-1", "30"));
    Member b = round().find(B);
    assertTrue(!b.expired && b.remainingMs <= 30);
    Thread.sleep(40);
    assertTrue(round().find(B).expired);
    log.add("leaving/" + B, mark("m-1", "600000"));
    b = round().find(B);
    assertTrue(!b.expired && b.remainingMs < 600_000 - 39, "remaining " + b.remainingMs);
    log.add("leaving/" + B, mark("m-2", "30"));
    assertFalse(round().find(B).expired, "another id is a new mark");
    log.add("leaving/" + B, mark("m-2", "null"));
    assertNull(round().find(B).remainingMs);
  }

  @Test
  void departed() {
    log.add("leaving/" + B, mark("m-1", "null"));
    Round before = new Round();
    before.members.add(A);
    Group g = round();
    g.members.removeIf(m -> m.id.equals(B));
    assertEquals(Collections.emptyList(), session.departed(g, before), "it was not there before");
    before.members.add(B);
    assertEquals(Collections.singletonList(B), session.departed(g, before));
    Group back = round();
    assertFalse(back.find(B).marked(), "the mark ended when it left, though the topic still has it");
    assertEquals(Collections.singletonList(B), session.departed(back, null), "what could not be written is written again");
    log.add("leaving/" + B, null);
    assertEquals(Collections.emptyList(), session.departed(round(), null));
  }

  /** Somebody who marks the process again means it, even with the id of the mark that ended. */
  @Test
  void markedAgain() {
    log.add("leaving/" + B, mark("m-1", "null"));
    Round before = new Round();
    before.members.add(B);
    Group g = round();
    g.members.removeIf(m -> m.id.equals(B));
    assertEquals(Collections.singletonList(B), session.departed(g, before));
    log.add("leaving/" + B, mark("m-1", "null"));
    g = round();
    assertTrue(g.find(B).marked());
    assertEquals(Collections.emptyList(), session.departed(g, before));
  }

  /** Of a topic with several partitions only one is read, and nothing is written to it. */
  @Test
  void partitions() {
    log.add("leaving/" + B, mark("m-1", "null"));
    log.partitions = 3;
    assertTrue(round().find(B).marked());
    assertFalse(session.writable());
    log.partitions = 1;
    round();
    assertTrue(session.writable());
  }

  /** Of few bytes, as much as a status can have to keep. */
  static String largeStatus() {
    StringBuilder members = new StringBuilder("\"i0\"");
    for (int i = 1; i < StatusRecord.MAX_MEMBERS; i++) {
      members.append(",\"i").append(i).append('"');
    }
    return "{\"schema_version\":1,\"source\":\"plug-in\",\"members\":[" + members + "],\"round\":null}";
  }

  /** Whoever may write can have a process keep so much, no more: then the topic counts as unreadable. */
  @Test
  void tooMuch() {
    log.add("leaving/" + B, mark("m-1", "null"));
    assertTrue(round().find(B).marked());
    String status = largeStatus();
    for (int i = 0; i < 700; i++) {
      log.add(String.format("status/%08x-0000-4000-8000-000000000000", i), status);
    }
    session.refresh(20_000);
    assertTrue(session.error.contains("more than 64 MiB"), session.error);
    assertTrue(round().find(B).marked(), "the marks that are known hold");
    log.records.subList(1, log.records.size()).clear();
    session.refresh(20_000);
    assertNull(session.error);
  }

  private static String status(String member) {
    String members = member == null ? "" : "\"members\":[\"" + member + "\"],";
    return "{\"schema_version\":1,\"source\":\"plug-in\"," + members + "\"round\":null}";
  }

  /** What a process said before it was started anew, maybe without the jar, tells nothing of it now. */
  @Test
  void whoHasIt() {
    App app = new App();
    app.subtopology(0, 2, true);
    app.process(A, 1);
    String now = app.process(B, 2).consumers.last();
    for (String member : new String[] {now, "app-b-StreamThread-1-consumer-before", null}) {
      log.add("status/" + B, status(member));
      Group g = new Group(app);
      session.refresh(2_000);
      session.mark(g, settings, A);
      assertTrue(g.find(A).plugIn);
      assertEquals(now.equals(member), g.find(B).plugIn, member);
      assertEquals(Collections.emptyList(), session.silent(g));
      app.processes.remove(B);
      assertEquals(Collections.singletonList(B), session.silent(new Group(app)));
      app.processes.put(B, app.process(B, 0));
      app.processes.get(B).consumers.add(now);
    }
  }

  /** Another leader's round counts when it came after the one that this process led. */
  @Test
  void roundBefore() {
    round();
    assertNull(session.before(A));
    Round own = new Round();
    session.led(own);
    assertEquals(own, session.before(A));
    log.add("status/" + A, "{\"schema_version\":1,\"source\":\"plug-in\",\"round\":{\"instances\":[]}}");
    round();
    assertEquals(own, session.before(A), "its own record says what it remembers");
    log.add("status/" + B, "{\"schema_version\":1,\"source\":\"plug-in\",\"round\":{\"instances\":[{\"id\":\"" + B + "\",\"leaving\":false,\"tasks\":[]}]}}");
    round();
    assertTrue(session.before(A).members.contains(B));
    session.led(own);
    assertEquals(own, session.before(A));
  }
}
