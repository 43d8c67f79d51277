// Steps runs targets of make one after the other, and prints where the time went.
//
//	steps TARGET ...
//
// The output of the targets passes through. Steps ends at the first target that fails, with its exit code, and prints the table in that
// case too. Processor time includes that of all programs that a target waited for.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
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
	for _, target := range targets {
		s, err := t.runStep(target, out, log)
		t.steps = append(t.steps, s)
		if err != nil {
			fmt.Fprintf(log, "steps: make %s: %v\n", target, err)
			code = 1
			if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() > 0 {
				code = failed.ExitCode()
			}
			break
		}
	}
	t.print(out)
	return code
}

// step is a target that was run.
type step struct {
	name            string
	elapsed, worked time.Duration
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
func (t *table) runStep(target string, out, log io.Writer) (step, error) {
	program := os.Getenv("MAKE")
	if program == "" {
		program = "make"
	}
	cmd := exec.Command(program, "--no-print-directory", target)
	cmd.Stdin, cmd.Stderr = os.Stdin, log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return step{name: target}, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return step{name: target}, err
	}
	t.read(stdout, out)
	err = cmd.Wait()
	s := step{name: target, elapsed: time.Since(start)}
	if state := cmd.ProcessState; state != nil {
		s.worked = state.UserTime() + state.SystemTime()
	}
	return s, err
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
func (t *table) print(to io.Writer) {
	fmt.Fprintf(to, "\n%9s %9s  step\n", "elapsed", "processor")
	var sum step
	for _, s := range t.steps {
		fmt.Fprintf(to, "%9s %9s  %s\n", rounded(s.elapsed), rounded(s.worked), s.name)
		sum.elapsed += s.elapsed
		sum.worked += s.worked
	}
	fmt.Fprintf(to, "%9s %9s  all\n", rounded(sum.elapsed), rounded(sum.worked))
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
