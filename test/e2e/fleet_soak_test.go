package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
)

// soakScans is the number of scans while others deploy; make soak takes more.
var soakScans = flag.Int("soak.scans", 5, "how many scans TestFleet/Soak makes while others deploy")

// These are the size of the soak test, and the peak memory that a scan may take.
const (
	soakNamespaces, soakReleases = 6, 4 // releases of each namespace
	soakMemory                   = 250 << 20
)

// testSoak scans while others upgrade, delete and create releases and edit objects. Everything in a report was right at some moment during
// the scan, or is an error because a release was being deployed.
func testSoak(c *fleetCluster) {
	ctx, stop := context.WithCancel(context.Background())
	log := &soakLog{entries: map[releaseID][]soakEntry{}}
	var churners sync.WaitGroup
	for n := range soakNamespaces {
		namespace := fmt.Sprintf("soak-%d", n)
		var releases []*churned
		for i := range soakReleases {
			random := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			releases = append(releases, &churned{Case: c.release(namespace, fmt.Sprintf("r%d", i)), log: log, random: random})
		}
		churners.Go(func() {
			for ctx.Err() == nil {
				for _, r := range releases {
					if err := r.change(); err != nil {
						c.t.Errorf("%s/%s: %v", r.ns, r.release, err)
						return
					}
				}
			}
		})
	}
	for log.changes() < 2*soakNamespaces*soakReleases && !c.t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
	wrong := 0
	for range *soakScans {
		wrong += c.soakScan(log)
	}
	stop()
	churners.Wait()
	// Nobody deploys anymore: there is one right answer.
	wrong += c.soakScan(log)
	if wrong == 0 {
		c.equalToReleases("-A", "--filter", "^r[0-9]$")
	}
	c.t.Logf("%d changes", log.changes())
}

// soakScan makes one scan and returns how many of its answers were not right at any moment.
func (c *fleetCluster) soakScan(log *soakLog) (wrong int) {
	c.t.Helper()
	start := time.Now()
	got, err := c.run("diff", "-A", "-o", "json", "--filter", "^r[0-9]$")
	must(c.t, err)
	end := time.Now()
	if got.memory > soakMemory {
		c.t.Errorf("the scan took %d MB of memory", got.memory>>20)
	}
	found, err := got.byID()
	must(c.t, err)
	for id := range log.releases() {
		allowed, said := log.states(id, start, end), soakState(found[id])
		if slices.Contains(allowed, said) || slices.Contains(allowed, soakError) && strings.HasPrefix(said, "error release") {
			continue
		}
		wrong++
		c.t.Errorf("%s: %s, but it was %q\n%v", id, said, allowed, found[id])
	}
	if len(got.Errors) > 0 && len(found) > 0 {
		c.t.Errorf("errors: %v", got.Errors)
	}
	return wrong
}

// These are the states of a release in the log. A release that exists is "revision 3" or, if an object was edited, "revision 3,
// edit 17".
const (
	soakAbsent = "absent"
	// soakError is possible while Helm works on the release: its last record is pending, or changes while it is compared.
	soakError = "error"
)

// soakState returns what a report says about a release, in the words of the log.
func soakState(release map[string]any) string {
	if release == nil {
		return soakAbsent
	}
	said := state(release)
	old, _ := release["old"].(map[string]any)
	text := fmt.Sprint("revision ", old["revision"])
	switch said {
	case "clean":
		return text
	case "drifted":
		for _, o := range release["objects"].([]any) {
			for _, f := range o.(map[string]any)["fields"].([]any) {
				text += fmt.Sprint(", ", f.(map[string]any)["live"])
			}
			if o.(map[string]any)["missing"] == true {
				text += ", missing"
			}
		}
		return text
	}
	return said
}

// soakLog holds what was done to each release, in order.
type soakLog struct {
	mu      sync.Mutex
	entries map[releaseID][]soakEntry
}

// soakEntry is one change: the state after it, and when it began and ended. End is zero as long as it lasts.
type soakEntry struct {
	state      string
	deploys    bool
	begin, end time.Time
}

// begin adds a change that is about to be made. The returned function ends it.
func (l *soakLog) begin(id releaseID, state string, deploys bool) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[id] = append(l.entries[id], soakEntry{state: state, deploys: deploys, begin: time.Now()})
	i := len(l.entries[id]) - 1
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.entries[id][i].end = time.Now()
	}
}

// states returns the states that a release had at some moment of an interval.
func (l *soakLog) states(id releaseID, start, end time.Time) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append([]soakEntry{{state: soakAbsent}}, l.entries[id]...)
	for i, e := range all {
		// The state holds at the latest until the end of the next change.
		over := i+1 < len(all) && !all[i+1].end.IsZero() && all[i+1].end.Before(start)
		if over || e.begin.After(end) {
			continue
		}
		out = append(out, e.state)
		if e.deploys && (e.end.IsZero() || e.end.After(start)) {
			out = append(out, soakError)
		}
	}
	return out
}

func (l *soakLog) releases() map[releaseID]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[releaseID]bool{}
	for id := range l.entries {
		out[id] = true
	}
	return out
}

func (l *soakLog) changes() (sum int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, entries := range l.entries {
		sum += len(entries)
	}
	return sum
}

// churned is a release that is deployed, edited and deleted again and again.
type churned struct {
	*Case
	log    *soakLog
	random *rand.Rand
	// revision is the revision of the last record, or 0 if there is none.
	revision, edits   int
	installed, edited bool
}

// change makes one change.
func (r *churned) change() error {
	id := releaseID{r.ns, r.release}
	clean := func() string { return fmt.Sprint("revision ", r.revision) }
	n := r.random.IntN(10)
	switch {
	case !r.installed:
		r.revision, r.installed, r.edited = r.revision+1, true, false
		defer r.log.begin(id, clean(), true)()
		return r.deploy("install")
	case n < 4:
		// An upgrade puts back what was edited, because the chart changes the same value.
		r.revision, r.edited = r.revision+1, false
		defer r.log.begin(id, clean(), true)()
		return r.deploy("upgrade")
	case n < 5:
		defer r.log.begin(id, soakAbsent, true)()
		return r.uninstall(r.random.IntN(2) == 0)
	case r.edited:
		r.edited = false
		defer r.log.begin(id, clean(), false)()
		return r.patch("kubectl-edit", "configmap/"+r.release+"-edited", fmt.Sprintf("{data: {k: %q}}", r.value()))
	}
	r.edits++
	r.edited = true
	edit := fmt.Sprint("edit ", r.edits)
	defer r.log.begin(id, clean()+", "+edit, false)()
	return r.patch("kubectl-edit", "configmap/"+r.release+"-edited", fmt.Sprintf("{data: {k: %q}}", edit))
}

// value is the value of the present revision.
func (r *churned) value() string { return fmt.Sprint("of revision ", r.revision) }

func (r *churned) deploy(verb string) error {
	var text strings.Builder
	for _, name := range []string{"a", "b", "edited", "z"} {
		text.WriteString(configMap(r.release+"-"+name, r.value()))
	}
	fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: %[1]s}\nstringData: {k: x}\n---\napiVersion: v1\nkind: Service\n"+
		"metadata: {name: %[1]s, annotations: {revision: %[2]q}}\nspec: {ports: [{port: 80}]}\n", r.release, r.value())
	if err := os.WriteFile(filepath.Join(r.dir, "chart.yaml"), []byte(text.String()), 0o600); err != nil {
		return err
	}
	return r.helm(false, verb, "chart.yaml")
}

// uninstall deletes the release, with or without its history.
func (r *churned) uninstall(keepHistory bool) error {
	cfg, err := r.config3()
	if err != nil {
		return err
	}
	uninstall := action.NewUninstall(cfg)
	uninstall.KeepHistory, r.installed = keepHistory, false
	if !keepHistory {
		r.revision = 0
	}
	_, err = uninstall.Run(r.release)
	return err
}

// TestSoakLog checks which states the log allows.
func TestSoakLog(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	id := releaseID{"a", "r"}
	log := &soakLog{entries: map[releaseID][]soakEntry{id: {
		{state: "revision 1", deploys: true, begin: at(10), end: at(20)},
		{state: "revision 1, edit 1", begin: at(30), end: at(31)},
	}}}
	for _, test := range []struct {
		from, to int
		want     string
	}{
		{1, 5, soakAbsent},
		{5, 15, "absent revision 1 error"},
		{15, 25, "absent revision 1 error"},
		{21, 25, "revision 1"},
		{25, 30, "revision 1 revision 1, edit 1"},
		{32, 40, "revision 1, edit 1"},
	} {
		if got := strings.Join(log.states(id, at(test.from), at(test.to)), " "); got != test.want {
			t.Errorf("from %d to %d: %s, not %s", test.from, test.to, got, test.want)
		}
	}
}
