package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// scanner runs helmdrift against one cluster, several processes at a time, through a proxy that lets only reads pass.
type scanner struct {
	dir   string
	proxy *proxy
	// env is added to the environment of each process.
	env []string
}

func newScanner(t testing.TB, on *cluster) *scanner {
	t.Helper()
	s := &scanner{dir: t.TempDir()}
	var err error
	s.proxy, err = startProxy(on, s.dir)
	must(t, err)
	t.Cleanup(func() {
		s.proxy.close()
		if refused := s.proxy.recorded().refused; len(refused) > 0 {
			t.Errorf("helmdrift sent requests that are not permitted: %q", refused)
		}
	})
	return s
}

// with returns the scanner with another environment.
func (s *scanner) with(env ...string) *scanner {
	out := *s
	out.env = env
	return &out
}

// scanRun is one run of helmdrift.
type scanRun struct {
	args           []string
	exit           int
	stdout, stderr string
	// memory is the peak resident memory in bytes.
	memory int64
	scanReport
}

// scanReport contains those parts of a report that are about a fleet. Releases are as they were decoded.
type scanReport struct {
	Releases []map[string]any `json:"releases"`
	Errors   []scanError      `json:"errors"`
	Scan     *struct {
		Clusters []string       `json:"clusters"`
		Requests int            `json:"requests"`
		Shard    map[string]int `json:"shard"`

		Orphans       []scanOrphan `json:"orphans"`
		OrphansSought bool         `json:"orphansSought"`
	} `json:"scan"`
}

// scanOrphan is an object that no manifest has any more.
type scanOrphan struct {
	Kind, Namespace, Name, Release, ReleaseNamespace, Reason, Problem string
	Kept                                                              bool
	Revision                                                          *struct {
		Revision int
		Status   string
	}
}

// String says everything about the orphan.
func (o scanOrphan) String() string {
	said := fmt.Sprintf("%s %s/%s of %s in %s: %s", o.Kind, o.Namespace, o.Name, o.Release, o.ReleaseNamespace, o.Reason)
	if o.Revision != nil {
		said += fmt.Sprintf(" since revision %d (%s)", o.Revision.Revision, o.Revision.Status)
	}
	if o.Kept {
		said += ", kept"
	}
	return said + o.Problem
}

type scanError struct{ Cluster, Namespace, Code, Message string }

// run runs helmdrift with any arguments. A report in JSON is checked against its schema.
func (s *scanner) run(args ...string) (scanRun, error) {
	return s.runFor(context.Background(), s.proxy.kubeconfig, args...)
}

func (s *scanner) runFor(ctx context.Context, kubeconfig string, args ...string) (scanRun, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	if args[0] != "report" { // it asks no cluster
		args = append(args, "--kubeconfig", kubeconfig)
	}
	cmd := exec.CommandContext(ctx, suite.binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &stdout, &stderr
	cmd.Env = append([]string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}, s.env...)
	err := cmd.Run()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		return scanRun{}, fmt.Errorf("run helmdrift: %w", err)
	}
	out := scanRun{args: args, exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(),
		memory: peakMemory(cmd.ProcessState)}
	if out.exit < 0 || out.exit > 2 || strings.Contains(out.stdout+out.stderr, "internal error") {
		return out, fmt.Errorf("helmdrift %s ended with %v\n%s", strings.Join(args, " "), cmd.ProcessState, out.stderr)
	}
	if !strings.HasPrefix(out.stdout, "{") {
		return out, nil
	}
	if _, err := decodeReport(out.stdout); err != nil {
		return out, err
	}
	decoder := json.NewDecoder(&stdout)
	decoder.UseNumber()
	return out, decoder.Decode(&out.scanReport)
}

// mustScan runs diff with a selection and expects an exit code.
func (s *scanner) mustScan(t testing.TB, exit int, selection ...string) scanRun {
	t.Helper()
	out, err := s.run(append([]string{"diff", "-o", "json"}, selection...)...)
	must(t, err)
	if out.exit != exit || out.stdout == "" {
		t.Fatalf("diff %s: exit %d, want %d\n%s%s", strings.Join(selection, " "), out.exit, exit, out.summary(), out.stderr)
	}
	return out
}

// releaseID is the name of a release and the namespace of its records.
type releaseID struct{ namespace, name string }

func (id releaseID) String() string { return id.namespace + "/" + id.name }

func idOf(release map[string]any) releaseID {
	return releaseID{fmt.Sprint(release["storageNamespace"]), fmt.Sprint(release["name"])}
}

// byID returns the releases of a report. A release that occurs twice is an error.
func (r scanRun) byID() (map[releaseID]map[string]any, error) {
	out := map[releaseID]map[string]any{}
	for _, release := range r.Releases {
		id := idOf(release)
		if out[id] != nil {
			return nil, fmt.Errorf("%s is twice in the report of %v", id, r.args)
		}
		out[id] = release
	}
	return out, nil
}

// state is what a report says about a release in one word: clean, drifted, or error with the codes of the errors.
func state(release map[string]any) string {
	codes := map[string]bool{}
	list, _ := release["errors"].([]any)
	objects, _ := release["objects"].([]any)
	for _, o := range objects {
		list = append(list, o.(map[string]any)["error"])
	}
	for _, e := range list {
		if e, _ := e.(map[string]any); e != nil {
			codes[fmt.Sprint(e["code"])] = true
		}
	}
	switch {
	case len(codes) > 0:
		return "error " + strings.Join(slices.Sorted(maps.Keys(codes)), ",")
	case release["drifted"] == true || release["terminating"] == true:
		return "drifted"
	}
	return "clean"
}

// summary returns one line for each release, and one for each error.
func (r scanRun) summary() string {
	var out []string
	for _, release := range r.Releases {
		out = append(out, fmt.Sprintf("%s %s\n", idOf(release), state(release)))
	}
	slices.Sort(out)
	for _, e := range r.Errors {
		out = append(out, fmt.Sprintf("! %s %s\n", e.Namespace, e.Code))
	}
	return strings.Join(out, "")
}

// differences compares each release of a selection with the report of the release alone. It repeats both, at most twice, for releases
// that differ: the cluster may have changed between the two runs.
func (s *scanner) differences(selection ...string) (compared map[releaseID]map[string]any, problems []string, err error) {
	var wrong map[releaseID]string
	for range 3 {
		scan, err := s.run(append([]string{"diff", "-o", "json"}, selection...)...)
		if err != nil {
			return nil, nil, err
		}
		found, err := scan.byID()
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			return nil, nil, fmt.Errorf("%v found nothing\n%s", selection, scan.stderr)
		}
		if compared == nil {
			compared = found
		}
		again := wrong
		wrong, err = s.compareAlone(found, again)
		if err != nil || len(wrong) == 0 {
			return compared, nil, err
		}
	}
	for _, problem := range wrong {
		problems = append(problems, problem)
	}
	return compared, problems, nil
}

// compareAlone runs each release alone, or only some of them, and returns what differs.
func (s *scanner) compareAlone(found map[releaseID]map[string]any, some map[releaseID]string) (map[releaseID]string, error) {
	wrong := map[releaseID]string{}
	results := make(chan func(), len(found))
	var group errgroup.Group
	group.SetLimit(4)
	for id, inFleet := range found {
		if _, wanted := some[id]; some != nil && !wanted {
			continue
		}
		group.Go(func() error {
			alone, err := s.run("diff", id.name, "-n", id.namespace, "-o", "json")
			if problem := differenceOf(inFleet, alone); problem != "" {
				results <- func() { wrong[id] = fmt.Sprintf("%s (-alone +fleet):\n%s", id, problem) }
			}
			return err
		})
	}
	err := group.Wait()
	close(results)
	for add := range results {
		add()
	}
	return wrong, err
}

// differenceOf compares the entry of a fleet's report with the report of the release alone. A release that cannot be compared has no
// report alone, so its message must be the error of its entry.
func differenceOf(inFleet map[string]any, alone scanRun) string {
	if len(alone.Releases) == 1 {
		return cmp.Diff(alone.Releases[0], inFleet)
	}
	list, _ := inFleet["errors"].([]any)
	if len(list) != 1 {
		return fmt.Sprintf("alone: exit %d\n%sfleet: %s", alone.exit, alone.stderr, state(inFleet))
	}
	message := fmt.Sprint(list[0].(map[string]any)["message"])
	for line := range strings.Lines(alone.stderr) {
		text := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "Error: "), "Hint: "))
		if !strings.Contains(message, text) {
			return fmt.Sprintf("alone: %s\nfleet: %s", text, message)
		}
	}
	return ""
}
