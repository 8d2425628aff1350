package io.github.streamctl.streams;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;

/** Logs what is wrong once, not in each round, and once that it is over. For one thread at a time. */
final class Trouble {
  private static final int MAX_CAUSES = 5;
  private static final int MAX_TEXTS = 10;

  private final Logger log;
  private final String over;
  private final Set<String> told = new HashSet<>(); // since all was well, without the numbers: a slow broker is told of in two ways by turns

  /** Over: what to say when it is, null for nothing. */
  Trouble(Logger log, String over) {
    this.log = log;
    this.over = over;
  }

  /** Takes what is wrong now, null for nothing; a text that differs in its numbers alone is the same. */
  void is(String text) {
    if (text == null) {
      if (!told.isEmpty() && over != null) {
        log.info("{}", over);
      }
      told.clear();
    } else if (told.size() < MAX_TEXTS && told.add(text.replaceAll("[0-9]+", "#"))) {
      log.warn("{}", text);
    } else {
      log.debug("{}", text);
    }
  }

  /** What an exception says, and what its causes say that it does not: Kafka's own often tell only that something failed. */
  static String why(Throwable e) {
    StringBuilder out = new StringBuilder(text(e));
    Throwable cause = e.getCause();
    for (int i = 0; i < MAX_CAUSES && cause != null; i++, cause = cause.getCause()) {
      String more = text(cause);
      if (out.indexOf(more) < 0) {
        out.append(": ").append(more);
      }
    }
    return out.toString();
  }

  private static String text(Throwable e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
