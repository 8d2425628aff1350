package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/worker"
)

// JobOptions says how the live job of a lab is to be: it counts the records of a topic
// by key, with its counts in a changelog.
type JobOptions struct {
	Group          string            // also the start of the topics' names
	Instances      int               // that it begins with
	Tasks          int               // partitions of the input
	Workers        int               // of each instance; 0 means 1
	Records        int64             // in the stores before the job is said to run
	Rate           int               // records a second written from then on; 0: none
	RestoreRate    int               // records a second that one instance restores, from then on; 0: without limit
	Settings       map[string]string // of the workers, by the names of the protocol; what is not there is as JobSettings has it
	SessionTimeout time.Duration     // how long a crash may go unnoticed
	Log            func(string)      // one line when something happens; may be slow; nil: silent
}

// JobSettings are the settings of the workers of a job where they differ from
// the protocol's defaults: states in a lab are so small that by those they would
// always count as learned, and tasks are dealt out evenly.
func JobSettings() map[string]string {
	return map[string]string{worker.SettingAcceptableLag: "200", worker.SettingBalancingFactor: "1"}
}

// settings are those of JobOptions on top of JobSettings.
func (o *JobOptions) settings() (worker.Settings, error) {
	all := JobSettings()
	maps.Copy(all, o.Settings)
	return worker.ParseSettings(all)
}

// Check refuses settings that do not exist, and values that they cannot have.
func (o *JobOptions) Check() error {
	_, err := o.settings()
	return err
}

// Job is a live job in a lab: instances of workers, and a producer that writes
// what they count.
type Job struct {
	l        *Lab
	o        JobOptions
	settings worker.Settings
	dir      string // state directories, one an instance
	ledger   *ledger
	client   *kgo.Client
	lines    chan string

	ctx  context.Context // ends with the job
	end  context.CancelFunc
	work sync.WaitGroup

	steer sync.Mutex // held while an instance is started, ended, paused or resumed

	mu          sync.Mutex
	pods        map[string]*pod
	restoreRate int
	produced    int64
	leader      string    // of the last round; "" when it is not known
	round       int32     // the last round
	ledAt       time.Time // when it was made
}

// heartbeat is how long an instance may not notice a round.
const heartbeat = 250 * time.Millisecond

// input and changelog name the job's topics.
func (o *JobOptions) input() string     { return o.Group + "-views" }
func (o *JobOptions) changelog() string { return o.Group + "-counts-changelog" }

// StartJob starts a job and returns once all of its tasks run and
// JobOptions.Records are counted. Lab.Close ends it.
func (l *Lab) StartJob(ctx context.Context, o JobOptions) (*Job, error) {
	settings, err := o.settings()
	if err != nil {
		return nil, err
	}
	l.LetTypesChange()
	l.LetMembersExpire()
	if err := l.cluster.CreateTopic(o.input(), int32(o.Tasks), nil); err != nil {
		return nil, fmt.Errorf("create topic %q: %w", o.input(), err)
	}
	dir, err := os.MkdirTemp("", "streamctl-lab-")
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(l.cluster.ListenAddrs()...), kgo.ClientID("streamctl-lab"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	j := &Job{l: l, o: o, settings: settings, dir: dir, ledger: newLedger(o.Tasks), client: cl, lines: make(chan string, 256), pods: map[string]*pod{}}
	j.ctx, j.end = context.WithCancel(context.Background())
	l.release = append(l.release, j.close)
	j.work.Go(j.write)
	if err := j.begin(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// begin brings the job to where its first look is worth something: the tasks
// dealt out while there is no state yet, then the records counted.
func (j *Job) begin(ctx context.Context) error {
	if _, err := j.Add(ctx, j.o.Instances); err != nil {
		return err
	}
	if err := j.until(ctx, j.settled); err != nil {
		return fmt.Errorf("the job did not start: %w: %s", err, j.brief())
	}
	p := newProducer(j)
	if err := p.write(ctx, j.o.Records); err != nil {
		return err
	}
	if err := j.until(ctx, func() bool { s := j.Status(); return s.Records.Waiting == 0 && len(s.Idle) == 0 }); err != nil {
		return fmt.Errorf("the job did not count its first records: %w: %s", err, j.brief())
	}
	if err := j.until(ctx, func() bool { return j.committed(ctx) >= j.o.Records }); err != nil {
		return fmt.Errorf("the job did not commit its first records: %w: %s", err, j.brief())
	}
	j.SetRestoreRate(j.o.RestoreRate)
	j.work.Go(func() { p.run(j.ctx) })
	return nil
}

// committed is the number of records below the group's commits.
func (j *Job) committed(ctx context.Context) (n int64) {
	offsets, err := j.l.admin.FetchOffsets(ctx, j.o.Group)
	if err != nil {
		return 0
	}
	offsets.Each(func(o kadm.OffsetResponse) { n += max(0, o.At) })
	return n
}

// settled reports whether every task runs, on as many instances as there are,
// and nothing is being learned.
func (j *Job) settled() bool {
	s := j.Status()
	for _, i := range s.Instances {
		if i.Learner > 0 || i.Active == 0 && j.o.Tasks >= len(s.Instances) {
			return false
		}
	}
	return len(s.Idle) == 0
}

func (j *Job) until(ctx context.Context, holds func() bool) error {
	for !holds() {
		if err := clock.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// SetRestoreRate changes JobOptions.RestoreRate, also of the instances to come.
func (j *Job) SetRestoreRate(recordsPerSecond int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.restoreRate = recordsPerSecond
	for _, p := range j.pods {
		if p.in != nil {
			p.in.SetRestoreRate(recordsPerSecond)
		}
	}
}

// say notes a line for the log; when nobody takes the lines they are dropped.
func (j *Job) say(format string, args ...any) {
	select {
	case j.lines <- fmt.Sprintf(format, args...):
	default:
	}
}

func (j *Job) write() {
	for {
		select {
		case <-j.ctx.Done():
			return
		case s := <-j.lines:
			if j.o.Log != nil {
				j.o.Log(s)
			}
		}
	}
}

// close ends everything as a crash would: nobody is left to take over.
func (j *Job) close() {
	j.end()
	j.steer.Lock() // what was under way has ended
	defer j.steer.Unlock()
	j.mu.Lock()
	var all sync.WaitGroup
	for _, p := range j.pods {
		if p.in != nil {
			all.Go(p.in.Kill)
		}
	}
	j.mu.Unlock()
	all.Wait()
	j.client.Close()
	j.work.Wait()
	_ = os.RemoveAll(j.dir) // below the folder for what is temporary
}
