package io.github.streamctl.streams;

import com.grack.nanojson.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is remembered of a round that was led: who took part, who was leaving, who learned what from whom. */
final class Round {
  /** A learner that a round left running. */
  static final class Learning {
    final String task;
    final String by;
    final String owner;

    Learning(String task, String by, String owner) {
      this.task = task;
      this.by = by;
      this.owner = owner;
    }
  }

  final Set<String> members = new HashSet<>();
  final Set<String> leaving = new HashSet<>();
  final List<Learning> learning = new ArrayList<>();

  /** Reads the round out of a status, null when it has none. */
  static Round of(JsonObject status) throws Json.BadValue {
    if (status.get("round") == null) {
      return null;
    }
    Round r = new Round();
    Map<String, String> owners = new HashMap<>();
    List<String[]> learned = new ArrayList<>();
    for (Object entry : Json.list(Json.object(status, "round"), "instances", 10_000)) {
      JsonObject in = Json.object(entry, "instances");
      String id = Json.id(in, "id");
      r.members.add(id);
      if (Json.bool(in, "leaving")) {
        r.leaving.add(id);
      }
      for (Object t : Json.list(in, "tasks", 100_000)) {
        JsonObject task = Json.object(t, "tasks");
        String name = Json.id(task, "id");
        String role = Json.id(task, "role");
        if (role.equals("active")) {
          owners.put(name, id);
        } else if (role.equals("learner")) {
          learned.add(new String[] {name, id});
        }
      }
    }
    for (String[] l : learned) {
      if (owners.containsKey(l[0])) {
        r.learning.add(new Learning(l[0], l[1], owners.get(l[0])));
      }
    }
    return r;
  }
}
