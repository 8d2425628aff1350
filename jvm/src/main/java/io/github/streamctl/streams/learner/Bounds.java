package io.github.streamctl.streams.learner;

import java.math.BigInteger;
import java.util.List;

/** How many active tasks an instance may have while it is balanced: stream-protocol.md, Bounds. */
final class Bounds {
  private Bounds() {}

  /** Sets low and high of the instances that stay. */
  static void set(List<Node> nodes, int tasks, long thousandths) {
    long all = 0;
    for (Node n : nodes) {
      all += n.stays ? n.workers : 0;
    }
    if (all == 0 || tasks == 0) {
      return;
    }
    long lows = 0;
    long highs = 0;
    for (Node n : nodes) {
      if (!n.stays) {
        continue;
      }
      BigInteger share = big(tasks).multiply(big(n.workers));
      n.low = up(share.multiply(big(1000)), big(all).multiply(big(thousandths)));
      n.high = down(share.multiply(big(thousandths)), big(all).multiply(big(1000)));
      if (n.low > n.high) {
        whole(n, tasks, all);
      }
      lows += n.low;
      highs += Math.min(n.high, tasks);
    }
    if (lows > tasks || highs < tasks) {
      for (Node n : nodes) {
        if (n.stays) {
          whole(n, tasks, all);
        }
      }
    }
  }

  private static void whole(Node n, int tasks, long all) {
    BigInteger share = big(tasks).multiply(big(n.workers));
    n.low = down(share, big(all));
    n.high = up(share, big(all));
  }

  private static BigInteger big(long n) {
    return BigInteger.valueOf(n);
  }

  private static long down(BigInteger a, BigInteger b) {
    return a.divide(b).min(big(Integer.MAX_VALUE)).longValue();
  }

  private static long up(BigInteger a, BigInteger b) {
    return a.add(b).subtract(BigInteger.ONE).divide(b).min(big(Integer.MAX_VALUE)).longValue();
  }
}
