package io.github.streamctl.streams;

import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.assignment.ProcessId;

/** One process of the app as this round has it. Tasks are numbers in their order. */
final class Member {
  final ProcessId process;
  final String id; // the UUID as text, lower case
  final int workers; // threads

  /** Tasks that it says it owns. */
  final SortedSet<Integer> claims = new TreeSet<>();

  /** By stateful task: records still to restore, 0 of what it runs, negative when unknown. Claims too. */
  final Map<Integer, Long> lags = new TreeMap<>();

  /** By task that it has state of without owning it: the same lag. */
  final Map<Integer, Long> copies = new TreeMap<>();

  /** Member ids of its threads, as the broker gave them. */
  final SortedSet<String> consumers = new TreeSet<>();

  Mark mark; // null: it is under none
  boolean expired;
  Long remainingMs; // null: no deadline
  boolean plugIn; // it is known to run this assignor

  boolean marked() {
    return mark != null;
  }

  Member(ProcessId process, int workers) {
    this.process = process;
    this.id = process.id().toString();
    this.workers = workers;
  }
}
