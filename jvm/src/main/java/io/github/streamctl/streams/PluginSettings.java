package io.github.streamctl.streams;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;

/** The settings of the plug-in: docs/protocol/plug-in.md, Settings. All names begin with {@code streamctl.}. */
final class PluginSettings {
  static final String FACTOR = "streamctl.worker.balancing.factor";
  static final String FOLLOWUP = "streamctl.followup.interval.ms";
  static final String TOPIC = "streamctl.control.topic";
  static final String TIMEOUT = "streamctl.control.timeout.ms";
  static final String SCALE_DOWN = "streamctl.scale.down.timeout.ms";

  private static final String SUFFIX = "-streamctl-control";
  private static final int MAX_TOPIC = 249;
  private static final long YEARS_10 = 315_360_000_000L;

  /** r in thousandths. */
  final long factor;

  /** How long learners are left alone between two rounds. */
  final long followupMs;

  /** Name of the control topic. */
  final String topic;

  /** How long a round waits for the control topic at most. */
  final long timeoutMs;

  /** How long a mark without a time-out of its own waits; null: as long as it takes. */
  final Long scaleDownMs;

  PluginSettings(Map<String, ?> configs) {
    factor = factor(configs.get(FACTOR));
    followupMs = number(configs, FOLLOWUP, 5_000, 100, 3_600_000);
    timeoutMs = number(configs, TIMEOUT, 3_000, 1, 60_000);
    scaleDownMs = blank(configs.get(SCALE_DOWN)) ? null : number(configs, SCALE_DOWN, 0, 0, YEARS_10);
    Object name = configs.get(TOPIC);
    topic = blank(name) ? topicName(String.valueOf(configs.get("application.id"))) : name.toString().trim();
    boolean legal = topic.matches("[a-zA-Z0-9._-]{1," + MAX_TOPIC + "}") && !topic.equals(".") && !topic.equals("..");
    if (!legal) {
      throw new ConfigException(TOPIC, topic, "no topic can have this name: up to " + MAX_TOPIC + " letters, digits, dots, underscores and dashes");
    }
  }

  /** Settings of our kind that nobody knows, sorted: probably typing errors. */
  static List<String> unknown(Map<String, ?> configs) {
    List<String> known = Arrays.asList(FACTOR, FOLLOWUP, TOPIC, TIMEOUT, SCALE_DOWN);
    List<String> out = new ArrayList<>();
    for (String key : configs.keySet()) {
      if (key.startsWith("streamctl.") && !known.contains(key)) {
        out.add(key);
      }
    }
    out.sort(null);
    return out;
  }

  private static boolean blank(Object value) {
    return value == null || value.toString().trim().isEmpty();
  }

  private static long factor(Object value) {
    if (blank(value)) {
      return 2_000;
    }
    try {
      BigDecimal r = new BigDecimal(value.toString().trim());
      if (r.compareTo(BigDecimal.ONE) >= 0 && r.compareTo(BigDecimal.valueOf(1_000_000)) <= 0) {
        return r.movePointRight(3).longValueExact();
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // said below
    }
    throw new ConfigException(FACTOR, value, "it must be a number from 1 to 1000000 with at most three decimals, such as 2 or 1.25");
  }

  private static long number(Map<String, ?> configs, String name, long otherwise, long low, long high) {
    Object value = configs.get(name);
    if (blank(value)) {
      return otherwise;
    }
    try {
      long n = Long.parseLong(value.toString().trim());
      if (n >= low && n <= high) {
        return n;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new ConfigException(name, value, "it must be a whole number of milliseconds from " + low + " to " + high);
  }

  /** Name of the control topic of a group: docs/protocol/control.md, The topic. */
  static String topicName(String group) {
    byte[] bytes = group.getBytes(StandardCharsets.UTF_8);
    StringBuilder legal = new StringBuilder();
    boolean changed = false;
    for (byte b : bytes) {
      boolean ok = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == '_' || b == '-';
      legal.append(ok ? (char) b : '_');
      changed |= !ok;
    }
    if (!changed && bytes.length <= MAX_TOPIC - SUFFIX.length()) {
      return legal + SUFFIX;
    }
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      String hex = String.format("-%02x%02x%02x%02x", hash[0], hash[1], hash[2], hash[3]);
      legal.setLength(Math.min(legal.length(), MAX_TOPIC - SUFFIX.length() - hex.length()));
      return legal + hex + SUFFIX;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
