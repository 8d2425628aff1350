package io.github.streamctl.streams;

import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonStringWriter;
import com.grack.nanojson.JsonWriter;
import io.github.streamctl.streams.learner.LearnerInput;
import io.github.streamctl.streams.learner.LearnerResult;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.streams.processor.TaskId;

/**
 * A program that answers scenarios, a line each, with the target of the round: the form is that of the learner's, where
 * roles other than active are copies, and "before" says what is known of the round before. streamctl's own tests compare
 * the answers with theirs.
 */
public final class Targets {
  private Targets() {}

  /** Answers standard input. */
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
      for (String text = in.readLine(); text != null; text = in.readLine()) {
        out.println(answer(JsonParser.object().from(text)));
      }
    }
  }

  static String answer(JsonObject line) throws Exception {
    App app = new App();
    for (Object s : line.getArray("subtopologies")) {
      JsonObject sub = (JsonObject) s;
      app.subtopology(sub.getInt("id"), sub.getInt("partitions"), sub.getBoolean("stateful"));
    }
    for (Object o : line.getArray("processes")) {
      JsonObject p = (JsonObject) o;
      App.Process process = app.process(p.getString("id"), p.getInt("workers"));
      for (Object t : p.getArray("tasks")) {
        JsonObject task = (JsonObject) t;
        TaskId id = TaskId.parse(task.getString("id"));
        if (task.getString("role").equals("active")) {
          process.owned.add(id);
          process.restoring.put(id, task.getLong("lag", -3));
        } else {
          process.copies.put(id, task.getLong("lag", -3));
        }
      }
    }
    JsonObject config = line.getObject("config");
    LearnerInput settings = new LearnerInput();
    settings.factor = new BigDecimal(config.get("balancing_factor").toString()).movePointRight(3).longValueExact();
    settings.maxLearners = config.getInt("max_learners", 0);
    settings.standbys = config.getInt("num_standby_replicas");
    settings.acceptableLag = config.getLong("acceptable_recovery_lag");
    Group group = new Group(app);
    settings.stateful = group.stateful;
    for (Object o : line.getArray("processes")) {
      mark(group, (JsonObject) o);
    }
    LearnerResult r = Target.of(group, settings, before(line.getObject("before")));
    JsonStringWriter w = JsonWriter.string().object().object("processes");
    for (LearnerResult.Share s : r.instances) {
      w.object(s.id);
      list(w, group, "active", s.active);
      list(w, group, "learner", s.learner);
      list(w, group, "standby", s.standby);
      list(w, group, "release", s.release);
      w.end();
    }
    return w.end().end().done();
  }

  private static void mark(Group group, JsonObject p) throws Json.BadValue {
    if (!p.getBoolean("leaving", false)) {
      return;
    }
    Member m = group.find(p.getString("id"));
    m.mark = Mark.decode(("{\"schema_version\":1,\"mark\":\"m\",\"timeout_ms\":null,\"deadline\":null,\"at\":\"2026-11-30T06:30:00Z\","
        + "\"who\":\"\",\"reason\":null}").getBytes(StandardCharsets.UTF_8));
    m.expired = p.getBoolean("deadline_passed", false);
    m.remainingMs = p.get("remaining_ms") == null ? null : Long.valueOf(p.getLong("remaining_ms"));
  }

  private static Round before(JsonObject b) {
    if (b == null) {
      return null;
    }
    Round r = new Round();
    b.getArray("leaving", new JsonArray()).forEach(id -> r.leaving.add((String) id));
    for (Object o : b.getArray("learners")) {
      JsonObject l = (JsonObject) o;
      r.learning.add(new Round.Learning(l.getString("task"), l.getString("by"), l.getString("owner")));
    }
    return r;
  }

  private static void list(JsonStringWriter w, Group group, String name, List<Integer> tasks) {
    w.array(name);
    tasks.forEach(t -> w.value(group.name(t)));
    w.end();
  }
}
