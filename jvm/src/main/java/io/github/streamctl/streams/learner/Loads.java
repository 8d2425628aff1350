package io.github.streamctl.streams.learner;

import java.util.List;

/**
 * The planned load of each instance: its active tasks, minus those being learned elsewhere or to be released, plus those
 * that it learns or that are to be released to it.
 */
final class Loads {
  final List<Node> nodes;
  final long[] planned;
  Best lightest; // of the staying instances; null while only counted

  Loads(List<Node> nodes) {
    this.nodes = nodes;
    this.planned = new long[nodes.size()];
  }

  /** Begins to keep the lightest instance. */
  void watch() {
    lightest = new Best(planned.length, i -> nodes.get(i).stays,
        (a, b) -> room(a) != room(b) ? room(a) < room(b) : compare(a, b) < 0);
  }

  /** 0 below the low, 1 below the high, else 2: of whom there are some in the first of these, the lightest is one. */
  int room(int i) {
    Node n = nodes.get(i);
    return planned[i] < n.low ? 0 : planned[i] < n.high ? 1 : 2;
  }

  /** Compares planned loads per worker, exactly. */
  int compare(int a, int b) {
    return perWorker(planned[a], a, planned[b], b);
  }

  /** Compares x tasks on a with y tasks on b per worker, exactly. */
  int perWorker(long x, int a, long y, int b) {
    return Long.compare(x * nodes.get(b).workers, y * nodes.get(a).workers);
  }

  void add(int i, int by) {
    planned[i] += by;
    if (lightest != null && nodes.get(i).stays) {
      lightest.update(i, true);
    }
  }
}
