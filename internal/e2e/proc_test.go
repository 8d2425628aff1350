//go:build realkafka

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// proc is one process that the rig started, in a process group of its own.
// It ends with our end of its standard input, whatever happens to us.
type proc struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	done  chan struct{} // closed when it has ended

	mu    sync.Mutex
	lines []string // everything it printed, both streams
}

func (r *rig) start(name string, argv []string) (*proc, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = r.work
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	p := &proc{name: name, cmd: cmd, stdin: stdin, done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go p.collect(out)
	go func() {
		_ = cmd.Wait() // how it ended is in what it printed
		in.Close()
		close(p.done)
	}()
	r.mu.Lock()
	r.procs = append(r.procs, p)
	r.mu.Unlock()
	return p, nil
}

func (p *proc) collect(out io.Reader) {
	for s := bufio.NewScanner(out); s.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, s.Text())
		p.mu.Unlock()
	}
}

// output is what the process printed so far.
func (p *proc) output() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// say writes a line to the standard input of the process.
func (p *proc) say(line string) error {
	_, err := io.WriteString(p.stdin, line+"\n")
	return err
}

func (p *proc) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process at once, with no chance to say good-bye.
func (p *proc) kill() {
	if p.ended() {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	<-p.done
}

// failure describes a process that did not do what it should.
func (p *proc) failure(what string) error {
	return fmt.Errorf("%s: %s; its last lines:\n%s", p.name, what, tail(strings.Join(p.output(), "\n"), 30))
}
