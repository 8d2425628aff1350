package io.github.streamctl.streams.learner;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** One round while it is decided. Tasks and instances are numbered in their order: a tie to the lowest id is one to the lowest number. */
public final class Learner {
  static final int NOBODY = -1;

  final LearnerInput in;
  final List<Node> nodes = new ArrayList<>();
  final boolean marksVoid;
  final Loads loads;
  final int tasks;

  // By task.
  final int[] prev; // owner before the round
  final boolean[] tagged; // its owner joined with the task revoked
  final int[] active; // owner after the round, as far as decided
  final int[] learner; // instance that learns it after the round
  final boolean[] released;
  final List<List<Copy>> copies; // on staying instances, in their order; the ex-owner's is not among them
  final Copy[] counts; // the learner that counts

  final List<Integer> waiting = new ArrayList<>();
  final List<int[]> standbys = new ArrayList<>(); // task, instance
  int missing;
  private int running;

  private Learner(LearnerInput in) {
    this.in = in;
    marksVoid = Node.order(in, nodes);
    loads = new Loads(nodes);
    tasks = in.stateful.length;
    prev = nobodies(tasks);
    active = nobodies(tasks);
    learner = nobodies(tasks);
    tagged = new boolean[tasks];
    released = new boolean[tasks];
    counts = new Copy[tasks];
    copies = new ArrayList<>(tasks);
    for (int t = 0; t < tasks; t++) {
      copies.add(new ArrayList<>(2));
    }
    findOwners();
    findCopies();
    Bounds.set(nodes, tasks, Math.max(in.factor, 1000));
  }

  /** Computes one round. */
  public static LearnerResult round(LearnerInput in) {
    Learner r = new Learner(in);
    r.settleOwners();
    r.settleLearners();
    r.placeLeft();
    r.evacuate();
    if (r.waiting.isEmpty()) {
      new Balance(r).run();
    }
    new Standbys(r).place();
    return r.result();
  }

  static int[] nobodies(int n) {
    int[] list = new int[n];
    Arrays.fill(list, NOBODY);
    return list;
  }

  Node node(int i) {
    return nodes.get(i);
  }

  /** Finds by task whose claim counts: the newest, then that of the lowest instance id. */
  private void findOwners() {
    for (int i = 0; i < nodes.size(); i++) {
      for (Node.Held h : node(i).held) {
        if (h.role != LearnerTask.Role.ACTIVE) {
          continue;
        }
        if (prev[h.task] == NOBODY || node(i).generation > node(prev[h.task]).generation) {
          prev[h.task] = i;
          tagged[h.task] = h.tagged;
        }
      }
    }
  }

  /** Gathers the copies on staying instances, and of each task the learner that counts: the ready one, then the smallest lag. */
  private void findCopies() {
    for (int i = 0; i < nodes.size(); i++) {
      if (!node(i).stays) {
        continue;
      }
      for (Node.Held h : node(i).held) {
        if (!in.stateful[h.task] || prev[h.task] == i) {
          continue;
        }
        Copy c = new Copy(h.task, i, h.lag, h.role == LearnerTask.Role.LEARNER, h.ready, false);
        copies.get(h.task).add(c);
        Copy best = counts[h.task];
        if (c.learner && (best == null || c.ready && !best.ready || c.ready == best.ready && c.lag < best.lag)) {
          counts[h.task] = c;
        }
      }
    }
  }

  /** The staying instance that owned the task and lost it in this round; it has a copy without lag. */
  int exOwner(int t) {
    int p = prev[t];
    return p != NOBODY && p != active[t] && node(p).stays && in.stateful[t] ? p : NOBODY;
  }

  boolean mayLearn() {
    return in.maxLearners <= 0 || running < in.maxLearners;
  }

  private void own(int t, int node) {
    active[t] = node;
    loads.add(node, 1);
  }

  void learn(int t, int node) {
    learner[t] = node;
    running++;
    if (active[t] != NOBODY) {
      loads.add(active[t], -1);
    }
    loads.add(node, 1);
  }

  /** Active tasks, rules 1 and 2. */
  private void settleOwners() {
    for (int t = 0; t < tasks; t++) {
      int owner = prev[t];
      boolean present = owner != NOBODY && !node(owner).expired;
      if (!in.stateful[t]) {
        present = present && node(owner).stays; // a leaving owner has revoked it
      } else if (counts[t] != null && counts[t].ready && (!present || tagged[t])) {
        own(t, counts[t].node);
        continue;
      }
      if (present) {
        own(t, owner);
      }
    }
  }

  /** Learners, rule 1: those go on that do; all others are copies for the rest of the round. */
  private void settleLearners() {
    for (int t = 0; t < tasks; t++) {
      int owner = active[t];
      if (counts[t] != null && owner != NOBODY && owner == prev[t] && (!node(owner).stays || tagged[t])) {
        learn(t, counts[t].node);
      }
    }
  }

  /** Active tasks, rules 3 and 4, each from the highest task down; stateful tasks before stateless ones. */
  private void placeLeft() {
    loads.watch();
    for (int t = tasks - 1; t >= 0; t--) {
      if (active[t] == NOBODY && in.stateful[t]) {
        int node = bestShot(t);
        if (node != NOBODY) {
          own(t, node);
        }
      }
    }
    for (boolean stateful : new boolean[] {true, false}) {
      for (int t = tasks - 1; t >= 0; t--) {
        int node = loads.lightest.get();
        if (active[t] == NOBODY && in.stateful[t] == stateful && node != NOBODY) {
          own(t, node);
        }
      }
    }
  }

  /** The staying instance whose copy of the task is the best. */
  private int bestShot(int t) {
    Copy best = null;
    for (Copy c : copies.get(t)) {
      if (best == null || betterShot(c, best)) {
        best = c;
      }
    }
    return best == null ? NOBODY : best.node;
  }

  private boolean betterShot(Copy a, Copy b) {
    if (a.lag != b.lag) {
      return a.lag < b.lag;
    }
    boolean learnsA = a == counts[a.task];
    boolean learnsB = b == counts[b.task];
    return learnsA != learnsB ? learnsA : loads.compare(a.node, b.node) < 0;
  }

  /** Learners, rule 2: tasks whose owner does not stay, those of owners that wait the least longer first, then the highest task. */
  private void evacuate() {
    List<Integer> due = new ArrayList<>();
    for (int t = tasks - 1; t >= 0; t--) {
      if (active[t] != NOBODY && in.stateful[t] && learner[t] == NOBODY && !node(active[t]).stays) {
        due.add(t);
      }
    }
    due.sort(Comparator.comparingLong(t -> node(active[t]).waitMs));
    for (int i = 0; i < due.size(); i++) {
      if (!mayLearn()) {
        waiting.addAll(due.subList(i, due.size()));
        waiting.sort(null);
        return;
      }
      learn(due.get(i), refuge(due.get(i)));
    }
  }

  /** Where a task of a leaving instance is learned: on a copy with room below its high, else on the lightest. */
  private int refuge(int t) {
    Copy best = null;
    for (Copy c : copies.get(t)) {
      if (loads.room(c.node) == 2) {
        continue;
      }
      if (best == null || c.lag < best.lag || c.lag == best.lag && loads.compare(c.node, best.node) < 0) {
        best = c;
      }
    }
    return best == null ? loads.lightest.get() : best.node;
  }

  private LearnerResult result() {
    LearnerResult out = new LearnerResult();
    for (Node n : nodes) {
      out.instances.add(new LearnerResult.Share(n.id, n.stays, n.low, n.high));
    }
    out.waiting.addAll(waiting);
    out.missingStandbys = missing;
    out.marksVoid = marksVoid;
    for (int t = 0; t < tasks; t++) {
      if (active[t] == NOBODY) {
        out.unassigned.add(t);
      } else {
        out.instances.get(active[t]).active.add(t);
        if (released[t]) {
          out.instances.get(active[t]).release.add(t);
        }
      }
      if (learner[t] != NOBODY) {
        LearnerResult.Share to = out.instances.get(learner[t]);
        to.learner.add(t);
        if (active[t] != NOBODY && !node(active[t]).stays) {
          to.evacuated.add(t);
        }
      }
    }
    standbys.sort(Comparator.comparingInt(p -> p[0]));
    for (int[] p : standbys) {
      out.instances.get(p[1]).standby.add(p[0]);
    }
    return out;
  }
}
