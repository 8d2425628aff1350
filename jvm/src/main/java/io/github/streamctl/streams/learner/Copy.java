package io.github.streamctl.streams.learner;

/** State of a task on a staying instance that does not own it. */
final class Copy {
  final int task;
  final int node;
  final long lag;
  final boolean learner; // before the round
  final boolean ready;
  final boolean exOwner;

  Copy(int task, int node, long lag, boolean learner, boolean ready, boolean exOwner) {
    this.task = task;
    this.node = node;
    this.lag = lag;
    this.learner = learner;
    this.ready = ready;
    this.exOwner = exOwner;
  }
}
