package story

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file compares what helmdrift predicts of random syncs with what Argo CD then does. The command syncs of a script runs a number of
// seeds, one Application each: it deploys a chart, lets several writers edit the objects, changes the chart and the options of the sync,
// predicts, syncs, and looks.

var (
	syncs     = flag.Int("syncs", 3, "how many random syncs are predicted")
	firstSync = flag.Int64("syncs.seed", 1, "the seed of the first one")
	budget    = flag.Duration("syncs.budget", time.Hour, "no sync begins after this time")
	syncsDir  = flag.String("syncs.dir", "", "the folder for the objects before and after each sync; internal/engine/argocd predicts their managers")
)

// syncCase is one Application.
type syncCase struct {
	ts        *testscript.TestScript
	random    *rand.Rand
	name      string
	options   []string
	ignored   []any
	serverNow bool
	prune     bool
	// heals is set if selfHeal makes the sync, with the chart as it is. open is set once nothing keeps Argo CD from that.
	heals, open bool
	// force has options in the annotations of two objects, or is empty.
	force string
	// namespaced is the metadata that a sync sets on the namespace, or nil.
	namespaced map[string]any
	log        []string
	// seen are the objects as they were read, once for each time.
	seen [][]map[string]any
}

// randomSyncs is the command syncs.
func randomSyncs(ts *testscript.TestScript, _ bool, _ []string) {
	done, wrong, began := 0, 0, time.Now()
	for ; done < *syncs && time.Since(began) < *budget; done++ {
		seed := *firstSync + int64(done)
		c := &syncCase{ts: ts, random: rand.New(rand.NewPCG(uint64(seed), 1)), name: fmt.Sprintf("s%d", seed)}
		c.heals = rand.New(rand.NewPCG(uint64(seed), 2)).IntN(100) < 25 // the other choices of a seed do not depend on it
		if err := c.run(); err != nil {
			wrong++
			ts.Logf("seed %d: %v\n  %s", seed, err, strings.Join(c.log, "\n  "))
		}
	}
	ts.Logf("%d random syncs in %s, %d predicted wrongly", done, time.Since(began).Round(time.Second), wrong)
	if wrong > 0 || done < *syncs {
		ts.Fatalf("%d of %d syncs were predicted, and %d wrongly", done, *syncs, wrong)
	}
}

func (c *syncCase) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

// program runs a program of the script and returns what it prints.
func (c *syncCase) program(stdin, name string, args ...string) (stdout string, code int, err error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + c.ts.Getenv("PATH"), "KUBECONFIG=" + c.ts.Getenv("KUBECONFIG"), "HOME=" + c.ts.Getenv("HOME")}
	cmd.Stdin = strings.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, complaint.String(), out.String())
	}
	return out.String(), code, err
}

func (c *syncCase) kubectl(stdin string, args ...string) (string, error) {
	out, _, err := c.program(stdin, "kubectl", args...)
	return out, err
}

// one returns one of several texts.
func (c *syncCase) one(all ...string) string { return all[c.random.IntN(len(all))] }

func (c *syncCase) percent(n int) bool { return c.random.IntN(100) < n }

// run runs one seed.
func (c *syncCase) run() error {
	c.serverNow = c.percent(50)
	c.ignored = []any{map[string]any{"group": "apps", "kind": "Deployment", "jsonPointers": []string{"/spec/replicas"}}}
	c.ignoreByExpressions()
	if c.percent(30) {
		c.namespaced = map[string]any{"labels": map[string]any{"team": "shop", "env": "prod"}, "annotations": map[string]any{"note": "x"}}
		c.options = append(c.options, "CreateNamespace=true")
		c.note("managedNamespaceMetadata")
	}
	if c.percent(40) {
		c.force = c.one("Force=true", "Force=true", "Force=true,Replace=true", "Replace=true")
		c.note("sync-options of two objects: %s", c.force)
	}
	if err := c.writeChart(false); err != nil {
		return err
	}
	if _, err := c.kubectl("", "create", "namespace", c.name); err != nil {
		return err
	}
	if err := c.applyApplication(); err != nil {
		return err
	}
	if err := c.sync(); err != nil {
		return fmt.Errorf("the first sync: %w", err)
	}
	if r, code, err := c.predict(); err != nil || code != 0 || len(r.writes()) > 0 {
		return fmt.Errorf("nobody touched it, but exit code %d and %v: %w", code, r.writes(), err)
	}
	if err := c.change(); err != nil {
		return err
	}
	before, err := c.objects()
	if err != nil {
		return err
	}
	state, err := c.refreshed(hardRefresh)
	if err != nil {
		return err
	}
	r, _, err := c.predict()
	if err != nil {
		return err
	}
	reason := r.Releases[0].Deployer.Reason
	c.note("predicted: %v, %s; Argo CD says %s", r.writes(), reason, state)
	expected := "OutOfSync"
	switch {
	case strings.HasPrefix(reason, "it is in sync"):
		expected = "Synced"
	case strings.HasPrefix(reason, "it cannot compare"):
		expected = "Unknown"
	}
	if expected != state {
		c.note("options: %v", c.syncOptions())
		return fmt.Errorf("predicted that it is %s, but Argo CD says %s", expected, state)
	}
	if c.heals {
		c.note("selfHeal")
		if state != "OutOfSync" {
			return nil // there is no sync
		}
	}
	if err := c.sync(); err != nil {
		if r.fails() {
			return nil
		}
		return fmt.Errorf("the sync: %w", err)
	}
	if r.fails() {
		return fmt.Errorf("predicted that the sync fails, but it does not: %v", r.writes())
	}
	return c.compare(r, before)
}

// compare compares the objects after the sync with the prediction.
func (c *syncCase) compare(r *predicted, before map[string]map[string]any) error {
	after, err := c.objects()
	if err != nil {
		return err
	}
	if *syncsDir != "" {
		record := asText(map[string]any{"options": c.syncOptions(), "before": c.seen[0], "after": c.seen[1]})
		if err := os.WriteFile(filepath.Join(*syncsDir, c.name+".json"), []byte(record), 0o600); err != nil {
			return err
		}
	}
	afterwards, _, err := c.predict()
	if err != nil {
		return err
	}
	if left := afterwards.writes(); len(left) > 0 {
		return fmt.Errorf("after the sync, another one would still write %v", left)
	}
	actions := map[string]string{}
	for _, o := range r.objects() {
		actions[o.Kind+"/"+o.Name] = o.Action
	}
	for name := range maps.Keys(unionOf(before, after)) {
		was, is := before[name], after[name]
		switch action := actions[name]; {
		case action == "create":
			if was != nil || is == nil {
				return fmt.Errorf("%s was predicted to be created", name)
			}
		case action == "delete":
			if is != nil {
				return fmt.Errorf("%s was predicted to be deleted", name)
			}
		case action == "update", action == "adopt", action == "replace":
			if err := r.explains(name, was, is); err != nil {
				return err
			}
		case r.recreates(name):
			if at(was, "/metadata/uid") == at(is, "/metadata/uid") {
				return fmt.Errorf("%s was predicted to be deleted and created again, and is still the same", name)
			}
			if err := r.explains(name, was, is); err != nil {
				return err
			}
		case !reflect.DeepEqual(was, is):
			return fmt.Errorf("%s was predicted to stay as it is (%q), and changed from\n%s\nto\n%s", name, action, asText(was), asText(is))
		}
	}
	return afterwards.keeps(r)
}

func asText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func unionOf[V any](a, b map[string]V) map[string]V {
	out := map[string]V{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// predicted is the report of helmdrift.
type predicted struct {
	Releases []struct {
		Errors   []struct{ Message string }
		Warnings []struct{ Code, Message string }
		Objects  []predictedObject
		Deployer struct{ Action, Reason string }
	}
}

type predictedObject struct {
	Kind, Name, Action, Reason, Note string
	Fields                           []struct {
		Path, Pointer, DesiredPointer, Verdict, Class, Cause string
		Managed, Certain                                     bool
		Live, Desired, After                                 any
		IgnoredBy                                            any
	}
}

// predict runs helmdrift.
func (c *syncCase) predict() (*predicted, int, error) {
	text, code, err := c.program("", "helmdrift", "diff", "app/"+c.name, "-n", "argocd", "-o", "json", "--show-ignored")
	var r predicted
	if json.Unmarshal([]byte(text), &r) != nil || len(r.Releases) != 1 {
		return &predicted{}, code, fmt.Errorf("no report: %w", err)
	}
	if len(r.Releases[0].Errors) > 0 {
		return &r, code, fmt.Errorf("the report is incomplete: %s", r.Releases[0].Errors[0].Message)
	}
	for _, w := range r.Releases[0].Warnings {
		isSaid := w.Code == "deprecated-chart" || strings.Contains(w.Message, again) || strings.Contains(w.Message, stays)
		if !isSaid {
			return &r, code, fmt.Errorf("a warning: %s", w.Message)
		}
	}
	return &r, code, nil
}

// again is what notes and warnings say about an object that the sync deletes and creates again.
const again = "it again"

// stays is what warnings say about objects that are out of sync whatever a sync does. The judge then wants Argo CD to call the Application
// so.
const stays = "out of sync for Argo CD also after a sync"

// recreates reports whether an object without a change was predicted to be deleted and created again.
func (r *predicted) recreates(name string) bool {
	for _, w := range r.Releases[0].Warnings {
		subject, _, _ := strings.Cut(w.Message, ":") // KIND.GROUP NAMESPACE/NAME
		kind, object, _ := strings.Cut(subject, " ")
		kind, _, _ = strings.Cut(kind, ".")
		if strings.Contains(w.Message, again) && kind+"/"+path.Base(object) == name {
			return true
		}
	}
	return false
}

func (r *predicted) objects() []predictedObject {
	if len(r.Releases) == 0 {
		return nil
	}
	return r.Releases[0].Objects
}

// writes returns what a sync writes: KIND/NAME ACTION PATH. It leaves out what a new rendering alone makes.
func (r *predicted) writes() []string {
	var out []string
	for _, o := range r.objects() {
		if o.isWhole() {
			out = append(out, o.Kind+"/"+o.Name+" "+o.Action+" "+o.Reason)
		}
		for _, f := range o.Fields {
			if isRandom := f.Class == "volatile" && f.Cause == "change"; !o.isWhole() && f.Verdict != "ignore" && !isRandom {
				out = append(out, o.Kind+"/"+o.Name+" "+f.Verdict+" "+f.Path)
			}
		}
	}
	return out
}

// isWhole reports whether the sync writes the object as a whole, or fails on it.
func (o predictedObject) isWhole() bool {
	return slices.Contains([]string{"create", "delete", "fail"}, o.Action)
}

func (r *predicted) fails() bool {
	return slices.ContainsFunc(r.objects(), func(o predictedObject) bool { return o.Action == "fail" })
}

// keeps returns an error if a field that was predicted to stay is another one now.
func (r *predicted) keeps(was *predicted) error {
	now := map[string]any{}
	for _, o := range r.objects() {
		for _, f := range o.Fields {
			now[o.Kind+"/"+o.Name+" "+f.Path] = f.Live
		}
	}
	for _, o := range was.objects() {
		for _, f := range o.Fields {
			key := o.Kind + "/" + o.Name + " " + f.Path
			if live, found := now[key]; f.Verdict == "ignore" && o.Action != "delete" && (!found || !reflect.DeepEqual(live, f.Live)) {
				return fmt.Errorf("%s was predicted to stay %v, and is %v", key, f.Live, live)
			}
		}
	}
	return nil
}

// explains returns an error if an object changed in a place that was not predicted to change, or if a place has another value than
// predicted.
func (r *predicted) explains(name string, was, is map[string]any) error {
	var written []string
	isNew := []string{"/metadata/uid", "/metadata/creationTimestamp"}
	if r.recreates(name) { // a warning says so, and the object may be in no report
		written = append(written, isNew...)
	}
	for _, o := range r.objects() {
		if o.Kind+"/"+o.Name != name {
			continue
		}
		if strings.Contains(o.Note, again) {
			written = append(written, isNew...)
		}
		for _, f := range o.Fields {
			if f.Verdict == "ignore" {
				continue
			}
			pointer := f.Pointer + f.DesiredPointer // at most one is set
			written = append(written, pointer)
			expected := f.Desired
			if f.After != nil {
				expected = f.After
			}
			if got := at(is, pointer); f.Certain && !reflect.DeepEqual(got, expected) {
				return fmt.Errorf("%s was predicted to have %s at %s, and has %s", name, asText(expected), f.Path, asText(got))
			}
		}
	}
	for _, pointer := range changed("", was, is) {
		isWritten := func(place string) bool { return strings.HasPrefix(pointer+"/", place+"/") }
		if !slices.ContainsFunc(written, isWritten) {
			return fmt.Errorf("%s was not predicted to change at %s: %s became %s", name, pointer, asText(at(was, pointer)), asText(at(is, pointer)))
		}
	}
	return nil
}

// changed returns the pointers of the leaves that differ.
func changed(pointer string, was, is any) (out []string) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	a, b := fields(was), fields(is)
	if a == nil && b == nil || was != nil && a == nil || is != nil && b == nil {
		if !reflect.DeepEqual(was, is) {
			out = append(out, pointer)
		}
		return out
	}
	for _, key := range slices.Sorted(maps.Keys(unionOf(a, b))) {
		out = append(out, changed(pointer+"/"+escape.Replace(key), a[key], b[key])...)
	}
	return out
}

// fields returns the fields of an object or the items of a list by their names in a pointer, or nil.
func fields(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case []any:
		out := map[string]any{}
		for i, item := range v {
			out[fmt.Sprint(i)] = item
		}
		return out
	}
	return nil
}

// at returns the value that a JSON pointer leads to, or nil.
func at(v any, pointer string) any {
	for _, step := range strings.Split(pointer, "/")[1:] {
		v = fields(v)[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return v
}

// objects returns the objects of the Application, without what the API server and controllers keep.
func (c *syncCase) objects() (map[string]map[string]any, error) {
	text, err := c.kubectl("", "get", "deployments,configmaps,services,roles,rolebindings,things.ex.com", "-n", c.name, "-o", "json", "--show-managed-fields")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	if text, err = c.kubectl("", "get", "namespace", c.name, "-o", "json", "--show-managed-fields"); err != nil {
		return nil, err
	}
	var namespace map[string]any
	if err := json.Unmarshal([]byte(text), &namespace); err != nil {
		return nil, err
	}
	all := append(list.Items, namespace)
	var copies []map[string]any
	if err := json.Unmarshal([]byte(asText(all)), &copies); err != nil {
		return nil, err
	}
	c.seen = append(c.seen, copies)
	out := map[string]map[string]any{}
	for _, o := range all {
		meta, _ := o["metadata"].(map[string]any)
		if meta["name"] == "kube-root-ca.crt" {
			continue
		}
		name := fmt.Sprint(o["kind"], "/", meta["name"])
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			delete(meta, field)
		}
		if annotations, _ := meta["annotations"].(map[string]any); annotations != nil {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
			delete(annotations, "deployment.kubernetes.io/revision")
		}
		delete(o, "status")
		out[name] = o
	}
	return out, nil
}

// change edits objects, the chart and the options.
func (c *syncCase) change() error {
	for range 1 + c.random.IntN(3) {
		if err := c.edit(); err != nil {
			return err
		}
	}
	if c.percent(30) {
		c.serverNow = !c.serverNow
		c.note("server-side: %t", c.serverNow)
	}
	for _, option := range []string{"RespectIgnoreDifferences=true", "ApplyOutOfSyncOnly=true"} {
		if c.percent(25) {
			c.options = append(c.options, option)
			c.note("%s", option)
		}
	}
	if c.percent(15) { // this is an option of one object only
		c.options = append(c.options, "Force=true")
		c.note("Force=true")
	}
	if c.namespaced != nil && c.percent(40) && !c.heals {
		c.namespaced = map[string]any{"labels": map[string]any{"team": c.one("shop", "store")}, "annotations": map[string]any{"other": "y"}}
		c.note("managedNamespaceMetadata: %s", asText(c.namespaced))
	}
	if !c.serverNow && c.percent(10) {
		c.options = append(c.options, "Replace=true")
		c.note("Replace=true")
	}
	c.prune = c.percent(50)
	if err := c.applyApplication(); err != nil {
		return err
	}
	if c.percent(60) && !c.heals {
		return c.writeChart(true)
	}
	return nil
}

// ignoreByExpressions adds expressions of jq to what is ignored: those that select places, that look at other places, that fail, and that
// are no paths.
func (c *syncCase) ignoreByExpressions() {
	for _, about := range []struct {
		group, kind string
		expressions []string
	}{
		{"apps", "Deployment", []string{`.spec.template.spec.containers[].env[] | select(.name == "DEBUG")`, `.spec.template.spec.containers[] | .image, .env`,
			`.spec.template.spec.containers[] | select(.name == "web")`, `.spec.template.spec.initContainers[].image`, `.spec | select(.replicas > 2) | .replicas`}},
		{"", "ConfigMap", []string{`.data.level`, `.data["added", "bob"]`, `.data | to_entries`, `.data | select(.bob) | .level`,
			`.nothing) | .data.level |= (if . == "debug" then "info" else . end`}},
		{"", "Service", []string{`.spec.selector | select(.app == "other") | .app`, `.spec.selector`, `.spec.ports[] | select(.port == 80)`}},
		{"rbac.authorization.k8s.io", "Role", []string{`.rules[0].verbs`, `.rules[] | select(.verbs | index("list"))`, `.rules[] | .verbs[] | select(. == "list")`}},
		{"ex.com", "Thing", []string{`.spec.size`, `.spec | select(.extra) | .size`, `.spec.list[1:]`, `.spec.list[] | select(. == "watch")`, `..|select(. == 9)`}},
	} {
		if c.percent(30) {
			expression := c.one(about.expressions...)
			c.ignored = append(c.ignored, map[string]any{"group": about.group, "kind": about.kind, "jqPathExpressions": []string{expression}})
			c.note("ignored of %s: %s", about.kind, expression)
		}
	}
	if c.percent(30) {
		manager := c.one("kubectl-edit", "alice", "some-operator", "bob")
		kind := c.one("Deployment", "ConfigMap", "Service", "Role", "Thing", "Thing")
		c.ignored = append(c.ignored, map[string]any{"group": "*", "kind": kind, "managedFieldsManagers": []string{manager}})
		c.note("ignored of %s: what %s owns", kind, manager)
	}
}

// edit lets a writer edit one object.
func (c *syncCase) edit() error {
	manager := c.one("kubectl-edit", "kubectl-patch", "alice", "some-operator")
	patch := func(object, body string) error {
		c.note("%s: %s %s", manager, object, body)
		_, err := c.kubectl("", "patch", object, "-n", c.name, "--field-manager="+manager, "--type=merge", "-p", body)
		return err
	}
	if c.namespaced != nil && c.percent(30) {
		return patch("namespace/"+c.name, c.one(`{"metadata":{"labels":{"team":"edited"}}}`, `{"metadata":{"labels":{"extra":"1"}}}`, `{"metadata":{"annotations":{"note":null}}}`,
			`{"metadata":{"labels":{"env":null},"annotations":{"argocd.argoproj.io/sync-options":null}}}`))
	}
	switch c.random.IntN(12) {
	case 11:
		return patch("rolebinding/web", c.one(`{"metadata":{"labels":{"level":"edited","extra":"1"}}}`, `{"subjects":[{"kind":"ServiceAccount","name":"eve"}]}`))
	case 0:
		return patch("configmap/settings", `{"data":{"level":"debug"}}`)
	case 1:
		return patch("configmap/settings", `{"data":{"added":"1"}}`)
	case 2:
		return patch("deployment/web", `{"spec":{"replicas":3}}`)
	case 3:
		c.note("scale")
		_, err := c.kubectl("", "scale", "deployment/web", "-n", c.name, "--replicas=4")
		return err
	case 4:
		return patch("service/web", `{"spec":{"selector":{"app":"other"}}}`)
	case 5:
		return patch("thing/web", `{"spec":{"size":9}}`)
	case 6:
		return patch("thing/web", `{"spec":{"extra":"x"}}`)
	case 7:
		return patch("role/web", `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]}`)
	case 8:
		c.note("delete configmap/optional")
		_, err := c.kubectl("", "delete", "configmap/optional", "-n", c.name, "--ignore-not-found")
		return err
	case 9:
		c.note("%s: set env", manager)
		_, err := c.kubectl("", "set", "env", "deployment/web", "-n", c.name, "DEBUG=1", "--field-manager="+manager)
		return err
	default:
		c.note("bob applies configmap/settings")
		text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"` + c.name + `"},"data":{"level":"bob","bob":"1"}}`
		_, err := c.kubectl(text, "apply", "--server-side", "--force-conflicts", "--field-manager=bob", "-f", "-")
		return err
	}
}

// writeChart commits the chart of the Application. Another one has other values, adds objects and drops some.
func (c *syncCase) writeChart(changes bool) error {
	values := map[string]any{"level": "info", "replicas": 1, "size": 2, "optional": true, "verb": "get", "more": "", "role": "web", "app": "web",
		"force": c.force}
	if changes {
		if c.force != "" && c.percent(50) {
			values["app"] = "other" // a field that cannot be changed
		}
		for range 1 + c.random.IntN(3) {
			switch c.random.IntN(8) {
			case 7:
				values["role"] = "other"
			case 0:
				values["level"] = "warn"
			case 1:
				values["replicas"] = 2
			case 2:
				values["size"] = 4
			case 3:
				values["optional"] = false
			case 4:
				values["verb"] = "watch"
			case 5:
				values["more"] = "m"
			default:
				values["image"] = "team/web:2"
			}
		}
		c.note("values: %s", asText(values))
	}
	dir := c.ts.MkAbs(filepath.Join("charts", c.name))
	template := c.ts.ReadFile("template.yaml")
	for name, text := range map[string]string{
		"Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n", "values.yaml": asText(values) + "\n", "templates/web.yaml": template,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"-C", "charts", "add", "."},
		{"-C", "charts", "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", c.name, "--allow-empty"},
	} {
		if _, _, err := c.program("", "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// syncOptions returns the options of the next sync.
func (c *syncCase) syncOptions() []string {
	out := append([]string{}, c.options...)
	if c.serverNow {
		out = append(out, "ServerSideApply=true")
	}
	return out
}

// applyApplication writes the Application. A window of its project keeps Argo CD from syncing it by itself, so that automated prune can be
// on, and allows a sync by hand.
func (c *syncCase) applyApplication() error {
	policy := map[string]any{"automated": map[string]any{"prune": c.prune, "selfHeal": c.heals}, "syncOptions": c.syncOptions()}
	project := "by-hand"
	if c.open {
		project = "open"
	}
	if c.namespaced != nil {
		policy["managedNamespaceMetadata"] = c.namespaced
	}
	app := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": c.name, "namespace": "argocd"},
		"spec": map[string]any{
			"project": project, "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": c.name},
			"source":            map[string]any{"repoURL": c.ts.Getenv("REPO"), "path": c.name, "targetRevision": "main"},
			"ignoreDifferences": append([]any{}, c.ignored...), // the definition takes no null
			"syncPolicy":        policy,
		},
	}
	_, err := c.kubectl(asText(app), "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

// application returns the Application.
func (c *syncCase) application() (app struct {
	Metadata struct{ Annotations map[string]string }
	Status   struct {
		Sync           struct{ Status, Revision string }
		Resources      []struct{ Kind, Name, Status string }
		OperationState struct {
			Phase, Message string
			FinishedAt     string
		}
	}
}, err error) {
	text, err := c.kubectl("", "get", "application", c.name, "-n", "argocd", "-o", "json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &app)
	}
	return app, err
}

// These are the values of the annotation that makes Argo CD compare anew: with what it has rendered, or with a new rendering.
const (
	normalRefresh = "normal"
	hardRefresh   = "hard"
)

// refreshed lets Argo CD compare anew and returns whether the Application is in sync.
func (c *syncCase) refreshed(kind string) (string, error) {
	head, _, err := c.program("", "git", "-C", "charts", "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	if _, err := c.kubectl("", "annotate", "application", c.name, "-n", "argocd", "argocd.argoproj.io/refresh="+kind, "--overwrite"); err != nil {
		return "", err
	}
	for range 300 {
		app, err := c.application()
		if err != nil {
			return "", err
		}
		if app.Metadata.Annotations["argocd.argoproj.io/refresh"] == "" && app.Status.Sync.Revision == strings.TrimSpace(head) && app.Status.Sync.Status != "" {
			return app.Status.Sync.Status, nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return "", fmt.Errorf("Argo CD did not compare %s", c.name)
}

// sync lets Argo CD sync, and waits for the end. The first sync of a seed is one by hand.
func (c *syncCase) sync() error {
	was, err := c.application()
	if err != nil {
		return err
	}
	if c.open = c.heals && was.Status.OperationState.FinishedAt != ""; c.open {
		err = c.applyApplication()
	} else {
		operation := map[string]any{"operation": map[string]any{"sync": map[string]any{"prune": c.prune, "syncOptions": c.syncOptions()}}}
		_, err = c.kubectl("", "patch", "application", c.name, "-n", "argocd", "--type=merge", "-p", asText(operation))
	}
	if err != nil {
		return err
	}
	for range 300 {
		app, err := c.application()
		if err != nil {
			return err
		}
		state := app.Status.OperationState
		if state.FinishedAt != "" && state.FinishedAt != was.Status.OperationState.FinishedAt && state.Phase != "Running" {
			if state.Phase != "Succeeded" {
				return fmt.Errorf("%s: %s", state.Phase, state.Message)
			}
			_, err := c.refreshed(normalRefresh)
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("Argo CD did not sync %s", c.name)
}
