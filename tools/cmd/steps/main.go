// Steps runs targets of make one after the other, and prints where the time went.
//
//	steps TARGET[+TARGET] ...
//
// Targets that are joined by + run at the same time, because the first of them does not use all processors from its start to its end. The
// output of the first passes through, and that of the others follows when all have ended. Steps ends at the first target that fails, with
// its exit code, and prints the table in that case too. Processor time includes that of all programs that a target waited for.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// slowest is how many packages the table names.
const slowest = 12

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: steps TARGET ...")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the targets and prints the table. It returns the exit code.
func run(targets []string, out, log io.Writer) int {
	var t table
	code := 0
	start := time.Now()
	for _, joined := range targets {
		if code = t.runSteps(strings.Split(joined, "+"), out, log); code != 0 {
			break
		}
	}
	t.print(out, time.Since(start))
	return code
}

// runSteps runs targets at the same time, and returns the exit code of the first of them that failed.
func (t *table) runSteps(targets []string, out, log io.Writer) (code int) {
	parts, later := make([]table, len(targets)), make([]bytes.Buffer, len(targets))
	var all sync.WaitGroup
	for i, target := range targets {
		to := io.Writer(&later[i])
		if i == 0 {
			to = out
		}
		all.Go(func() { parts[i].runStep(target, to, log) })
	}
	all.Wait()
	for i, part := range parts {
		_, _ = later[i].WriteTo(out)
		t.steps, t.packages = append(t.steps, part.steps...), append(t.packages, part.packages...)
		err := part.steps[0].err
		if err == nil {
			continue
		}
		fmt.Fprintf(log, "steps: make %s: %v\n", targets[i], err)
		if code == 0 {
			code = 1
			if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() > 0 {
				code = failed.ExitCode()
			}
		}
	}
	return code
}

// step is a target that was run.
type step struct {
	name            string
	elapsed, worked time.Duration
	err             error
}

// testedPackage is a package whose tests were run, not read from the cache.
type testedPackage struct {
	path    string
	elapsed time.Duration
}

// table is where the time went.
type table struct {
	steps    []step
	packages []testedPackage
}

// runStep runs one target.
func (t *table) runStep(target string, out, log io.Writer) {
	program := cmp.Or(os.Getenv("MAKE"), "make")
	cmd := exec.Command(program, "--no-print-directory", target)
	cmd.Stderr = log
	s, start := step{name: target}, time.Now()
	var stdout io.ReadCloser
	if stdout, s.err = cmd.StdoutPipe(); s.err == nil {
		s.err = cmd.Start()
	}
	if s.err == nil {
		t.read(stdout, out)
		s.err = cmd.Wait()
	}
	s.elapsed = time.Since(start)
	if state := cmd.ProcessState; state != nil {
		s.worked = state.UserTime() + state.SystemTime()
	}
	t.steps = append(t.steps, s)
}

// result is the line that "go test" prints of a package.
var result = regexp.MustCompile(`^(?:ok|FAIL)\s+(\S+)\s+([0-9.]+)s`)

// read copies the output of a target, and notes how long the tests of each package took.
func (t *table) read(from io.Reader, to io.Writer) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(to, line)
		if found := result.FindStringSubmatch(line); found != nil {
			if seconds, err := strconv.ParseFloat(found[2], 64); err == nil {
				t.packages = append(t.packages, testedPackage{found[1], time.Duration(seconds * float64(time.Second))})
			}
		}
		if err != nil {
			return
		}
	}
}

// print writes the table: the steps in their order, and the packages whose tests took longest.
func (t *table) print(to io.Writer, elapsed time.Duration) {
	fmt.Fprintf(to, "\n%9s %9s  step\n", "elapsed", "processor")
	var worked time.Duration
	for _, s := range t.steps {
		fmt.Fprintf(to, "%9s %9s  %s\n", rounded(s.elapsed), rounded(s.worked), s.name)
		worked += s.worked
	}
	fmt.Fprintf(to, "%9s %9s  all\n", rounded(elapsed), rounded(worked))
	slices.SortStableFunc(t.packages, func(a, b testedPackage) int { return cmp.Compare(b.elapsed, a.elapsed) })
	for i, p := range t.packages[:min(slowest, len(t.packages))] {
		if i == 0 {
			fmt.Fprintf(to, "\n%9s  tests of the package\n", "elapsed")
		}
		fmt.Fprintf(to, "%9s  %s\n", rounded(p.elapsed), p.path)
	}
}

// rounded returns a duration in whole seconds.
func rounded(d time.Duration) time.Duration { return d.Round(time.Second) }
