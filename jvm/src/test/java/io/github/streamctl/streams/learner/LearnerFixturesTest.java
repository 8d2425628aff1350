package io.github.streamctl.streams.learner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every recorded round, to the byte. */
class LearnerFixturesTest {
  @ParameterizedTest
  @CsvSource({"learner.jsonl,400", "learner-chains.jsonl,674"})
  void recordedRounds(String file, int want) throws Exception {
    Path path = Paths.get(System.getProperty("streamctl.root"), "internal", "scenario", "testdata", "learner", file);
    int seen = 0;
    for (String line : Files.readAllLines(path)) {
      Scenarios s = new Scenarios(line);
      LearnerResult r = Learner.round(s.input);
      String recorded = line.substring(line.lastIndexOf("\"result\":") + "\"result\":".length(), line.length() - 1);
      assertEquals(recorded, s.result(r), s.name());
      assertEquals(bounds(s.recorded()), bounds(r), s.name());
      seen++;
    }
    assertEquals(want, seen, file);
  }

  private static String bounds(JsonObject line) {
    TreeMap<String, String> out = new TreeMap<>();
    line.getObject("bounds").forEach((id, b) -> out.put(id, JsonWriter.string(b)));
    return out.toString();
  }

  private static String bounds(LearnerResult r) {
    TreeMap<String, String> out = new TreeMap<>();
    for (LearnerResult.Share s : r.instances) {
      if (s.stays) {
        out.put(s.id, "[" + s.low + "," + s.high + "]");
      }
    }
    return out.toString();
  }
}
