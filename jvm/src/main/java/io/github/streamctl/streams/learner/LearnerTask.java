package io.github.streamctl.streams.learner;

/** What an instance says of one task. */
public final class LearnerTask {
  /** The lag of a copy that nobody knows: more than any number. So is every other negative lag. */
  public static final long UNKNOWN = -1;

  /** In the order in which they count, if more is said of one task. */
  public enum Role {
    /** It owns the task: a claim. */
    ACTIVE,
    /** It has a copy in order to take the task over. */
    LEARNER,
    /** It has another copy. */
    STANDBY
  }

  /** Number of the task. */
  public final int task;

  /** What it is to the instance. */
  public final Role role;

  /** Of stateful claims: revoked because some other instance learns the task. */
  public final boolean beingLearned;

  /** Of learners: it may become active. */
  public final boolean ready;

  /** Records still to restore: of copies, and of claims that lose to a newer one. */
  public final long lag;

  /** All that is said of a task. */
  public LearnerTask(int task, Role role, boolean beingLearned, boolean ready, long lag) {
    this.task = task;
    this.role = role;
    this.beingLearned = beingLearned;
    this.ready = ready;
    this.lag = lag;
  }
}
