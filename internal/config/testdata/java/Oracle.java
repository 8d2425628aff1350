import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

/**
 * Writes what Java makes of the odd inputs of this folder:
 *   properties FILE   what Properties.load makes of a client file, as JSON
 *   jaas FILE         what the Kafka client makes of each login line: FILE has
 *                     one line each, with \n and \t for those characters
 */
public class Oracle {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("properties")) {
            Properties p = new Properties();
            try (InputStream in = new FileInputStream(args[1])) {
                p.load(in);
            }
            StringBuilder out = new StringBuilder("{\n");
            String sep = "";
            for (String k : new TreeSet<>(p.stringPropertyNames())) {
                out.append(sep).append("  ").append(json(k)).append(": ").append(json(p.getProperty(k)));
                sep = ",\n";
            }
            System.out.println(out + "\n}");
            return;
        }
        String sep = "[\n";
        for (String line : Files.readAllLines(Paths.get(args[1]), StandardCharsets.UTF_8)) {
            String text = line.replace("\\n", "\n").replace("<TAB>", "\t");
            System.out.print(sep + "  {\"line\": " + json(text) + ", ");
            sep = ",\n";
            try {
                var entries = JaasContext.loadClientContext(Map.of("sasl.jaas.config", new Password(text))).configurationEntries();
                System.out.print("\"module\": " + json(entries.get(0).getLoginModuleName()) + ", \"options\": {");
                String comma = "";
                for (var o : new TreeMap<>(entries.get(0).getOptions()).entrySet()) {
                    System.out.print(comma + json(o.getKey()) + ": " + json(o.getValue().toString()));
                    comma = ", ";
                }
                System.out.print("}}");
            } catch (Exception e) {
                System.out.print("\"refused\": true}");
            }
        }
        System.out.println("\n]");
    }

    static String json(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }
}
