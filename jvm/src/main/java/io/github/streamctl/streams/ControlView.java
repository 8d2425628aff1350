package io.github.streamctl.streams;

import com.grack.nanojson.JsonObject;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The control topic, folded: the last record of each key that matters here. Not safe for several threads. */
final class ControlView {
  private static final Logger LOG = LoggerFactory.getLogger(ControlView.class);
  private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  private static final int MAX_TOLD = 10;

  /** Characters that are kept at most, those of Java's own objects reckoned with. */
  static final long MAX_KEPT = 64L << 20;

  private static final long PER_ENTRY = 200;

  /** By process: the mark on it. */
  final SortedMap<String, Mark> marks = new TreeMap<>();

  /** Processes whose plug-in wrote the status that they have, and the ids of the members that they had then. */
  final SortedMap<String, Set<String>> plugIns = new TreeMap<>();

  /** The newest round that a status tells of, null when none does. */
  Round round;

  /** Who wrote {@link #round}. */
  String leader;

  /** Of the record that {@link #round} comes from. */
  long roundOffset = -1;

  /** Every record below this offset was taken. */
  long position;

  private final long toldBelow; // what is wrong with records below was told when they were first read
  int told; // warnings given
  private long kept;

  ControlView() {
    this(0);
  }

  private ControlView(long toldBelow) {
    this.toldBelow = toldBelow;
  }

  /** An empty one, to read the same topic again from its beginning. */
  ControlView again() {
    return new ControlView(Math.max(toldBelow, position));
  }

  /** More is to be kept than may be. */
  boolean tooMuch() {
    return kept > MAX_KEPT;
  }

  /** A copy that does not change. */
  ControlView copy() {
    ControlView c = new ControlView();
    c.marks.putAll(marks);
    c.plugIns.putAll(plugIns);
    c.round = round;
    c.leader = leader;
    c.roundOffset = roundOffset;
    c.position = position;
    return c;
  }

  /** Takes a record. What does not decode counts as a tombstone; a key of other kinds is passed over. */
  void apply(byte[] key, byte[] value, long offset) {
    if (key == null || key.length > 64) {
      return;
    }
    String[] parts = new String(key, java.nio.charset.StandardCharsets.UTF_8).split("/", 2);
    if (parts.length != 2 || !UUID.matcher(parts[1]).matches()) {
      return;
    }
    if (parts[0].equals("leaving")) {
      put(marks, parts[1], decodeMark(parts[1], value, offset));
    } else if (parts[0].equals("status")) {
      applyStatus(parts[1], value, offset);
    }
  }

  private Mark decodeMark(String process, byte[] value, long offset) {
    if (value == null || value.length == 0) {
      return null;
    }
    try {
      Mark m = Mark.decode(value);
      m.offset = offset;
      return m;
    } catch (Json.BadValue e) {
      if (offset >= toldBelow && told < MAX_TOLD) {
        LOG.warn("control topic: the mark on process {} at offset {} {}: it counts as withdrawn{}", process, offset, e.getMessage(),
            ++told < MAX_TOLD ? "" : "; more of this kind are not told of");
      }
      return null;
    }
  }

  private void applyStatus(String process, byte[] value, long offset) {
    Set<String> members = null; // not by a plug-in
    try {
      if (value != null && value.length > 0) {
        JsonObject status = Json.parse(value);
        boolean plugIn = "plug-in".equals(status.get("source"));
        Round r = plugIn ? Round.of(status) : null;
        members = plugIn ? members(status) : null;
        if (r != null) {
          round = r;
          leader = process;
          roundOffset = offset;
        }
      }
    } catch (Json.BadValue e) {
      LOG.debug("control topic: the status of process {} at offset {} {}", process, offset, e.getMessage());
    }
    put(plugIns, process, members);
    if (process.equals(leader) && offset > roundOffset) {
      round = null; // its record of that round was overwritten
      leader = null;
    }
  }

  private static Set<String> members(JsonObject status) throws Json.BadValue {
    Set<String> out = new HashSet<>();
    if (status.get("members") != null) {
      for (Object id : Json.list(status, "members", StatusRecord.MAX_MEMBERS)) {
        out.add(Json.idIn(id, "members"));
      }
    }
    return out;
  }

  private <V> void put(Map<String, V> map, String process, V value) {
    kept -= size(map.get(process));
    if (value == null) {
      map.remove(process);
    } else {
      map.put(process, value);
    }
    kept += size(value);
  }

  private static long size(Object value) {
    long n = value == null ? 0 : PER_ENTRY;
    if (value instanceof Set) {
      for (Object id : (Set<?>) value) {
        n += PER_ENTRY / 2 + id.toString().length();
      }
    } else if (value instanceof Mark) {
      n += ((Mark) value).id.length();
    }
    return n;
  }
}
