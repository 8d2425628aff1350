package io.github.streamctl.streams;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;
import org.apache.kafka.streams.state.HostInfo;

/**
 * An app as an assignor sees it, and as it goes on after a round: Streams withholds a task from its new owner until the
 * old one has given it up, and what a process gave up stays on its disk.
 */
final class App implements ApplicationState {
  static final long END = 1000; // records in the changelogs of a task

  final SortedMap<TaskId, TaskInfo> tasks = new TreeMap<>();
  final Map<String, Process> processes = new TreeMap<>();
  int standbys;
  int warmups = 2;
  long acceptable = 100;

  /** A process and what is on it. */
  final class Process implements KafkaStreamsState {
    final ProcessId id;
    final SortedSet<String> consumers = new TreeSet<>();
    final SortedSet<TaskId> owned = new TreeSet<>();
    final SortedMap<TaskId, Long> copies = new TreeMap<>(); // records that are missing
    final SortedMap<TaskId, Long> restoring = new TreeMap<>(); // of the owned ones: records that are missing
    final Set<TaskId> running = new HashSet<>(); // of the copies: assigned as standby
    Optional<Long> followupMs = Optional.empty();

    Process(String id) {
      this.id = new ProcessId(UUID.fromString(id));
    }

    @Override
    public ProcessId processId() {
      return id;
    }

    @Override
    public int numProcessingThreads() {
      return consumers.size();
    }

    @Override
    public SortedSet<String> consumerClientIds() {
      return consumers;
    }

    @Override
    public SortedSet<TaskId> previousActiveTasks() {
      return owned;
    }

    @Override
    public SortedSet<TaskId> previousStandbyTasks() {
      return new TreeSet<>(copies.keySet());
    }

    @Override
    public long lagFor(TaskId task) {
      return owned.contains(task) ? restoring.getOrDefault(task, -2L) : copies.getOrDefault(task, END);
    }

    @Override
    public SortedSet<TaskId> prevTasksByLag(String consumer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Map<TaskId, Long> statefulTasksToLagSums() {
      Map<TaskId, Long> out = new HashMap<>();
      tasks.forEach((t, info) -> {
        if (info.isStateful()) {
          out.put(t, lagFor(t));
        }
      });
      return out;
    }

    @Override
    public Optional<HostInfo> hostInfo() {
      return Optional.empty();
    }

    @Override
    public Map<String, String> clientTags() {
      return Collections.emptyMap();
    }

    @Override
    public Optional<String> rackId() {
      return Optional.empty();
    }

    void own(TaskId... list) {
      Collections.addAll(owned, list);
    }
  }

  /** Adds a subtopology with so many tasks. */
  void subtopology(int id, int partitions, boolean stateful) {
    for (int p = 0; p < partitions; p++) {
      tasks.put(new TaskId(id, p), info(id, p, stateful));
    }
  }

  Process process(String id, int threads) {
    Process p = new Process(id);
    for (int i = 1; i <= threads; i++) {
      p.consumers.add("app-" + id.charAt(0) + "-StreamThread-" + i + "-consumer-" + UUID.randomUUID());
    }
    processes.put(id, p);
    return p;
  }

  static Map<String, Object> configs(String leader) {
    Map<String, Object> m = new HashMap<>();
    m.put("application.id", "app");
    m.put("bootstrap.servers", "127.0.0.1:1"); // nobody listens there
    m.put("client.id", "app-" + leader.charAt(0) + "-StreamThread-1-consumer");
    m.put(PluginSettings.TIMEOUT, "1");
    return m;
  }

  private static TaskInfo info(int id, int partition, boolean stateful) {
    Set<TaskTopicPartition> partitions = new HashSet<>();
    partitions.add(part("in" + id, partition, true, false));
    if (stateful) {
      partitions.add(part("app-store" + id + "-changelog", partition, false, true));
    }
    return new TaskInfo() {
      @Override
      public TaskId id() {
        return new TaskId(id, partition);
      }

      @Override
      public boolean isStateful() {
        return stateful;
      }

      @Override
      public Set<String> stateStoreNames() {
        return stateful ? Collections.singleton("store" + id) : Collections.emptySet();
      }

      @Override
      public Set<TaskTopicPartition> topicPartitions() {
        return partitions;
      }
    };
  }

  private static TaskTopicPartition part(String topic, int partition, boolean source, boolean changelog) {
    return new TaskTopicPartition() {
      @Override
      public TopicPartition topicPartition() {
        return new TopicPartition(topic, partition);
      }

      @Override
      public boolean isSource() {
        return source;
      }

      @Override
      public boolean isChangelog() {
        return changelog;
      }

      @Override
      public Optional<Set<String>> rackIds() {
        return Optional.empty();
      }
    };
  }

  @Override
  public Map<ProcessId, KafkaStreamsState> kafkaStreamsStates(boolean computeTaskLags) {
    Map<ProcessId, KafkaStreamsState> out = new HashMap<>();
    processes.values().forEach(p -> out.put(p.id, p));
    return out;
  }

  @Override
  public AssignmentConfigs assignmentConfigs() {
    return new AssignmentConfigs(acceptable, warmups, standbys, 600_000L, Collections.emptyList());
  }

  @Override
  public Map<TaskId, TaskInfo> allTasks() {
    return tasks;
  }

  /** Takes an assignment as Streams does; true when a round follows at once, because a task was withheld. */
  boolean take(TaskAssignment assignment, long now) {
    Set<TaskId> owned = new HashSet<>();
    processes.values().forEach(p -> owned.addAll(p.owned));
    boolean withheld = false;
    for (KafkaStreamsAssignment a : assignment.assignment()) {
      Process p = processes.get(a.processId().id().toString());
      SortedSet<TaskId> before = new TreeSet<>(p.owned);
      p.owned.clear();
      p.running.clear();
      p.followupMs = a.followupRebalanceDeadline().map(at -> at.toEpochMilli() - now);
      for (KafkaStreamsAssignment.AssignedTask t : a.tasks().values()) {
        if (t.type() == KafkaStreamsAssignment.AssignedTask.Type.STANDBY) {
          p.copies.putIfAbsent(t.id(), END);
          p.running.add(t.id());
        } else if (owned.contains(t.id()) && !before.contains(t.id())) {
          withheld = true;
          if (p.copies.containsKey(t.id())) {
            p.running.add(t.id());
          }
        } else {
          p.owned.add(t.id());
          p.copies.remove(t.id());
        }
      }
      before.removeAll(p.owned);
      before.stream().filter(t -> tasks.get(t).isStateful()).forEach(t -> p.copies.put(t, 0L));
    }
    return withheld;
  }

  /** Copies that run restore so many records; those left on disk fall behind by one. */
  void restore(long records) {
    processes.values().forEach(p -> p.copies.replaceAll((t, lag) -> p.running.contains(t) ? Math.max(0, lag - records) : lag + 1));
  }
}
