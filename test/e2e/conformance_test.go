package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/test/conformance/corpus"
)

var (
	conformanceDir = flag.String("conformance.dir", "", "folder to which TestRecordConformance writes cases; it is skipped without one")
	conformanceMax = flag.Int("conformance.max", 60, "how many cases TestRecordConformance writes per engine")
)

// TestRecordConformance writes cases of testdata/conformance: one object of a random case each, and what the real server has after what
// Helm did. Of cases that show the same, only the first is written, and at most a third of all cases have the same outcome.
func TestRecordConformance(t *testing.T) {
	if *conformanceDir == "" {
		t.Skip("writes cases only with -conformance.dir")
	}
	underEachHelm(t, func(t *testing.T, pool []poolKind, by4 bool) {
		base, written, outcomes := newCase(t, suite.cluster), map[string]bool{}, map[string]int{}
		versions := recordedVersions(t, by4)
		for seed := *oracleSeed; seed < *oracleSeed+uint64(*oracleN) && len(written) < *conformanceMax; seed++ {
			run, err := recordCase(pool, seed, base, by4)
			if err != nil {
				t.Logf("seed %d: %v", seed, err)
				continue
			}
			c, shows := run.conformanceCase(versions)
			if outcome := c.Outcome(); written[shows] || outcome == "absent" || outcomes[outcome]*3 >= *conformanceMax {
				continue
			}
			written[shows] = true
			outcomes[c.Outcome()]++
			text, err := c.Marshal()
			must(t, err)
			must(t, os.WriteFile(filepath.Join(*conformanceDir, c.Name+".json"), text, 0o644))
		}
		t.Logf("%d cases: %v", len(written), outcomes)
	})
}

// recordedVersions returns a case that has only the versions of Helm and of the server.
func recordedVersions(t *testing.T, by4 bool) corpus.Case {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(suite.cluster.Config)
	must(t, err)
	server, err := client.ServerVersion()
	must(t, err)
	helm, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", fmt.Sprintf("helm.sh/helm/v%d", major(by4))).Output()
	must(t, err)
	return corpus.Case{Kubernetes: server.GitVersion, Helm: strings.TrimSpace(string(helm))}
}

// conformanceRun is a run of one object, and the states of the object before and after it.
type conformanceRun struct {
	*oracleRun
	object      *oracleObject
	live, after map[string]any
	failed      error
	// earlier is how the last revision was written, apply how this operation writes.
	earlier, apply string
}

var errNotRecorded = errors.New("shows nothing that can be recorded")

// recordCase runs one object of a random case. The object that is edited is preferred.
func recordCase(pool []poolKind, seed uint64, base *Case, by4 bool) (*conformanceRun, error) {
	whole := newExtendedCase(pool, seed)
	place := whole.objects[seed%uint64(len(whole.objects))].position
	if len(whole.edits) > 0 {
		place = whole.edits[0].object.position
	}
	c := whole.subset(pool, []int{place})
	o := c.objects[0]
	if isHook(o.old) || isHook(o.new) || c.failed || slices.Contains([]string{"secret", "customresourcedefinition"}, o.kind.name) {
		return nil, errNotRecorded
	}
	run := &conformanceRun{oracleRun: newOracleRun(c, base, by4), object: o}
	if c.installs && !by4 && run.route.upgrades4 {
		run.route.serverSide = "false"
	}
	defer run.clean()
	if err := run.deployAndEdit(); err != nil {
		return nil, err
	}
	before, err := run.snapshot()
	if err != nil || run.upgradeFailed {
		return nil, errors.Join(err, errNotRecorded)
	}
	if before[o.name] == nil && run.isThere() {
		return nil, errNotRecorded // it is being deleted
	}
	last := 0
	if last, run.earlier, err = run.applied(); err != nil {
		return nil, err
	}
	run.failed = run.runHelm()
	after, err := run.snapshot()
	run.live, run.after = before[o.name], after[o.name]
	return run, errors.Join(err, run.setApply(last))
}

// isThere reports whether the server has the object, also if it is being deleted.
func (r *conformanceRun) isThere() bool {
	client, _, err := r.story.cluster.OfKind(r.object.gvk(r.testCase.rollback), r.object.namespaceIn(r.story.ns))
	if err != nil {
		return false
	}
	_, err = client.Get(context.Background(), r.object.name, metav1.GetOptions{})
	return err == nil
}

// conformanceCase returns the case of a run, and what it shows: the kind and the outcome.
func (r *conformanceRun) conformanceCase(c corpus.Case) (corpus.Case, string) {
	verb, _ := r.testCase.operation()
	c.Operation, c.Flags = verb, r.route.helmFlags(verb)
	if verb == "again" {
		c.Operation = "upgrade"
	}
	c.Apply, c.Earlier = r.apply, r.earlier
	c.Release = corpus.Release{Name: r.story.release, Namespace: r.story.ns}
	if !r.object.kind.clusterScoped {
		c.Namespace = r.object.namespaceIn(r.story.ns)
	}
	c.Old, c.Desired = r.manifestOf(r.object.deployed(r.testCase.rollback)), r.manifestOf(r.object.target(r.testCase.rollback))
	c.Live, c.After = r.live, r.after
	c.Definition = definitionOf(r.object.gvk(r.testCase.rollback).Kind)
	if r.failed != nil {
		c.Error = r.failed.Error()
	}
	ways := "unedited"
	for _, e := range r.testCase.edits {
		if e.applied {
			ways = strings.ReplaceAll(e.way, " ", "-")
		}
	}
	outcome := c.Outcome()
	words := []string{fmt.Sprintf("helm%d", major(r.by4)), r.object.kind.name, c.Operation, ways, outcome, fmt.Sprint(r.testCase.seed)}
	c.Name = strings.ToLower(strings.Join(words, "-"))
	return r.renamed(c), r.object.kind.name + " " + outcome
}

// applied returns the last revision of the release and how Helm wrote it: client-side or server-side; 0 if there is none.
func (r *conformanceRun) applied() (revision int, method string, err error) {
	secrets := r.story.cluster.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(r.story.ns)
	all, err := secrets.List(context.Background(), metav1.ListOptions{LabelSelector: "owner=helm,name=" + r.story.release})
	if err != nil {
		return 0, "", err
	}
	for _, item := range all.Items {
		n, err := strconv.Atoi(item.GetLabels()["version"])
		if err != nil || n < revision {
			continue
		}
		data, _, _ := unstructured.NestedString(item.Object, "data", "release")
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return 0, "", err
		}
		record, err := release.Decode(text, release.Options{})
		if err != nil {
			return 0, "", err
		}
		revision, method = n, string(cmp.Or(record.ApplyMethod, report.ApplyClientSide))
	}
	return revision, method, nil
}

// setApply notes how Helm wrote the last revision, and how it writes now. Helm that fails before it writes makes no record; then the flag
// says how, and for auto the last revision.
func (r *conformanceRun) setApply(earlier int) error {
	now, method, err := r.applied()
	switch {
	case now > earlier:
		r.apply = method
	case !r.route.upgrades4 || r.route.serverSide == "false":
		r.apply = "client-side"
	case r.route.serverSide == "true" || earlier == 0:
		r.apply = "server-side"
	default:
		r.apply = r.earlier
	}
	return err
}

// manifestOf returns the object as Helm renders it from the chart.
func (r *conformanceRun) manifestOf(obj map[string]any) map[string]any {
	if obj == nil || isHook(obj) {
		return nil
	}
	out, _ := replaceTexts(r.object.manifest(runtime.DeepCopyJSON(obj)), "{{ .Release.Namespace }}", r.story.ns).(map[string]any)
	return out
}

// renamed returns the case with names that are the same in each recording.
func (r *conformanceRun) renamed(c corpus.Case) corpus.Case {
	text, err := json.Marshal(c)
	for _, names := range [][2]string{{r.story.ns, "prod"}, {r.story.release, "shop"}, {r.object.stem, "web"}} {
		text = bytes.ReplaceAll(text, []byte(names[0]), []byte(names[1]))
	}
	var out corpus.Case
	if err = errors.Join(err, json.Unmarshal(text, &out)); err != nil {
		panic(err)
	}
	return out
}

func replaceTexts(v any, from, to string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, from, to)
	case map[string]any:
		for key := range v {
			v[key] = replaceTexts(v[key], from, to)
		}
	case []any:
		for i := range v {
			v[i] = replaceTexts(v[i], from, to)
		}
	}
	return v
}

// definitionOf returns the CustomResourceDefinition of a kind, as it was created; nil for the kinds of Kubernetes.
func definitionOf(kind string) map[string]any {
	files, _ := filepath.Glob("testdata/crds/*.yaml")
	for _, file := range files {
		var definition map[string]any
		text, err := os.ReadFile(file)
		if err = errors.Join(err, yaml.Unmarshal(text, &definition)); err != nil {
			continue
		}
		spec, _ := definition["spec"].(map[string]any)
		if names, _ := spec["names"].(map[string]any); names["kind"] == kind {
			return definition
		}
	}
	return nil
}
