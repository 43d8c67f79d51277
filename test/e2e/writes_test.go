package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	writesCases = flag.Int("writes.n", 24, "TestWrites: number of records")
	writesSeed  = flag.Uint64("writes.seed", 1, "TestWrites: the first seed")
)

// TestWrites lets fix run on generated records, among them forged and copied ones, and compares the objects that it wrote with those that
// it may write. The witness is the audit log of the API server: each fix is a user of its own there.
func TestWrites(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+time.Duration(*writesCases)*20*time.Second)
	defer cancel()
	plane := quietCluster(t)
	on := plane.on
	run := &writesRun{on: on, kubeconfig: plane.Kubeconfig, dir: t.TempDir(), outputs: map[uint64]string{}}
	cases := make([]*writesCase, *writesCases)
	var group errgroup.Group
	group.SetLimit(4)
	for i := range cases {
		cases[i] = newWritesCase(*writesSeed + uint64(i))
		group.Go(func() error { return run.fix(ctx, cases[i]) })
	}
	must(t, group.Wait())
	written, err := auditedWrites(ctx, on, plane.AuditLog)
	must(t, err)
	tally := map[string]int{}
	for _, c := range cases {
		judgeWrites(t, c, written[c.user()], tally, run.outputs[c.seed])
	}
	for _, rule := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%4d %s", tally[rule], rule)
	}
	for _, rule := range []string{
		"ours: written", "missing: written", "of no release: written", "missing outside: written", "missing outside: left",
		"outside, not ours: left", "of another release: left", "never deployed: left", "copied record: left",
	} {
		if tally[rule] == 0 {
			t.Errorf("no object is %s", rule)
		}
	}
}

// user is the user as which the fix of a case runs.
func (c *writesCase) user() string { return fmt.Sprintf("fix-%d", c.seed) }

// judgeWrites compares what was written with what may be written. All that may be written and differs must have been, or the test would
// pass for a fix that writes nothing.
func judgeWrites(t *testing.T, c *writesCase, written map[string]bool, tally map[string]int, output string) {
	t.Helper()
	var wrong []string
	for _, o := range c.objects {
		key := strings.ToLower(o.kind) + "s " + o.namespace + "/" + o.name
		v, is := c.verdict(o), written[key]
		delete(written, key)
		if !c.differs(o) && !is {
			continue
		}
		word := map[bool]string{true: "written", false: "left"}[is]
		tally[v.rule+": "+word]++
		if is != (v.may && c.differs(o)) {
			wrong = append(wrong, fmt.Sprintf("%s is %s, %s", key, v.rule, word))
		}
	}
	for key := range written {
		wrong = append(wrong, key+" is not in the manifest, written")
	}
	if len(wrong) > 0 {
		t.Errorf("%s\n%s%s", strings.Join(wrong, "\n"), c, output)
	}
}

// writesRun runs the fixes.
type writesRun struct {
	on              *cluster
	kubeconfig, dir string

	mu sync.Mutex
	// outputs are what the fixes printed, by seed.
	outputs map[uint64]string
}

// fix builds a case and runs its fix.
func (r *writesRun) fix(ctx context.Context, c *writesCase) error {
	if err := c.build(ctx, r.on); err != nil {
		return fmt.Errorf("%s%w", c, err)
	}
	kubeconfig, err := r.kubeconfigOf(c.user())
	if err != nil {
		return err
	}
	var out bytes.Buffer
	command := exec.CommandContext(ctx, suite.binary, append(c.args(), "--kubeconfig", kubeconfig)...)
	command.Dir, command.Stdout, command.Stderr = r.dir, &out, &out
	command.Env = []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	err = command.Run()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		return err
	}
	if code := command.ProcessState.ExitCode(); code < 0 || code > 2 || strings.Contains(out.String(), "internal error") {
		return fmt.Errorf("%sended with %d\n%s", c, code, out.String())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outputs[c.seed] = out.String()
	return nil
}

// kubeconfigOf writes a kubeconfig that lets the administrator act as a user with all rights.
func (r *writesRun) kubeconfigOf(user string) (string, error) {
	config, err := clientcmd.LoadFromFile(r.kubeconfig)
	if err != nil {
		return "", err
	}
	for _, auth := range config.AuthInfos {
		auth.Impersonate, auth.ImpersonateGroups = user, []string{"system:masters"}
	}
	file := filepath.Join(r.dir, user+".kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// auditEvent is the part of a line of the audit log that the test reads.
type auditEvent struct {
	RequestURI       string `json:"requestURI"`
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct{ Resource, Namespace, Name string }
}

// auditedWrites returns the objects that each user wrote or tried to write, as "resource namespace/name". The log has a request when it has
// been answered, so the last lines may come after the answers. The test makes a request of its own and waits for its line.
func auditedWrites(ctx context.Context, on *cluster, file string) (map[string]map[string]bool, error) {
	const last = "the-last-request"
	if err := on.create(ctx, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+last+"}}", "default", "test"); err != nil {
		return nil, err
	}
	var out map[string]map[string]bool
	err := poll(ctx, "the end of the audit log", func() (bool, error) {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(last)) {
			return false, err
		}
		time.Sleep(time.Second) // for requests of other connections
		text, err = os.ReadFile(file)
		if err != nil {
			return false, err
		}
		out, err = readAuditLog(text)
		return true, err
	})
	return out, err
}

// readAuditLog reads the lines of the log. A dry run writes nothing.
func readAuditLog(text []byte) (map[string]map[string]bool, error) {
	out := map[string]map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("the audit log: %w", err)
		}
		user := event.ImpersonatedUser.Username
		if user == "" || strings.Contains(event.RequestURI, "dryRun=All") {
			continue
		}
		if out[user] == nil {
			out[user] = map[string]bool{}
		}
		out[user][event.ObjectRef.Resource+" "+event.ObjectRef.Namespace+"/"+event.ObjectRef.Name] = true
	}
	return out, lines.Err()
}
