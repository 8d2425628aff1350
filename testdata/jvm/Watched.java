import java.io.PrintStream;
import java.util.Arrays;

/**
 * Runs the main method of another class and dies when standard input ends, so that no broker outlives the test that
 * started it, however that test ended. Arguments: class, then its arguments. A class named kafka.Kafka may come with
 * "--format ARG... --" in front: the storage is formatted first, in the same process, which saves the start of a JVM.
 */
public class Watched {
  public static void main(String[] args) throws Exception {
    Thread watcher = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
          // whatever is said is ignored; only the end counts
        }
      } catch (Exception e) {
        // a broken pipe is an end as well
      }
      Runtime.getRuntime().halt(143);
    });
    watcher.setDaemon(true);
    watcher.start();

    int at = 0;
    if (args[0].equals("--format")) {
      int end = Arrays.asList(args).indexOf("--");
      int code = format(Arrays.copyOfRange(args, 1, end));
      if (code != 0) {
        System.exit(code);
      }
      at = end + 1;
    }
    String[] rest = Arrays.copyOfRange(args, at + 1, args.length);
    Class.forName(args[at]).getMethod("main", String[].class).invoke(null, (Object) rest);
  }

  static int format(String[] args) throws Exception {
    String[] all = new String[args.length + 1];
    all[0] = "format";
    System.arraycopy(args, 0, all, 1, args.length);
    return (int) Class.forName("kafka.tools.StorageTool").getMethod("execute", String[].class, PrintStream.class)
        .invoke(null, all, System.out);
  }
}
