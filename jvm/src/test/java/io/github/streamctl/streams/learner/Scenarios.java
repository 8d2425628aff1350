package io.github.streamctl.streams.learner;

import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonParserException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Scenarios of the learner assignor and their results, in the form of internal/scenario/testdata/learner. As a program: a
 * scenario a line on standard input, its result on standard output, which streamctl's own tests compare with theirs.
 */
public final class Scenarios {
  private final JsonObject line;
  private final List<String> names = new ArrayList<>();
  private final Map<String, Integer> numbers = new TreeMap<>();
  final LearnerInput input = new LearnerInput();

  Scenarios(String text) throws JsonParserException {
    line = JsonParser.object().from(text);
    JsonObject config = line.getObject("config");
    Object r = config.get("balancing_factor");
    if (r != null) {
      input.factor = new BigDecimal(r.toString()).movePointRight(3).longValueExact();
    }
    input.maxLearners = config.getInt("max_learners", 0);
    input.standbys = config.getInt("num_standby_replicas", 0);
    input.acceptableLag = config.getLong("acceptable_recovery_lag", 10_000);
    readTasks(line.getArray("subtopologies"));
    for (Object p : line.getArray("processes")) {
      input.instances.add(instance((JsonObject) p));
    }
  }

  private void readTasks(JsonArray subtopologies) {
    Map<Integer, JsonObject> sorted = new TreeMap<>();
    for (Object s : subtopologies) {
      sorted.put(((JsonObject) s).getInt("id"), (JsonObject) s);
    }
    List<Boolean> stateful = new ArrayList<>();
    sorted.forEach((id, s) -> {
      for (int p = 0; p < s.getInt("partitions"); p++) {
        names.add(id + "_" + p);
        numbers.put(id + "_" + p, stateful.size());
        stateful.add(s.getBoolean("stateful"));
      }
    });
    input.stateful = new boolean[stateful.size()];
    for (int t = 0; t < input.stateful.length; t++) {
      input.stateful[t] = stateful.get(t);
    }
  }

  private LearnerInstance instance(JsonObject p) {
    LearnerInstance in = new LearnerInstance(p.getString("id"), p.getInt("workers"));
    in.generation = p.getLong("generation", 0);
    in.leaving = p.getBoolean("leaving", false);
    in.expired = p.getBoolean("deadline_passed", false);
    in.remainingMs = p.getLong("remaining_ms", LearnerInstance.NO_DEADLINE);
    for (Object o : p.getArray("tasks", new JsonArray())) {
      JsonObject t = (JsonObject) o;
      in.tasks.add(new LearnerTask(numbers.get(t.getString("id")), LearnerTask.Role.valueOf(t.getString("role").toUpperCase(java.util.Locale.ROOT)),
          t.getBoolean("being_learned", false), t.getBoolean("ready", false), t.getLong("lag", LearnerTask.UNKNOWN)));
    }
    return in;
  }

  String name() {
    return line.getString("name");
  }

  JsonObject recorded() {
    return line;
  }

  /** The result in the form of the recorded ones. */
  String result(LearnerResult r) {
    StringBuilder out = new StringBuilder("{\"processes\":{");
    for (LearnerResult.Share s : r.instances) {
      out.append(out.charAt(out.length() - 1) == '{' ? "\"" : ",\"").append(s.id).append("\":{");
      list(out, "active", s.active).append(',');
      list(out, "learner", s.learner).append(',');
      list(out, "standby", s.standby).append(',');
      list(out, "release", s.release).append('}');
    }
    return out.append("}}").toString();
  }

  private StringBuilder list(StringBuilder out, String name, List<Integer> tasks) {
    out.append('"').append(name).append("\":[");
    for (int i = 0; i < tasks.size(); i++) {
      out.append(i > 0 ? ",\"" : "\"").append(names.get(tasks.get(i))).append('"');
    }
    return out.append(']');
  }

  /** Answers standard input line by line; arguments are passed over. */
  public static void main(String[] args) throws IOException, JsonParserException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
      for (String text = in.readLine(); text != null; text = in.readLine()) {
        Scenarios s = new Scenarios(text);
        out.println(s.result(Learner.round(s.input)));
      }
    }
    if (args.length > 0) {
      throw new IllegalArgumentException("no arguments are known: " + Arrays.toString(args));
    }
  }
}
