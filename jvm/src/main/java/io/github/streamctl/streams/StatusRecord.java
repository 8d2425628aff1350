package io.github.streamctl.streams;

import com.grack.nanojson.JsonStringWriter;
import com.grack.nanojson.JsonWriter;
import io.github.streamctl.streams.learner.LearnerInput;
import io.github.streamctl.streams.learner.LearnerResult;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;

/** The status of a leader: what it alone knows of the round. Fields and their order: docs/protocol/control.md. */
final class StatusRecord {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
      .withZone(ZoneOffset.UTC);
  private static final int MAX_ERROR = 300; // characters, far below what a text may have
  private static final int MAX_ID = 255; // bytes

  /** How many members a status names at most. */
  static final int MAX_MEMBERS = 1_000;

  Group group;
  LearnerInput settings;
  LearnerResult result;
  Long scaleDownMs;
  long followupMs;
  String self;
  Instant at;
  Long offset;
  String error;

  private final Set<Integer> learned = new HashSet<>();

  /** The value of the record, with as much as fits. */
  byte[] value() {
    byte[] all = write(true, true);
    if (all.length > Json.MAX_VALUE) {
      all = write(false, true);
    }
    return all.length > Json.MAX_VALUE ? write(false, false) : all;
  }

  private byte[] write(boolean withRound, boolean withTasks) {
    Member me = group.find(self);
    learned.clear();
    result.instances.forEach(s -> learned.addAll(s.learner));
    JsonStringWriter w = JsonWriter.string();
    w.object().value("schema_version", 1).value("source", "plug-in").value("software", "streamctl-streams")
        .value("version", version()).value("at", TIME.format(at)).nul("generation").value("epoch", 0).nul("mode");
    w.object("control");
    number(w, "offset", offset);
    text(w, "error", error == null ? null : error.substring(0, Math.min(error.length(), MAX_ERROR)));
    w.end();
    w.array("marks");
    if (me.marked()) {
      w.value(me.mark.id);
    }
    w.end();
    w.value("leaving", me.marked()).value("expired", me.marked() && me.expired);
    number(w, "remaining_ms", me.marked() ? me.remainingMs : null);
    w.value("workers", me.workers);
    w.array("members");
    me.consumers.stream().filter(id -> id.getBytes(StandardCharsets.UTF_8).length <= MAX_ID).limit(MAX_MEMBERS).forEach(w::value);
    w.end();
    w.array("tasks");
    if (withTasks) {
      tasks(w, me, false);
    }
    w.end();
    if (withRound) {
      round(w.object("round"));
      w.end();
    } else {
      w.nul("round");
    }
    return w.end().done().getBytes(StandardCharsets.UTF_8);
  }

  private static String version() {
    String v = StatusRecord.class.getPackage().getImplementationVersion();
    return v == null ? "unknown" : v;
  }

  private void round(JsonStringWriter w) {
    w.nul("generation").object("settings").value("balancing_factor_thousandths", settings.factor)
        .value("num_standby_replicas", settings.standbys).value("acceptable_recovery_lag", settings.acceptableLag);
    number(w, "max_learners", settings.maxLearners < 1 ? null : Long.valueOf(settings.maxLearners));
    w.value("rejoin_policy", "eager");
    number(w, "scale_down_timeout_ms", scaleDownMs);
    w.end().array("topology");
    topology(w);
    w.end().array("instances");
    for (Member m : group.members) {
      w.object().value("id", m.id).value("workers", m.workers).value("leaving", m.marked()).value("plug_in", m.plugIn).array("marks");
      if (m.marked()) {
        w.value(m.mark.id);
      }
      w.end().array("tasks");
      tasks(w, m, true);
      w.end().end();
    }
    w.end().value("marks_void", result.marksVoid || group.members.stream().allMatch(Member::marked))
        .value("another_round", handsOver()).value("followup_interval_ms", followupMs);
  }

  /** A task goes to a process while another still has it: Streams has the round that completes it follow at once. */
  private boolean handsOver() {
    Set<Integer> claimed = new HashSet<>();
    group.members.forEach(m -> claimed.addAll(m.claims));
    for (int i = 0; i < group.members.size(); i++) {
      SortedSet<Integer> own = group.members.get(i).claims;
      if (result.instances.get(i).active.stream().anyMatch(t -> claimed.contains(t) && !own.contains(t))) {
        return true;
      }
    }
    return false;
  }

  private void topology(JsonStringWriter w) {
    Map<Integer, List<TaskInfo>> subtopologies = new TreeMap<>();
    for (TaskInfo info : group.infos) {
      subtopologies.computeIfAbsent(info.id().subtopology(), k -> new ArrayList<>()).add(info);
    }
    subtopologies.forEach((id, infos) -> {
      SortedSet<String> sources = new TreeSet<>();
      SortedSet<String> repartition = new TreeSet<>();
      SortedSet<String> changelogs = new TreeSet<>();
      SortedSet<String> stores = new TreeSet<>();
      for (TaskInfo info : infos) {
        stores.addAll(info.stateStoreNames());
        for (TaskTopicPartition p : info.topicPartitions()) {
          String topic = p.topicPartition().topic();
          if (p.isSource()) {
            // Streams names its internal topics so; the assignor is not told which they are.
            (topic.endsWith("-repartition") ? repartition : sources).add(topic);
          }
          if (p.isChangelog()) {
            changelogs.add(topic);
          }
        }
      }
      w.object().value("id", id).value("stateful", group.stateful[group.numbers.get(infos.get(0).id())]).value("partitions", infos.size());
      list(w, "source_topics", sources);
      list(w, "repartition_source_topics", repartition);
      list(w, "repartition_sink_topics", new TreeSet<>());
      list(w, "changelog_topics", changelogs);
      list(w, "stores", stores);
      w.end();
    });
  }

  private void tasks(JsonStringWriter w, Member m, boolean withReason) {
    LearnerResult.Share share = result.instances.get(group.members.indexOf(m));
    Set<Integer> actives = new HashSet<>(share.active);
    Set<Integer> learners = new HashSet<>(share.learner);
    SortedSet<Integer> all = new TreeSet<>(share.active);
    all.addAll(share.learner);
    all.addAll(share.standby);
    for (int t : all) {
      boolean active = actives.contains(t);
      boolean learner = learners.contains(t);
      TaskId id = group.tasks.get(t);
      w.object().value("id", id.subtopology() + "_" + id.partition()).value("role", active ? "active" : learner ? "learner" : "standby");
      w.array("tags");
      if (group.stateful[t]) {
        w.value("isStateful");
        if (learner) {
          w.value("isLearner");
        }
        if (active && learned.contains(t)) {
          w.value("beingLearned");
        }
        if (active && m.marked()) {
          w.value("isLeaving");
        }
      }
      w.end();
      Long lag = m.lags.get(t);
      number(w, "lag", !group.stateful[t] ? Long.valueOf(0) : lag == null || lag < 0 ? null : lag);
      if (withReason) {
        text(w, "reason", !learner ? null : share.evacuated.contains(t) ? "evacuation" : "balance");
      }
      w.end();
    }
  }

  private static void list(JsonStringWriter w, String name, Collection<String> values) {
    w.array(name);
    values.forEach(w::value);
    w.end();
  }

  private static void number(JsonStringWriter w, String name, Long n) {
    if (n == null) {
      w.nul(name);
    } else {
      w.value(name, n);
    }
  }

  private static void text(JsonStringWriter w, String name, String s) {
    if (s == null) {
      w.nul(name);
    } else {
      w.value(name, s);
    }
  }
}
