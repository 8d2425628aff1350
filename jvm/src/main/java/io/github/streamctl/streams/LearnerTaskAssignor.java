package io.github.streamctl.streams;

import io.github.streamctl.streams.learner.LearnerInput;
import io.github.streamctl.streams.learner.LearnerResult;
import java.lang.reflect.Field;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task assignor that moves tasks only for balance or for a leaving process, and each stateful one only once its new
 * process has caught up. To use it, put the jar on the class path and set {@code task.assignor.class} to the name of
 * this class. Settings, and what it does exactly: docs/protocol/plug-in.md.
 *
 * <p>Kafka Streams makes a new one for each round, on the process that leads the round, and configures it then.
 */
public final class LearnerTaskAssignor implements TaskAssignor {
  private static final Logger LOG = LoggerFactory.getLogger(LearnerTaskAssignor.class);
  private static final Set<String> SAID = new HashSet<>(); // warnings that were given

  private Map<String, ?> configs;
  private PluginSettings set;
  private Session session;
  private List<String> departed = new ArrayList<>();
  private List<String> silent = new ArrayList<>();
  private StatusRecord status;

  /** For Kafka Streams, which makes it by the name of its class. */
  public LearnerTaskAssignor() {}

  /**
   * Takes the settings of the app.
   *
   * @throws org.apache.kafka.common.config.ConfigException when one of the plug-in's has a value that it cannot have
   */
  @Override
  public void configure(Map<String, ?> configs) {
    this.configs = configs;
    set = new PluginSettings(configs);
    for (String name : PluginSettings.unknown(configs)) {
      warnOnce("setting \"" + name + "\" is not known and does nothing");
    }
    String usual = PluginSettings.topicName(String.valueOf(configs.get("application.id")));
    if (!set.topic.equals(usual)) {
      warnOnce("streamctl writes marks to topic \"" + usual + "\", and " + PluginSettings.TOPIC + " is \"" + set.topic + "\": nobody marks there");
    }
  }

  @Override
  public TaskAssignment assign(ApplicationState app) {
    Group group = new Group(app);
    Member self = self(group);
    session = Session.of(String.valueOf(configs.get("application.id")), self.id, set, configs);
    synchronized (session) {
      session.refresh(set.timeoutMs);
      session.mark(group, set, self.id);
      LearnerInput settings = settings(app.assignmentConfigs());
      settings.stateful = group.stateful;
      Round before = session.before(self.id);
      departed = session.departed(group, before);
      silent = session.silent(group);
      LearnerResult result = Target.of(group, settings, before);
      session.led(round(group, result));
      session.standbys.is(missing(settings, result));
      Long followup = followupMs(group, result);
      status = status(group, settings, result, self);
      return assignment(group, result, self, followup);
    }
  }

  private LearnerInput settings(AssignmentConfigs c) {
    LearnerInput in = new LearnerInput();
    in.factor = set.factor;
    in.maxLearners = c.maxWarmupReplicas();
    in.standbys = c.numStandbyReplicas();
    in.acceptableLag = c.acceptableRecoveryLag();
    String without = withoutRacks(c);
    if (without != null) {
      warnOnce(without);
    }
    return in;
  }

  /** Says which settings about racks do nothing with this assignor; null when there are none. */
  static String withoutRacks(AssignmentConfigs c) {
    List<String> set = new ArrayList<>();
    if (!c.rackAwareAssignmentTags().isEmpty()) {
      set.add("rack.aware.assignment.tags " + c.rackAwareAssignmentTags() + ": copies may be where these client tags are the same");
    }
    if (!"none".equals(c.rackAwareAssignmentStrategy())) {
      set.add("rack.aware.assignment.strategy " + c.rackAwareAssignmentStrategy() + ": tasks may be read across racks (client.rack)");
    }
    return set.isEmpty() ? null : "this assignor looks at neither racks nor client tags, so these settings do nothing: " + String.join("; ", set);
  }

  /** Says that standbys have no place; null when all have one. */
  private static String missing(LearnerInput settings, LearnerResult result) {
    return result.missingStandbys == 0 ? null : result.missingStandbys + " standbys have no process to be on: with num.standby.replicas="
        + settings.standbys + " a task needs " + (settings.standbys + 1) + " processes that are not leaving";
  }

  /** The process that leads: the one with the thread that this assignor runs in. */
  private Member self(Group group) {
    String client = configs.get("group.instance.id") == null ? String.valueOf(configs.get("client.id")) : configs.get("group.instance.id").toString();
    Member found = null;
    boolean several = false;
    for (Member m : group.members) {
      // A member id is the client id (of a static member its instance id), a dash, and what the broker drew.
      if (m.consumers.stream().anyMatch(c -> c.startsWith(client + "-"))) {
        several = found != null;
        found = m;
        if (several) {
          break;
        }
      }
    }
    if (found != null && !several) {
      return found;
    }
    Member told = group.find(String.valueOf(processIdOfStreams()));
    return told != null ? told : group.members.get(0);
  }

  /**
   * Where processes share a client id, only Streams' own objects tell which of them this is. They are no API, so nothing
   * may hang on them: without them the process with the lowest id stands for the leader.
   */
  private Object processIdOfStreams() {
    try {
      Object container = configs.get("__reference.container.instance__");
      Field manager = container.getClass().getField("taskManager");
      Object id = manager.getType().getMethod("processId").invoke(manager.get(container));
      return id.getClass().getMethod("id").invoke(id);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  private static Round round(Group group, LearnerResult result) {
    Round r = new Round();
    Map<Integer, String> owners = new HashMap<>();
    for (int i = 0; i < group.members.size(); i++) {
      Member m = group.members.get(i);
      r.members.add(m.id);
      if (m.marked()) {
        r.leaving.add(m.id);
      }
      result.instances.get(i).active.forEach(t -> owners.put(t, m.id));
    }
    for (LearnerResult.Share s : result.instances) {
      s.learner.forEach(t -> r.learning.add(new Round.Learning(group.name(t), s.id, owners.get(t))));
    }
    return r;
  }

  /** When another round is wanted: while learners run, and when a leaving process's time is up; null: not at all. */
  private Long followupMs(Group group, LearnerResult result) {
    Long ms = null;
    for (int i = 0; i < group.members.size(); i++) {
      LearnerResult.Share s = result.instances.get(i);
      Member m = group.members.get(i);
      if (!s.learner.isEmpty() || group.lagsUnknown) {
        ms = sooner(ms, set.followupMs);
      }
      if (m.marked() && !m.expired && m.remainingMs != null && !s.active.isEmpty()) {
        ms = sooner(ms, m.remainingMs);
      }
    }
    return ms;
  }

  private static Long sooner(Long a, long b) {
    return a == null || b < a ? Long.valueOf(b) : a;
  }

  private TaskAssignment assignment(Group group, LearnerResult result, Member self, Long followup) {
    List<KafkaStreamsAssignment> out = new ArrayList<>();
    for (int i = 0; i < group.members.size(); i++) {
      Member m = group.members.get(i);
      LearnerResult.Share s = result.instances.get(i);
      Set<AssignedTask> tasks = new HashSet<>();
      s.active.forEach(t -> tasks.add(new AssignedTask(group.tasks.get(t), AssignedTask.Type.ACTIVE)));
      s.learner.forEach(t -> tasks.add(new AssignedTask(group.tasks.get(t), AssignedTask.Type.STANDBY)));
      s.standby.forEach(t -> tasks.add(new AssignedTask(group.tasks.get(t), AssignedTask.Type.STANDBY)));
      KafkaStreamsAssignment a = KafkaStreamsAssignment.of(m.process, tasks);
      // On this process, so that the time is reckoned and met by one clock.
      out.add(m == self && followup != null ? a.withFollowupRebalance(Instant.now().plusMillis(followup)) : a);
    }
    return new TaskAssignment(out);
  }

  private StatusRecord status(Group group, LearnerInput settings, LearnerResult result, Member self) {
    StatusRecord s = new StatusRecord();
    s.group = group;
    s.settings = settings;
    s.result = result;
    s.scaleDownMs = set.scaleDownMs;
    s.followupMs = set.followupMs;
    s.self = self.id;
    s.at = Instant.now();
    s.offset = session.offset();
    s.error = session.error != null ? session.error : session.publisher.error;
    return s;
  }

  @Override
  public void onAssignmentComputed(GroupAssignment assignment, GroupSubscription subscription, AssignmentError error) {
    if (error != AssignmentError.NONE) {
      return;
    }
    if (!session.writable()) {
      session.publisher.rest(); // nobody but streamctl makes the topic
      return;
    }
    StatusRecord said = status;
    List<String> gone = departed;
    List<String> quiet = silent;
    session.publisher.publish(() -> {
      List<Publisher.Entry> records = new ArrayList<>();
      gone.forEach(id -> records.add(new Publisher.Entry("leaving/" + id, null)));
      records.add(new Publisher.Entry("status/" + said.self, said.value()));
      quiet.forEach(id -> records.add(new Publisher.Entry("status/" + id, null))); // once there is a newer round
      return records;
    });
  }

  private static void warnOnce(String text) {
    synchronized (SAID) {
      if (SAID.size() < 100 && SAID.add(text)) {
        LOG.warn("{}", text);
      }
    }
  }
}
