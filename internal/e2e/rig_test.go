//go:build realkafka

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Versions that the tests run.
const (
	v431 = "4.3.1"
	v440 = "4.4.0"
	v282 = "2.8.2" // an old client; there is no broker of it
)

// rig is what all tests of one run share: folders, brokers, and the list of
// everything that was started.
type rig struct {
	root string // top of the repository
	work string // files of this run, removed at its end

	mu    sync.Mutex
	procs []*proc // oldest first

	clusters map[string]func() (*cluster, error) // by name, started when first asked for
	build    func() (string, error)              // builds streamctl once, gives its path
	plugin   func() (string, error)              // builds the jar for Streams apps once, gives its path
	older    func() error                        // fetches olderReleases once
}

// env is set once, by TestMain.
var env *rig //nolint:gochecknoglobals // TestMain has no other way to hand things to tests

func TestMain(m *testing.M) {
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	r, err := newRig()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	env = r
	defer r.close()
	if _, err := r.build(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		r.close()
		os.Exit(130)
	}()
	return m.Run()
}

func newRig() (*rig, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("the tag realkafka needs %s: %w", tool, err)
		}
	}
	fetch := exec.Command(filepath.Join(root, "testdata", "jvm", "fetch.sh"), v431, v440, v282)
	fetch.Stdout, fetch.Stderr = os.Stderr, os.Stderr
	if err := fetch.Run(); err != nil {
		return nil, fmt.Errorf("fetch.sh: %w", err)
	}
	work, err := os.MkdirTemp("", "streamctl-e2e-")
	if err != nil {
		return nil, err
	}
	r := &rig{root: root, work: work}
	r.build = sync.OnceValues(func() (string, error) {
		if bin := os.Getenv("E2E_STREAMCTL"); bin != "" {
			return bin, nil // one that was built before
		}
		bin := filepath.Join(work, "streamctl")
		cmd := exec.Command("go", "build", "-o", bin, ".")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return bin, nil
	})
	r.older = sync.OnceValue(func() error { return r.fetch(olderReleases()...) })
	r.plugin = sync.OnceValues(func() (string, error) {
		if out, err := exec.Command(filepath.Join(root, "jvm", "build.sh")).CombinedOutput(); err != nil {
			return "", fmt.Errorf("jvm/build.sh: %w\n%s", err, out)
		}
		return filepath.Join(root, "jvm", "target", "streamctl-streams.jar"), nil
	})
	r.clusters = map[string]func() (*cluster, error){}
	for name, spec := range sharedClusters() {
		r.clusters[name] = sync.OnceValues(func() (*cluster, error) { return r.startCluster(name, spec) })
	}
	return r, nil
}

// close ends everything that was started, newest first, and removes the files.
func (r *rig) close() {
	r.mu.Lock()
	procs := r.procs
	r.procs = nil
	r.mu.Unlock()
	for i := len(procs) - 1; i >= 0; i-- {
		procs[i].kill()
	}
	os.RemoveAll(r.work)
}

// cluster gives a shared cluster by its name in sharedClusters.
func (r *rig) cluster(t testing.TB, name string) *cluster {
	t.Helper()
	start, ok := r.clusters[name]
	if !ok {
		t.Fatalf("no cluster is named %q", name)
	}
	c, err := start()
	if err != nil {
		t.Fatalf("cluster %q: %v", name, err)
	}
	return c
}

// classpath is what a JVM needs to run the programs of one Kafka version.
func (r *rig) classpath(version string) string {
	jvm := filepath.Join(r.root, "testdata", "jvm")
	return filepath.Join(jvm, "classes", version) + string(os.PathListSeparator) + filepath.Join(jvm, "jars", version, "*")
}

// java gives the arguments of a JVM that starts fast and stays small.
func (r *rig) java(version string, heapMiB int, args ...string) []string {
	return append([]string{
		"java", fmt.Sprintf("-Xmx%dm", heapMiB), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-cp", r.classpath(version),
	}, args...)
}

// eventually polls until ok holds and fails the test when it does not in time.
func eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// tail is the end of a text, for messages.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
