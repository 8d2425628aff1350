package io.github.streamctl.streams;

import com.grack.nanojson.JsonObject;

/** A leaving mark: docs/protocol/control.md. */
final class Mark {
  static final long MAX_TIMEOUT_MS = 315_360_000_000L;

  /** Id of the mark. */
  final String id;

  /** How long the process waits to be drained; null: as its own setting says. */
  final Long timeoutMs;

  /** Of its record. */
  long offset;

  private Mark(String id, Long timeoutMs) {
    this.id = id;
    this.timeoutMs = timeoutMs;
  }

  /** The same mark, not one that was written later, maybe with the same id. */
  boolean same(Mark other) {
    return other != null && id.equals(other.id) && offset == other.offset;
  }

  static Mark decode(byte[] value) throws Json.BadValue {
    JsonObject o = Json.parse(value);
    Mark m = new Mark(Json.id(o, "mark"), Json.optionalNumber(o, "timeout_ms", MAX_TIMEOUT_MS));
    Json.optionalTime(o, "deadline");
    Json.time(o, "at");
    Json.text(o, "who");
    Json.optionalText(o, "reason");
    return m;
  }
}
