package io.github.streamctl.streams;

import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonParserException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/** Reads the values of control records, which anyone may have written: docs/protocol/control.md, Values. */
final class Json {
  static final int MAX_VALUE = 1_000_000;
  private static final int MAX_DEPTH = 16;
  private static final int MAX_NUMBER = 64; // characters; the time that a parser takes grows with their square
  private static final int MAX_TEXT = 1024;
  private static final int MAX_ID = 255;

  /** Says why a value does not decode. */
  static final class BadValue extends Exception {
    private static final long serialVersionUID = 1L;

    BadValue(String text) {
      super(text, null, false, false);
    }
  }

  private Json() {}

  /** Parses a value that is one object of our schema. */
  static JsonObject parse(byte[] value) throws BadValue {
    if (value.length > MAX_VALUE) {
      throw new BadValue("has " + value.length + " bytes, at most " + MAX_VALUE + " are read");
    }
    checkShape(value);
    JsonObject o;
    try {
      String text = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(value)).toString();
      o = JsonParser.object().from(text);
    } catch (CharacterCodingException e) {
      throw new BadValue("is not UTF-8");
    } catch (JsonParserException | RuntimeException e) {
      throw new BadValue("is not a JSON object");
    }
    if (number(o, "schema_version", 0, Long.MAX_VALUE) != 1) {
      throw new BadValue("has schema_version " + o.get("schema_version") + ", this plug-in understands 1");
    }
    return o;
  }

  private static void checkShape(byte[] value) throws BadValue {
    int depth = 0;
    int number = 0;
    boolean quoted = false;
    boolean escaped = false;
    for (byte c : value) {
      boolean digit = c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
      number = digit && !quoted ? number + 1 : 0;
      if (number > MAX_NUMBER) {
        throw new BadValue("has a number of more than " + MAX_NUMBER + " characters");
      }
      if (escaped) {
        escaped = false;
      } else if (quoted) {
        escaped = c == '\\';
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        if (++depth > MAX_DEPTH) {
          throw new BadValue("is nested more than " + MAX_DEPTH + " deep");
        }
      } else if (c == '}' || c == ']') {
        depth--;
      }
    }
  }

  /** A whole number within its range; absent and null are refused. */
  static long number(JsonObject o, String field, long low, long high) throws BadValue {
    Object n = o.get(field);
    boolean whole = n instanceof Integer || n instanceof Long;
    if (!whole || ((Number) n).longValue() < low || ((Number) n).longValue() > high) {
      throw new BadValue("field \"" + field + "\" is no whole number from " + low + " to " + high);
    }
    return ((Number) n).longValue();
  }

  static Long optionalNumber(JsonObject o, String field, long high) throws BadValue {
    return o.get(field) == null ? null : number(o, field, 0, high);
  }

  static String text(JsonObject o, String field) throws BadValue {
    return bounded(o, field, 0, MAX_TEXT);
  }

  static String optionalText(JsonObject o, String field) throws BadValue {
    return o.get(field) == null ? null : text(o, field);
  }

  static String id(JsonObject o, String field) throws BadValue {
    return bounded(o, field, 1, MAX_ID);
  }

  /** An id that is an entry of a list. */
  static String idIn(Object value, String list) throws BadValue {
    return boundedText(value, list, 1, MAX_ID);
  }

  private static String bounded(JsonObject o, String field, int low, int high) throws BadValue {
    return boundedText(o.get(field), field, low, high);
  }

  private static String boundedText(Object s, String field, int low, int high) throws BadValue {
    int bytes = s instanceof String ? ((String) s).getBytes(StandardCharsets.UTF_8).length : -1;
    if (bytes < low || bytes > high) {
      throw new BadValue("field \"" + field + "\" is no text of " + low + " to " + high + " bytes");
    }
    return (String) s;
  }

  static boolean bool(JsonObject o, String field) throws BadValue {
    if (!(o.get(field) instanceof Boolean)) {
      throw new BadValue("field \"" + field + "\" is neither true nor false");
    }
    return o.getBoolean(field);
  }

  /** A time in UTC with Z, fractions of up to nine digits. */
  static Instant time(JsonObject o, String field) throws BadValue {
    String s = bounded(o, field, 1, 30);
    try {
      if (s.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z")) {
        return Instant.parse(s);
      }
    } catch (DateTimeParseException e) {
      // said below
    }
    throw new BadValue("field \"" + field + "\" is not a time like 2026-11-30T06:30:00.000Z");
  }

  static Instant optionalTime(JsonObject o, String field) throws BadValue {
    return o.get(field) == null ? null : time(o, field);
  }

  static JsonObject object(JsonObject o, String field) throws BadValue {
    return object(o.get(field), field);
  }

  static JsonObject object(Object value, String field) throws BadValue {
    if (!(value instanceof JsonObject)) {
      throw new BadValue("field \"" + field + "\" is no object");
    }
    return (JsonObject) value;
  }

  static JsonArray list(JsonObject o, String field, int max) throws BadValue {
    if (!(o.get(field) instanceof JsonArray) || o.getArray(field).size() > max) {
      throw new BadValue("field \"" + field + "\" is no list of at most " + max + " entries");
    }
    return o.getArray(field);
  }
}
