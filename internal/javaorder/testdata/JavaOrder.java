import java.util.*;

/** Prints what Java's collections do with small random contents, one JSON object a line. */
public final class JavaOrder {
    static final class Key implements Comparable<Key> {
        final int id, hash;
        Key(final int id, final int hash) { this.id = id; this.hash = hash; }
        @Override public int hashCode() { return hash; }
        @Override public boolean equals(final Object o) { return o instanceof Key && ((Key) o).id == id; }
        @Override public int compareTo(final Key o) { return Integer.compare(id, o.id); }
    }

    public static void main(final String[] args) {
        final Random rnd = new Random(7);
        for (int i = 0; i < 200; i++) map(rnd, i);
        for (int i = 0; i < 100; i++) queue(rnd, i);
        uuids(rnd);
        strings(rnd);
        for (int i = 0; i < 60; i++) texts(rnd, i);
    }

    static String hex(final int h) { return Integer.toUnsignedString(h); }

    static void map(final Random rnd, final int no) {
        final int capacity = no % 2 == 0 ? 16 : rnd.nextInt(40);
        final Map<Key, Integer> m = no % 2 == 0 ? new HashMap<>() : new HashMap<>(capacity);
        final int n = rnd.nextInt(no < 150 ? 40 : 400);
        final int spread = no % 3 == 0 ? 1 << 3 : no % 3 == 1 ? 1 << 16 : Integer.MAX_VALUE;
        final boolean crowd = no >= 150;
        final StringBuilder steps = new StringBuilder();
        int id = 0;
        for (int i = 0; i < n; i++) {
            if (id > 0 && rnd.nextInt(5) == 0) {
                final int old = rnd.nextInt(id);
                Key k = null;
                for (final Key x : m.keySet()) if (x.id == old) k = x;
                m.computeIfAbsent(k, x -> -1);
                steps.append(i > 0 ? "," : "").append("{\"present\":").append(old).append("}");
                continue;
            }
            final int hash = crowd ? (no % 2 == 0 ? rnd.nextInt(3) * (1 << 20) + (rnd.nextInt(4) << 10) : rnd.nextInt(24) << 6 | rnd.nextInt(3) | rnd.nextInt(2) << 20) : no % 3 == 1 ? rnd.nextInt(spread) << 8 : rnd.nextInt(spread);
            final Key k = new Key(id, hash);
            final boolean put = no % 5 != 4 && rnd.nextInt(no % 5 == 3 ? 2 : 9) != 0;
            if (put) m.put(k, id); else m.computeIfAbsent(k, x -> x.id);
            steps.append(i > 0 ? "," : "").append("{\"").append(put ? "put" : "compute").append("\":").append(hex(hash)).append("}");
            id++;
        }
        final StringBuilder order = new StringBuilder();
        for (final Key k : m.keySet()) order.append(order.length() > 0 ? "," : "").append(k.id);
        System.out.println("{\"map\":{\"capacity\":" + capacity + ",\"steps\":[" + steps + "],\"order\":[" + order + "]}}");
    }

    static void queue(final Random rnd, final int no) {
        final int n = rnd.nextInt(40), range = 1 + rnd.nextInt(8);
        final List<int[]> start = new ArrayList<>();
        int id = 0;
        for (int i = 0; i < n; i++) start.add(new int[]{id++, rnd.nextInt(range)});
        final StringBuilder steps = new StringBuilder("{\"fill\":[");
        for (int i = 0; i < n; i++) steps.append(i > 0 ? "," : "").append(start.get(i)[1]);
        steps.append("]}");
        final class E implements Comparable<E> {
            final int id, key;
            E(final int id, final int key) { this.id = id; this.key = key; }
            @Override public int compareTo(final E o) { return Integer.compare(key, o.key); }
        }
        final List<E> es = new ArrayList<>();
        for (final int[] s : start) es.add(new E(s[0], s[1]));
        final PriorityQueue<E> q = new PriorityQueue<>(es);
        final StringBuilder polled = new StringBuilder();
        for (int i = rnd.nextInt(60); i > 0; i--) {
            final int what = rnd.nextInt(5);
            if (what < 2) {
                final E e = new E(id++, rnd.nextInt(range));
                q.offer(e);
                steps.append(",{\"offer\":").append(e.key).append("}");
            } else if (what < 4 || q.isEmpty()) {
                final E e = q.poll();
                polled.append(polled.length() > 0 ? "," : "").append(e == null ? -1 : e.id);
                steps.append(",{\"poll\":true}");
            } else {
                final E gone = new ArrayList<>(q).get(rnd.nextInt(q.size()));
                q.remove(gone);
                steps.append(",{\"remove\":").append(gone.id).append("}");
            }
        }
        final StringBuilder items = new StringBuilder();
        for (final E e : q) items.append(items.length() > 0 ? "," : "").append(e.id);
        System.out.println("{\"queue\":{\"steps\":[" + steps + "],\"polled\":[" + polled + "],\"items\":[" + items + "]}}");
    }

    static void uuids(final Random rnd) {
        final TreeSet<UUID> set = new TreeSet<>();
        for (int i = 0; i < 60; i++) set.add(new UUID(i % 3 == 0 ? 5L << 61 : rnd.nextLong(), rnd.nextLong()));
        System.out.println("{\"uuids\":[" + String.join(",", set.stream().map(u -> "\"" + u + "\"").toList()) + "]}");
    }

    static void strings(final Random rnd) {
        final TreeSet<String> set = new TreeSet<>(List.of("", "a", "ab", "b", "app-1", "app-10", "app-2", "Z", "\u00e9", "e\u00e9", "\uffee", "\ud83d\ude00", "\ud83d\ude01", "a\ud83d\ude00", "a\uffee", "\u4e2d"));
        for (int i = 0; i < 20; i++) set.add(Long.toString(rnd.nextLong(), 36));
        final List<String> out = new ArrayList<>();
        for (final String s : set) {
            final StringBuilder esc = new StringBuilder();
            for (final char c : s.toCharArray()) esc.append(c < 127 ? String.valueOf(c) : String.format("\\u%04x", (int) c));
            out.add("{\"text\":\"" + esc + "\",\"hash\":" + hex(s.hashCode()) + "}");
        }
        System.out.println("{\"strings\":[" + String.join(",", out) + "]}");
    }

    /** Texts of which many have one hash: "Aa" and "BB" have the same. */
    static void texts(final Random rnd, final int no) {
        final int capacity = no % 2 == 0 ? 16 : rnd.nextInt(40);
        final Map<String, Integer> m = no % 2 == 0 ? new HashMap<>() : new HashMap<>(capacity);
        final int n = 20 + rnd.nextInt(200), length = 3 + rnd.nextInt(6);
        final StringBuilder steps = new StringBuilder();
        for (int i = 0; i < n; i++) {
            final StringBuilder b = new StringBuilder(rnd.nextInt(4) == 0 ? String.valueOf(rnd.nextInt(9)) : "");
            for (int k = 0; k < length; k++) b.append(rnd.nextBoolean() ? "Aa" : "BB");
            final String key = b.toString();
            if (m.containsKey(key)) continue;
            final int id = m.size();
            final boolean put = no % 3 == 0 || no % 3 == 1 && rnd.nextBoolean();
            if (put) m.put(key, id); else m.computeIfAbsent(key, x -> id);
            steps.append(steps.length() > 0 ? "," : "").append("{\"").append(put ? "put" : "compute").append("\":\"").append(key).append("\"}");
        }
        System.out.println("{\"texts\":{\"capacity\":" + capacity + ",\"steps\":[" + steps + "],\"order\":["
            + String.join(",", m.values().stream().map(String::valueOf).toList()) + "]}}");
    }
}
