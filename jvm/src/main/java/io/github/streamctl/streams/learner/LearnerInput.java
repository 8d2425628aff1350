package io.github.streamctl.streams.learner;

import java.util.ArrayList;
import java.util.List;

/** What the leader of a group knows when it computes a round. No order matters. Tasks are numbers in their order. */
public final class LearnerInput {
  /** Balancing factor r in thousandths; below 1000 counts as 1000. */
  public long factor = 2000;

  /** Learners that may run in the group; 0 or less: unlimited. */
  public int maxLearners;

  /** Wanted per stateful task, learners not counted. */
  public int standbys;

  /** Records; a copy within it counts as caught up. */
  public long acceptableLag = 10_000;

  /** By task: it has state to restore. */
  public boolean[] stateful = new boolean[0];

  /** The instances in the round, each once. */
  public final List<LearnerInstance> instances = new ArrayList<>();
}
