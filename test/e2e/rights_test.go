package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// These are the size and the seed of TestRights. It takes that many diffs of the stories, chosen by the seed; make rights takes all.
var (
	rightsN    = flag.Int("rights.n", 24, "how many diffs of stories TestRights repeats without a right")
	rightsSeed = flag.Uint64("rights.seed", 1, "chooses the diffs of TestRights")
)

// TestRights runs diffs of stories again without one right: for each request of the diff, the API server answers this request as for a
// user without any right. Once for each resource, it answers all requests for the resource so, as for a role without it. The exit code may
// only become 1, the report says what could not be read, and no finding that counts disappears without an error.
func TestRights(t *testing.T) {
	t.Parallel()
	sum := &rightsTally{}
	t.Cleanup(func() { t.Log(sum) })
	dir, chosen := t.TempDir(), chooseDiffs(t, *rightsN, *rightsSeed)
	on := rightsCluster(t)
	testscript.Run(t, testscript.Params{
		Files: cutStories(t, dir, chosen),
		Setup: func(env *testscript.Env) error {
			if err := openStoryOn(on, env); err != nil {
				return err
			}
			env.Values[caseKey{}].(*Case).rights = &rightsPlan{chosen: chosen[storyName(env)], sum: sum}
			return nil
		},
		Cmds: commands(),
	})
}

// rightsCluster returns a cluster for TestRights alone. A cut story leaves behind what its last lines delete, such as a definition, and
// takes names and ports that TestStories needs for the same story.
func rightsCluster(t *testing.T) *cluster {
	t.Helper()
	if os.Getenv(kubeconfigEnv) != "" {
		return suite.cluster
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	plane, err := startPlane(ctx, allComponents...)
	must(t, err)
	t.Cleanup(plane.Stop)
	on, err := newCluster(plane.Kubeconfig)
	must(t, err)
	must(t, on.installCRDs(ctx))
	return on
}

// diffLine matches a line of a script that compares: the command diff, or a run of the binary that compares a source of desired state.
var diffLine = regexp.MustCompile(`^\s*(! )?diff( |$)|^\s*helmdrift diff .*` + sourceFlags.String())

// sourceFlags match the flags of the sources of desired state.
var sourceFlags = regexp.MustCompile(`--(from|next|helmfile|plan)( [^-]|$)`)

// allNamespaces matches a diff of all namespaces. It sees what the other stories of the cluster do meanwhile, so two runs of it need not be
// the same. TestFleet takes rights from such scans.
var allNamespaces = regexp.MustCompile(` -A( |$)`)

// chooseDiffs chooses n diffs of all stories and returns their numbers by story. Up to half of them are of a HelmRelease or an Application,
// because those are few and read other things. Those of all namespaces are left out, at most mostOfAll of them.
func chooseDiffs(t *testing.T, n int, seed uint64) map[string][]int {
	t.Helper()
	type diff struct {
		story  string
		number int
	}
	const mostOfAll = 3
	var all, few []diff
	leftOut := 0
	files, err := filepath.Glob(filepath.Join(*storyDir, "*.txtar"))
	must(t, err)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		must(t, err)
		number := 0
		for line := range strings.Lines(string(archive.Comment)) {
			if diffLine.MatchString(strings.TrimSuffix(line, "\n")) {
				found := diff{strings.TrimSuffix(filepath.Base(file), ".txtar"), number}
				isFew := regexp.MustCompile(`^\s*diff (hr|app)/`)
				switch line = strings.TrimSuffix(line, "\n"); {
				case allNamespaces.MatchString(line):
					leftOut++
				case isFew.MatchString(line):
					few = append(few, found)
				default:
					all = append(all, found)
				}
				number++
			}
		}
	}
	if leftOut > mostOfAll {
		t.Errorf("%d diffs of all namespaces are left out", leftOut)
	}
	r := rand.New(rand.NewPCG(seed, 3))
	for _, some := range [][]diff{all, few} {
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	}
	few = few[:min(n/2, len(few))]
	out := map[string][]int{}
	for _, d := range append(few, all[:min(n-len(few), len(all))]...) {
		out[d.story] = append(out[d.story], d.number)
	}
	return out
}

// cutStories writes the stories of the chosen diffs, each up to its last chosen diff.
func cutStories(t *testing.T, dir string, chosen map[string][]int) []string {
	t.Helper()
	var out []string
	for _, story := range slices.Sorted(maps.Keys(chosen)) {
		archive, err := txtar.ParseFile(filepath.Join(*storyDir, story+".txtar"))
		must(t, err)
		var script strings.Builder
		number, last := 0, slices.Max(chosen[story])
		for line := range strings.Lines(string(archive.Comment)) {
			script.WriteString(line)
			if diffLine.MatchString(strings.TrimSuffix(line, "\n")) {
				if number == last {
					break
				}
				number++
			}
		}
		archive.Comment = []byte(script.String())
		file := filepath.Join(dir, story+".txtar")
		must(t, os.WriteFile(file, txtar.Format(archive), 0o600))
		out = append(out, file)
	}
	return out
}

// rightsPlan says which diffs of a story are repeated without a right.
type rightsPlan struct {
	chosen []int
	// next is the number of the next diff.
	next int
	sum  *rightsTally
}

// rightsTally counts what TestRights did.
type rightsTally struct {
	mutex sync.Mutex
	// diffs, runs and worse count the diffs, the runs without a right, and those whose exit code became 1.
	diffs, runs, worse int
	// inParts counts the runs that read objects one by one, or namespace by namespace, in place of a list.
	inParts int
	// failed counts the runs of a command that ends without a report, whoever runs it.
	failed int
}

// String returns the counts as a run prints them.
func (s *rightsTally) String() string {
	return fmt.Sprintf("%d diffs, %d runs without a right: %d with exit code 1 instead of another, %d that read in parts, %d without a report in any case",
		s.diffs, s.runs, s.worse, s.inParts, s.failed)
}

// check repeats the last diff without each of its rights, if the plan chooses that diff. Diff runs it with JSON as its format. One that
// reads ahead reads objects that it may turn out not to need, and need not mention those.
func (p *rightsPlan) check(c *Case, args []string, readsAhead bool, diff func() (binaryRun, error)) error {
	number := p.next
	p.next++
	if !slices.Contains(p.chosen, number) {
		return nil
	}
	last := c.last
	defer func() { c.last = last }()
	r := rightsRun{proxy: c.proxy, diff: diff, readsAhead: readsAhead, sum: p.sum}
	var err error
	if r.full, err = diff(); err != nil {
		return err
	}
	if faults := r.takeAway(); len(faults) > 0 {
		return fmt.Errorf("diff %d of the story, %q:\n%s", number, args, strings.Join(faults, "\n"))
	}
	return nil
}

// rightsRun repeats one comparison without each of its rights.
type rightsRun struct {
	proxy *proxy
	// full is the comparison with all rights.
	full binaryRun
	diff func() (binaryRun, error)
	// readsAhead says that the diff reads objects that it may turn out not to need.
	readsAhead bool
	sum        *rightsTally
}

// takeAway returns the faults of all runs without a right.
func (r *rightsRun) takeAway() []string {
	defer r.proxy.deny(nil)
	var faults, resources []string
	for _, request := range distinctRequests(r.full.traffic) {
		alone, found := r.without(request, request.matches, request.String())
		faults = append(faults, found...)
		of := request.group + "/" + request.resource
		if request.resource == "" || slices.Contains(resources, of) {
			continue
		}
		resources = append(resources, of)
		if !alone.asksOthersOf(request) {
			continue // Without the whole resource, each request would get the same answer again.
		}
		_, found = r.without(request, request.isOfResource, "all of "+of)
		faults = append(faults, found...)
	}
	r.sum.mutex.Lock()
	defer r.sum.mutex.Unlock()
	r.sum.diffs++
	return faults
}

// asksOthersOf reports whether the run sent another request for the resource of this request.
func (b binaryRun) asksOthersOf(request apiRequest) bool {
	return slices.ContainsFunc(distinctRequests(b.traffic), func(other apiRequest) bool {
		return other != request && other.group == request.group && other.resource == request.resource
	})
}

// without repeats a diff without one right, and returns that run and its faults. Controllers may have changed something since the full
// diff, which is then made again.
func (r *rightsRun) without(request apiRequest, denied func(*http.Request) bool, what string) (binaryRun, []string) {
	var out binaryRun
	var faults []string
	for try := range 3 {
		var err error
		if try > 0 {
			r.proxy.deny(nil)
			if r.full, err = r.diff(); err != nil {
				return out, []string{what + ": " + err.Error()}
			}
		}
		r.proxy.deny(denied)
		if out, err = r.diff(); err != nil {
			return out, []string{what + ": " + err.Error()}
		}
		judge := rightsJudge{full: r.full, without: out, request: request, readsAhead: r.readsAhead}
		if faults = judge.faults(); len(faults) == 0 {
			r.sum.add(judge)
			return out, nil
		}
	}
	return out, []string{"without " + what + ":\n  " + strings.Join(faults, "\n  ")}
}

func (s *rightsTally) add(j rightsJudge) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.runs++
	if j.full.exit != j.without.exit {
		s.worse++
	}
	switch {
	case j.says():
	case j.readsInParts():
		s.inParts++
	case j.failsAnyway():
		s.failed++
	}
}
