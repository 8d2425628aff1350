package io.github.streamctl.streams.learner;

import java.util.ArrayList;
import java.util.List;

/** What a round decides. Instances are sorted by id, tasks in their order. */
public final class LearnerResult {
  /** What each instance has after the round. */
  public final List<Share> instances = new ArrayList<>();

  /** Tasks of leaving instances that the limit of learners leaves without one. */
  public final List<Integer> waiting = new ArrayList<>();

  /** Tasks without owner: all, when every instance is expired. */
  public final List<Integer> unassigned = new ArrayList<>();

  /** Wanted copies that found no instance. */
  public int missingStandbys;

  /** No instance stays, so all that are not expired count as staying. */
  public boolean marksVoid;

  /** What one instance has after the round. */
  public static final class Share {
    /** Of the instance. */
    public final String id;

    /** Neither leaving nor expired, or the marks are void. */
    public final boolean stays;

    /** Least number of active tasks that is in balance; 0 when it does not stay. */
    public final long low;

    /** Largest number of active tasks that is in balance; 0 when it does not stay. */
    public final long high;

    /** That it owns, those to be released as well. */
    public final List<Integer> active = new ArrayList<>();

    /** That it learns. */
    public final List<Integer> learner = new ArrayList<>();

    /** Those of {@link #learner} whose owner does not stay. */
    public final List<Integer> evacuated = new ArrayList<>();

    /** That it has another copy of. */
    public final List<Integer> standby = new ArrayList<>();

    /** The part of {@link #active}, always stateless, that it gives up before the next round. */
    public final List<Integer> release = new ArrayList<>();

    Share(String id, boolean stays, long low, long high) {
      this.id = id;
      this.stays = stays;
      this.low = low;
      this.high = high;
    }
  }
}
