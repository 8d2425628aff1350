package io.github.streamctl.streams.learner;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** An instance in the round; its number is its place by id. */
final class Node {
  final String id;
  final int workers;
  final boolean leaving;
  final boolean expired;
  final long waitMs;
  final long generation;
  final List<Held> held = new ArrayList<>();
  boolean stays;
  long low;
  long high;

  /** What an instance says of one task; the lag is 0 within the acceptable one and the largest number when unknown. */
  static final class Held {
    final int task;
    final LearnerTask.Role role;
    final boolean tagged;
    final boolean ready;
    final long lag;

    Held(LearnerTask t, boolean stateful, long acceptable) {
      task = t.task;
      role = t.role;
      tagged = t.beingLearned && stateful;
      ready = t.ready;
      lag = t.lag < 0 ? Long.MAX_VALUE : t.lag <= acceptable ? 0 : t.lag;
    }
  }

  private Node(LearnerInstance in, boolean[] stateful, long acceptable) {
    id = in.id;
    workers = in.workers;
    leaving = in.leaving;
    expired = in.leaving && in.expired;
    waitMs = in.leaving ? in.remainingMs : Long.MAX_VALUE;
    generation = in.generation;
    for (LearnerTask t : in.tasks) {
      boolean known = t.task >= 0 && t.task < stateful.length;
      if (known && (t.role == LearnerTask.Role.ACTIVE || stateful[t.task])) {
        held.add(new Held(t, stateful[t.task], acceptable));
      }
    }
    held.sort(Comparator.comparingInt(h -> h.task));
  }

  /** Puts the instances in order and decides who stays; true when no instance does, so that the marks are void. */
  static boolean order(LearnerInput in, List<Node> nodes) {
    for (LearnerInstance i : in.instances) {
      nodes.add(new Node(i, in.stateful, Math.max(in.acceptableLag, 0)));
    }
    nodes.sort(Comparator.comparing(n -> n.id));
    boolean anyStays = false;
    for (Node n : nodes) {
      n.stays = !n.leaving;
      anyStays |= n.stays;
    }
    if (anyStays) {
      return false;
    }
    for (Node n : nodes) {
      n.stays = !n.expired;
    }
    return !nodes.isEmpty();
  }
}
