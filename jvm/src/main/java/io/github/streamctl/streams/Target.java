package io.github.streamctl.streams;

import io.github.streamctl.streams.learner.Learner;
import io.github.streamctl.streams.learner.LearnerInput;
import io.github.streamctl.streams.learner.LearnerInstance;
import io.github.streamctl.streams.learner.LearnerResult;
import io.github.streamctl.streams.learner.LearnerTask;
import io.github.streamctl.streams.learner.LearnerTask.Role;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a round of the app aims at: the rules of the learner played on until nothing is left that needs no restoring.
 * Streams itself withholds a task from its new owner until the old one has given it up, so a learner that has caught up
 * takes over within the round: docs/protocol/plug-in.md, The target of a round.
 */
final class Target {
  private final Group group;
  private final LearnerInput settings;
  private final List<Map<Integer, LearnerTask>> held = new ArrayList<>(); // by member and task

  private Target(Group group, LearnerInput settings, Round before) {
    this.group = group;
    this.settings = settings;
    for (Member m : group.members) {
      Map<Integer, LearnerTask> list = new TreeMap<>();
      m.claims.forEach(t -> list.put(t, new LearnerTask(t, Role.ACTIVE, false, false, m.lags.getOrDefault(t, 0L))));
      m.copies.forEach((t, lag) -> list.put(t, new LearnerTask(t, Role.STANDBY, false, false, lag)));
      held.add(list);
    }
    if (before != null) {
      before.learning.forEach(l -> goOn(before, l));
    }
  }

  /**
   * Decides a round. Of the settings the instances are set anew. The learners of the round before, if it is known, go on
   * where they are as long as they may.
   */
  static LearnerResult of(Group group, LearnerInput settings, Round before) {
    Target t = new Target(group, settings, before);
    int most = settings.maxLearners;
    LearnerResult r;
    // Each further round makes an active of a learner at least, or gives a stateless task to another.
    int left = 2 * group.tasks.size() + 2;
    do {
      do {
        settings.maxLearners = 0; // what has caught up takes over however many there are
        r = t.round();
      } while (t.take(r, false) && left-- > 0);
      settings.maxLearners = most;
      r = t.round();
    } while (t.take(r, true) && left-- > 0);
    return r;
  }

  /** A learner goes on while its process stays and has the copy, and its owner has the task and was not unmarked. */
  private void goOn(Round before, Round.Learning l) {
    Member by = group.find(l.by);
    Member owner = group.find(l.owner);
    Integer task = group.byName.get(l.task);
    if (task == null || by == null || owner == null || !by.copies.containsKey(task) || !owner.claims.contains(task)) {
      return;
    }
    if (before.leaving.contains(owner.id) && !owner.marked()) {
      return;
    }
    learn(by, task, by.copies.get(task));
    held.get(group.members.indexOf(owner)).put(task, new LearnerTask(task, Role.ACTIVE, true, false, 0));
  }

  private void learn(Member by, int task, long lag) {
    held.get(group.members.indexOf(by)).put(task, new LearnerTask(task, Role.LEARNER, false, caughtUp(lag), lag));
  }

  private LearnerResult round() {
    settings.instances.clear();
    boolean allExpired = group.members.stream().allMatch(m -> m.marked() && m.expired);
    for (int i = 0; i < group.members.size(); i++) {
      Member m = group.members.get(i);
      LearnerInstance in = new LearnerInstance(m.id, m.workers);
      // A process cannot close its tasks by itself: when all are expired, the marks stop nothing.
      in.leaving = m.marked() && !allExpired;
      in.expired = m.expired && !allExpired;
      in.remainingMs = m.remainingMs == null ? LearnerInstance.NO_DEADLINE : m.remainingMs;
      in.tasks.addAll(held.get(i).values());
      settings.instances.add(in);
    }
    return Learner.round(settings);
  }

  /**
   * Takes the result as the state from which the next round starts, without the learners that it started and that have
   * not caught up, unless they are wanted too; false, and takes nothing, when no task goes to another at once.
   */
  private boolean take(LearnerResult r, boolean started) {
    Set<Integer> learned = new HashSet<>();
    boolean more = false;
    for (int i = 0; i < group.members.size(); i++) {
      LearnerResult.Share s = r.instances.get(i);
      more |= !s.release.isEmpty();
      for (int t : s.learner) {
        LearnerTask copy = held.get(i).get(t);
        more |= copy != null && caughtUp(copy.lag);
        if (started || copy != null && (caughtUp(copy.lag) || copy.role == Role.LEARNER)) {
          learned.add(t);
        }
      }
    }
    for (int i = 0; more && i < group.members.size(); i++) {
      LearnerResult.Share s = r.instances.get(i);
      Map<Integer, LearnerTask> list = held.get(i);
      // What it owned and lost is a copy that is as far behind as it said.
      list.replaceAll((t, x) -> new LearnerTask(t, Role.STANDBY, false, false, x.lag));
      list.keySet().removeIf(t -> !group.stateful[t]);
      for (int t : s.active) {
        if (!s.release.contains(t)) {
          list.put(t, new LearnerTask(t, Role.ACTIVE, learned.contains(t), false, 0));
        }
      }
      for (int t : s.learner) {
        if (learned.contains(t)) {
          LearnerTask copy = list.get(t);
          learn(group.members.get(i), t, copy == null ? LearnerTask.UNKNOWN : copy.lag);
        }
      }
    }
    return more;
  }

  private boolean caughtUp(long lag) {
    return lag >= 0 && lag <= settings.acceptableLag;
  }
}
