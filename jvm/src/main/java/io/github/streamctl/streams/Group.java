package io.github.streamctl.streams;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;

/** The app as its members reported it: docs/protocol/plug-in.md, What the members say. */
final class Group {
  /** A process with this client tag tells that it runs the plug-in. */
  static final String TAG = "streamctl";

  private static final long RUNNING = -2; // what Streams gives as the lag of a task that runs

  final List<TaskId> tasks = new ArrayList<>();
  final Map<TaskId, Integer> numbers = new HashMap<>();
  final Map<String, Integer> byName = new HashMap<>();
  final List<TaskInfo> infos = new ArrayList<>();
  final boolean[] stateful;
  final List<Member> members = new ArrayList<>(); // by id

  /** The end of some changelog could not be read, so some lag is unknown. */
  boolean lagsUnknown;

  Group(ApplicationState app) {
    Map<TaskId, TaskInfo> all = app.allTasks();
    tasks.addAll(all.keySet());
    Collections.sort(tasks);
    stateful = new boolean[tasks.size()];
    for (TaskId t : tasks) {
      TaskInfo info = all.get(t);
      stateful[infos.size()] = info.isStateful() && info.topicPartitions().stream().anyMatch(TaskTopicPartition::isChangelog);
      numbers.put(t, infos.size());
      byName.put(t.toString(), infos.size());
      infos.add(info);
    }
    Map<ProcessId, KafkaStreamsState> states = app.kafkaStreamsStates(true);
    states.values().forEach(s -> members.add(member(s)));
    members.sort(Comparator.comparing(m -> m.id));
  }

  private Member member(KafkaStreamsState s) {
    Member m = new Member(s.processId(), Math.max(1, s.numProcessingThreads()));
    m.consumers.addAll(s.consumerClientIds());
    m.plugIn = s.clientTags().containsKey(TAG);
    s.statefulTasksToLagSums().forEach((task, lag) -> {
      Integer t = numbers.get(task);
      if (t != null && stateful[t]) {
        m.lags.put(t, lag == RUNNING ? 0 : lag);
        lagsUnknown |= lag != RUNNING && lag < 0;
      }
    });
    for (TaskId task : s.previousActiveTasks()) {
      if (numbers.containsKey(task)) {
        m.claims.add(numbers.get(task));
      }
    }
    for (TaskId task : s.previousStandbyTasks()) {
      Integer t = numbers.get(task);
      if (t != null && stateful[t] && !m.claims.contains(t)) {
        m.copies.put(t, m.lags.getOrDefault(t, -1L));
      }
    }
    return m;
  }

  /** The member with this id, null when there is none. */
  Member find(String id) {
    for (Member m : members) {
      if (m.id.equals(id)) {
        return m;
      }
    }
    return null;
  }

  /** Name of a task, as in streamctl. */
  String name(int task) {
    return tasks.get(task).toString();
  }
}
