package io.github.streamctl.streams.learner;

import java.util.function.IntPredicate;

/** Answers which of some numbered things is best while they change: a tournament. Of equals the lowest number wins. */
final class Best {
  /** Says that a is better than b. */
  interface Better {
    boolean than(int a, int b);
  }

  private final int base;
  private final int[] winner; // below each place; -1: nobody takes part
  private final Better better;

  Best(int n, IntPredicate takesPart, Better better) {
    int size = 1;
    while (size < n) {
      size *= 2;
    }
    base = size;
    winner = new int[2 * size];
    this.better = better;
    for (int i = 0; i < winner.length; i++) {
      winner[i] = -1;
    }
    for (int i = 0; i < n; i++) {
      if (takesPart.test(i)) {
        winner[base + i] = i;
      }
    }
    for (int p = base - 1; p > 0; p--) {
      play(p);
    }
  }

  private void play(int p) {
    int a = winner[2 * p];
    int b = winner[2 * p + 1];
    winner[p] = a < 0 || b >= 0 && better.than(b, a) ? b : a;
  }

  /** Tells that i has changed and whether it takes part. */
  void update(int i, boolean takesPart) {
    int p = base + i;
    winner[p] = takesPart ? i : -1;
    for (p /= 2; p > 0; p /= 2) {
      play(p);
    }
  }

  /** The best, -1 when nobody takes part. */
  int get() {
    return winner[1];
  }
}
