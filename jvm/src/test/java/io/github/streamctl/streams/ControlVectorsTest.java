package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The vectors of the control topic that every implementation reads. */
class ControlVectorsTest {
  private static List<JsonObject> lines(String file) throws Exception {
    Path path = Paths.get(System.getProperty("streamctl.root"), "testdata", "control", file);
    List<JsonObject> out = new ArrayList<>();
    for (String line : Files.readAllLines(path)) {
      out.add(JsonParser.object().from(line));
    }
    assertTrue(out.size() > 3, file);
    return out;
  }

  private static byte[] value(JsonObject o) {
    if (o.has("value_base64")) {
      return Base64.getDecoder().decode(o.getString("value_base64"));
    }
    return o.getString("value") == null ? null : o.getString("value").getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void topics() throws Exception {
    for (JsonObject o : lines("topics.jsonl")) {
      assertEquals(o.getString("topic"), PluginSettings.topicName(o.getString("group")));
    }
  }

  @Test
  void marks() throws Exception {
    int seen = 0;
    for (JsonObject o : lines("values.jsonl")) {
      if (!o.getString("key").startsWith("leaving/")) {
        continue;
      }
      boolean decodes = true;
      try {
        Mark.decode(value(o));
      } catch (Json.BadValue e) {
        decodes = false;
      }
      assertEquals(o.getBoolean("decodes"), decodes, o.getString("name"));
      seen++;
    }
    assertTrue(seen >= 10, "only " + seen + " marks among the vectors");
  }

  @Test
  void folds() throws Exception {
    for (JsonObject o : lines("folds.jsonl")) {
      ControlView view = new ControlView();
      long offset = 0;
      for (Object r : o.getArray("records")) {
        JsonObject record = (JsonObject) r;
        view.apply(record.getString("key").getBytes(StandardCharsets.UTF_8), value(record), offset++);
      }
      TreeMap<String, String> marks = new TreeMap<>();
      view.marks.forEach((process, m) -> marks.put(process, m.id));
      TreeMap<String, Object> want = new TreeMap<>(o.getObject("leaving"));
      assertEquals(want.toString(), marks.toString(), o.getString("name"));
    }
  }

  /** What a status takes away is no longer counted as kept. */
  @Test
  void kept() {
    ControlView view = new ControlView();
    byte[] status = SessionTest.largeStatus().getBytes(StandardCharsets.UTF_8);
    byte[] key = "status/7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001".getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 1_001; i++) {
      view.apply(key, i % 3 == 0 ? null : status, i);
    }
    assertTrue(!view.tooMuch() && view.plugIns.size() == 1);
  }

  /** However many records are bad, the log has a few lines of them, and none again when the topic is read again. */
  @Test
  void told() {
    ControlView view = new ControlView();
    byte[] key = "leaving/7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001".getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 100; i++) {
      view.apply(key, new byte[] {'{'}, i);
      view.position = i + 1;
    }
    assertEquals(10, view.told);
    view = view.again();
    for (int i = 0; i < 101; i++) {
      view.apply(key, new byte[] {'{'}, i);
    }
    assertEquals(1, view.told);
  }

  /** Whatever is in the topic, reading goes on. */
  @Test
  void anything() {
    ControlView view = new ControlView();
    String process = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001";
    byte[] deep = String.join("", Collections.nCopies(400_000, "[")).getBytes(StandardCharsets.UTF_8);
    byte[] large = new byte[Json.MAX_VALUE + 1];
    for (byte[] value : new byte[][] {deep, large, {(byte) 0xff}, "{".getBytes(StandardCharsets.UTF_8), "{}".getBytes(StandardCharsets.UTF_8),
        "{\"schema_version\":1e400}".getBytes(StandardCharsets.UTF_8), "{\"schema_version\":1,\"source\":\"plug-in\",\"round\":7}".getBytes(StandardCharsets.UTF_8)}) {
      view.apply(("leaving/" + process).getBytes(StandardCharsets.UTF_8), value, 1);
      view.apply(("status/" + process).getBytes(StandardCharsets.UTF_8), value, 2);
    }
    view.apply(null, deep, 3);
    view.apply(new byte[0], deep, 4);
    view.apply(large, deep, 5);
    assertTrue(view.marks.isEmpty() && view.plugIns.isEmpty() && view.round == null);
  }
}
