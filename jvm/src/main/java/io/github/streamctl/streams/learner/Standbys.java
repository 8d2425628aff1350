package io.github.streamctl.streams.learner;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Gives out the standbys: stream-protocol.md, Standbys. */
final class Standbys {
  private final Learner r;
  private final long[] given; // tasks of all roles that each instance got so far

  Standbys(Learner r) {
    this.r = r;
    this.given = new long[r.nodes.size()];
  }

  void place() {
    if (r.in.standbys <= 0) {
      return;
    }
    for (int t = 0; t < r.tasks; t++) {
      if (r.active[t] != Learner.NOBODY) {
        given[r.active[t]]++;
      }
      if (r.learner[t] != Learner.NOBODY) {
        given[r.learner[t]]++;
      }
    }
    List<List<Integer>> kept = keep();
    Best fewest = new Best(given.length, i -> r.node(i).stays, (a, b) -> r.loads.perWorker(given[a], a, given[b], b) < 0);
    for (int t = r.tasks - 1; t >= 0; t--) {
      int want = r.in.standbys - kept.get(t).size() - (r.learner[t] != Learner.NOBODY ? 1 : 0);
      if (want > 0 && r.in.stateful[t] && r.active[t] != Learner.NOBODY) {
        addNew(t, want, kept.get(t), fewest);
      }
    }
  }

  private void addNew(int t, int want, List<Integer> holders, Best fewest) {
    holders.add(r.active[t]);
    if (r.learner[t] != Learner.NOBODY) {
      holders.add(r.learner[t]);
    }
    for (int i : holders) {
      fewest.update(i, false);
    }
    for (; want > 0 && fewest.get() != Learner.NOBODY; want--) {
      int i = fewest.get();
      give(t, i);
      holders.add(i);
      fewest.update(i, false);
    }
    r.missing += want;
    for (int i : holders) {
      fewest.update(i, r.node(i).stays);
    }
  }

  /** Keeps copies that there are already: the smallest lag first, on equal lag the ex-owner last, then the lowest id. */
  private List<List<Integer>> keep() {
    List<List<Integer>> kept = new ArrayList<>();
    for (int t = 0; t < r.tasks; t++) {
      List<Copy> list = new ArrayList<>();
      for (Copy c : r.copies.get(t)) {
        if (c.node != r.active[t] && c.node != r.learner[t]) {
          list.add(c);
        }
      }
      int ex = r.exOwner(t);
      if (ex != Learner.NOBODY && ex != r.learner[t]) {
        list.add(new Copy(t, ex, 0, false, false, true));
      }
      list.sort(Comparator.<Copy>comparingLong(c -> c.lag).thenComparing(c -> c.exOwner).thenComparingInt(c -> c.node));
      List<Integer> holders = new ArrayList<>();
      for (Copy c : list.subList(0, Math.min(list.size(), r.in.standbys))) {
        give(t, c.node);
        holders.add(c.node);
      }
      kept.add(holders);
    }
    return kept;
  }

  private void give(int t, int i) {
    r.standbys.add(new int[] {t, i});
    given[i]++;
  }
}
