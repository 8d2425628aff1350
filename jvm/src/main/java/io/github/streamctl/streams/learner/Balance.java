package io.github.streamctl.streams.learner;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Moves tasks one at a time from instances with too much: Learners, rule 3. */
final class Balance {
  private final Learner r;
  private final List<Deque<Integer>> withState = new ArrayList<>(); // by instance its movable stateful tasks, ascending
  private final List<Deque<Integer>> stateless = new ArrayList<>(); // by instance its movable stateless tasks, ascending
  private final Map<Long, Deque<Pair>> pairs = new HashMap<>(); // by giver and taker, smallest lag first, then the lowest task
  private Best giver;
  private int over; // instances above their high
  private int under; // instances below their low

  /** A movable task with a copy on a taker. */
  private static final class Pair {
    final long lag;
    final int task;

    Pair(long lag, int task) {
      this.lag = lag;
      this.task = task;
    }
  }

  Balance(Learner r) {
    this.r = r;
  }

  void run() {
    for (int i = 0; i < r.nodes.size(); i++) {
      count(i, 1);
    }
    if (over == 0 && under == 0) {
      return;
    }
    findMovable();
    findPairs();
    watchGivers();
    boolean moved = true;
    while (moved) {
      moved = step();
    }
  }

  private void count(int i, int by) {
    if (r.node(i).stays) {
      over += isOver(i) ? by : 0;
      under += r.loads.planned[i] < r.node(i).low ? by : 0;
    }
  }

  private boolean isOver(int i) {
    return r.loads.planned[i] > r.node(i).high;
  }

  private void findMovable() {
    for (int i = 0; i < r.nodes.size(); i++) {
      withState.add(new ArrayDeque<>());
      stateless.add(new ArrayDeque<>());
    }
    for (int t = 0; t < r.tasks; t++) {
      int owner = r.active[t];
      if (owner != Learner.NOBODY && r.node(owner).stays && r.learner[t] == Learner.NOBODY) {
        (r.in.stateful[t] ? withState : stateless).get(owner).add(t);
      }
    }
  }

  private void findPairs() {
    Map<Long, List<Pair>> found = new HashMap<>();
    for (int from = 0; from < withState.size(); from++) {
      for (int t : withState.get(from)) {
        for (Copy c : r.copies.get(t)) {
          pair(found, from, c.node, c.lag, t);
        }
        int ex = r.exOwner(t);
        if (ex != Learner.NOBODY) {
          pair(found, from, ex, 0, t);
        }
      }
    }
    found.forEach((ends, list) -> {
      list.sort(Comparator.<Pair>comparingLong(p -> p.lag).thenComparingInt(p -> p.task));
      pairs.put(ends, new ArrayDeque<>(list));
    });
  }

  private static void pair(Map<Long, List<Pair>> found, int from, int to, long lag, int task) {
    if (from != to) {
      found.computeIfAbsent(ends(from, to), k -> new ArrayList<>()).add(new Pair(lag, task));
    }
  }

  private static long ends(int from, int to) {
    return (long) from << 32 | to;
  }

  /** Begins to keep the next giver: those above their high before those only above their low, then the heaviest. */
  private void watchGivers() {
    giver = new Best(r.nodes.size(), this::gives,
        (a, b) -> isOver(a) != isOver(b) ? isOver(a) : r.loads.compare(a, b) > 0);
  }

  private boolean gives(int i) {
    return r.node(i).stays && r.loads.planned[i] > r.node(i).low
        && (!stateless.get(i).isEmpty() || r.mayLearn() && !withState.get(i).isEmpty());
  }

  /** Moves one task; false when there is none to move. */
  private boolean step() {
    int from = giver.get();
    if (from == Learner.NOBODY || !isOver(from) && (over > 0 || under == 0)) {
      return false;
    }
    int to = r.loads.lightest.get();
    if (to == from) {
      return false; // all are at their high at least: more tasks than fit
    }
    int t = choose(from, to);
    count(from, -1);
    count(to, -1);
    if (r.in.stateful[t]) {
      r.learn(t, to);
    } else {
      r.released[t] = true;
      r.loads.add(from, -1);
      r.loads.add(to, 1);
    }
    count(from, 1);
    count(to, 1);
    forget(from);
    if (r.in.stateful[t] && !r.mayLearn()) {
      watchGivers(); // no stateful task is movable from now on
      return true;
    }
    giver.update(from, gives(from));
    giver.update(to, gives(to));
    return true;
  }

  /** Of the stateful tasks with a copy on the taker the one with the smallest lag, else the lowest task. */
  private int choose(int from, int to) {
    Deque<Pair> here = pairs.get(ends(from, to));
    while (r.mayLearn() && here != null && !here.isEmpty()) {
      int t = here.poll().task;
      if (r.learner[t] == Learner.NOBODY) {
        return t;
      }
    }
    Integer with = r.mayLearn() ? withState.get(from).peek() : null;
    Integer without = stateless.get(from).peek();
    return with == null ? without : without == null ? with : Math.min(with, without);
  }

  /** Drops what no longer moves from the head of an instance's lists. */
  private void forget(int i) {
    while (!withState.get(i).isEmpty() && r.learner[withState.get(i).peek()] != Learner.NOBODY) {
      withState.get(i).poll();
    }
    while (!stateless.get(i).isEmpty() && r.released[stateless.get(i).peek()]) {
      stateless.get(i).poll();
    }
  }
}
