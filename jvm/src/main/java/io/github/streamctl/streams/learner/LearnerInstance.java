package io.github.streamctl.streams.learner;

import java.util.ArrayList;
import java.util.List;

/** One process in the round, and what it says of itself. */
public final class LearnerInstance {
  /** The remaining time of an instance that waits for as long as it takes. */
  public static final long NO_DEADLINE = Long.MAX_VALUE;

  /** Ids are compared as text. */
  public final String id;

  /** At least 1. */
  public final int workers;

  /** Under a mark. */
  public boolean leaving;

  /** Past its deadline; counts only with {@link #leaving}. */
  public boolean expired;

  /** How much longer it waits, milliseconds; counts only with {@link #leaving}. */
  public long remainingMs = NO_DEADLINE;

  /** Of the last assignment that it got; of two claims the newer counts. */
  public long generation;

  /** What it says of each task, each at most once. */
  public final List<LearnerTask> tasks = new ArrayList<>();

  /** An instance that stays and has no tasks yet. */
  public LearnerInstance(String id, int workers) {
    this.id = id;
    this.workers = workers;
  }
}
