package absorb_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

var (
	chartFolder = flag.String("charts", "", "edit and absorb each chart of this folder")
	chartSeed   = flag.Uint64("seed", 1, "seed of the edits of -charts")
	chartBound  = flag.Bool("bound", false, "also count which edits of -charts some single value controls")
	together    = flag.Bool("together", false, "absorb all edits of a chart of -charts at once")
)

// TestCharts edits the objects of each chart of -charts as people do, and prints the share of edits that is absorbed. It is skipped
// without -charts: the charts are not ours.
func TestCharts(t *testing.T) {
	if *chartFolder == "" {
		t.Skip("needs -charts DIR")
	}
	entries, err := os.ReadDir(*chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	var sum tally
	for _, e := range entries {
		func() {
			// A chart that makes a library panic must not end a run over many charts.
			defer func() {
				if cause := recover(); cause != nil {
					t.Logf("%s: %v", e.Name(), cause)
				}
			}()
			sum.chart(t, filepath.Join(*chartFolder, e.Name()))
		}()
	}
	sum.print(t)
}

// tally counts edits by kind.
type tally struct {
	counts map[string]*count
	times  []time.Duration
	charts int
}

// count counts edits: those made, those absorbed, those that would be absorbed if more side effects were allowed, those that a single
// value of the chart controls, and those that are both absorbed and controlled. An absorbed edit is false if the field did not change as
// reported, or if something changed that is not listed.
type count struct{ made, absorbed, withEffects, controlled, both, false int }

// chart edits and absorbs one chart.
func (s *tally) chart(t *testing.T, dir string) {
	t.Helper()
	values, _ := os.ReadFile(filepath.Join(dir, "file.yaml"))
	c, err := install(t.Context(), dir, values, false)
	if err != nil {
		t.Logf("%s does not render: %v", filepath.Base(dir), err)
		return
	}
	s.charts++
	random := rand.New(rand.NewPCG(*chartSeed, uint64(len(dir))))
	edits := randomEdits(random, c)
	if *together {
		var all []string
		for _, kind := range slices.Sorted(maps.Keys(edits)) {
			all = append(all, edits[kind])
		}
		edits = map[string]string{"all": strings.Join(all, "\n")}
	}
	bound := map[string]string{}
	if *chartBound && !*together {
		bound = controlled(t, c, dir, values, edits)
	}
	for _, kind := range slices.Sorted(maps.Keys(edits)) {
		fresh, err := install(t.Context(), dir, values, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.edit(edits[kind]); err != nil {
			t.Logf("%s %s: %v", filepath.Base(dir), kind, err)
			continue
		}
		s.absorb(t, c, fresh, trialOf{dir: dir, kind: kind, edit: edits[kind], values: values, controlledBy: bound[kind]})
	}
}

// trialOf is one edit of one chart.
type trialOf struct {
	dir, kind, edit string
	values          []byte
	controlledBy    string // a value that changes the field; empty if none is known
}

func (s *tally) absorb(t *testing.T, before, c *testCluster, e trialOf) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	began := time.Now()
	a, err := absorb.Run(ctx, c.connection(), target(e.dir, e.values), absorb.Options{Unmanaged: true})
	took := time.Since(began)
	if err != nil {
		t.Logf("%-28s %-11s ERROR %v", filepath.Base(e.dir), e.kind, err)
		return
	}
	r := a.Report("test", began)
	n := s.count(e.kind)
	n.made++
	n.controlled += ones(e.controlledBy != "")
	s.times = append(s.times, took)
	ok, effects := len(r.Fields) > 0, len(r.Fields) > 0
	for _, f := range r.Fields {
		ok = ok && f.Status == absorption.Absorbed
		effects = effects && (f.Status == absorption.Absorbed || len(f.Others) > 0)
	}
	said := map[bool]string{true: "ok", false: "left"}[ok]
	if !ok && effects {
		said, n.withEffects = "effects", n.withEffects+1
	} else if !ok && e.controlledBy != "" {
		said = "MISSED(" + e.controlledBy + ")"
	}
	if ok {
		n.absorbed++
		n.both += ones(e.controlledBy != "")
		if fault := falsity(t, before, c, e, a, r); fault != "" {
			n.false++
			said = "FALSE " + fault
		}
	}
	t.Logf("%-28s %-11s %-7s %5.1fs %4d renders  %s", filepath.Base(e.dir), e.kind, said, took.Seconds(), r.Renders,
		strings.ReplaceAll(e.edit, "\n", " & "))
	if !ok {
		t.Log(strings.ReplaceAll("\n"+described(r), "\n", "\n        "))
	}
}

// falsity installs the chart again with the changed values, and returns what differs from the result: a missing edit, or a changed
// object that the result does not name.
func falsity(t *testing.T, before, c *testCluster, e trialOf, a *absorb.Absorption, r *absorption.Result) string {
	t.Helper()
	after, err := install(t.Context(), e.dir, a.Content, false)
	if err != nil {
		return err.Error()
	}
	named := map[object.Key]bool{}
	for _, f := range r.Fields {
		named[f.Object.Key] = true
		for _, effect := range f.SideEffects {
			named[effect.Object.Key] = true
		}
	}
	for _, effect := range r.SideEffects {
		named[effect.Object.Key] = true
	}
	again, err := install(t.Context(), e.dir, e.values, false)
	if err != nil {
		return err.Error()
	}
	for ref, o := range after.live {
		if !named[ref.Key] && !object.Equal(o, before.live[ref]) && object.Equal(again.live[ref], before.live[ref]) {
			return "moves " + ref.Kind + " " + ref.Name
		}
	}
	for line := range strings.Lines(e.edit) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		ref, o := c.find(words[0], words[1])
		pointer := pointerOf(words[2])
		if last := len(pointer) - 1; pointer[last] == "-" {
			pointer = pointer[:last]
		}
		want, _ := pointer.Lookup(o)
		got, _ := pointer.Lookup(after.live[ref])
		if !object.Equal(want, got) {
			return fmt.Sprintf("has %v", got)
		}
	}
	return ""
}

func ones(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *tally) count(kind string) *count {
	if s.counts == nil {
		s.counts = map[string]*count{}
	}
	if s.counts[kind] == nil {
		s.counts[kind] = &count{}
	}
	return s.counts[kind]
}

func (s *tally) print(t *testing.T) {
	t.Helper()
	var all count
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		n := s.counts[kind]
		n.print(t, kind)
		all.made, all.absorbed, all.withEffects = all.made+n.made, all.absorbed+n.absorbed, all.withEffects+n.withEffects
		all.controlled, all.both, all.false = all.controlled+n.controlled, all.both+n.both, all.false+n.false
	}
	if all.made == 0 {
		return
	}
	all.print(t, "all")
	slices.Sort(s.times)
	at := func(share float64) time.Duration {
		return s.times[int(share*float64(len(s.times)-1))].Round(time.Millisecond)
	}
	t.Logf("%d charts; median %v, 75 %% %v, 90 %% %v, longest %v", s.charts, at(0.5), at(0.75), at(0.9), at(1))
}

func (n *count) print(t *testing.T, kind string) {
	t.Helper()
	t.Logf("%-12s %3d of %3d absorbed, %3d more with side effects; %3d of %3d that a value controls; %d false", kind, n.absorbed, n.made,
		n.withEffects, n.both, n.controlled, n.false)
}

// randomEdits returns one edit of each kind that the objects of a release allow.
func randomEdits(random *rand.Rand, c *testCluster) map[string]string {
	out := map[string]string{}
	var pods, services, maps []object.Ref
	for _, ref := range slices.SortedFunc(keysOf(c.live), func(a, b object.Ref) int { return a.Compare(b.Key) }) {
		switch {
		case ref.Kind == "Deployment", ref.Kind == "StatefulSet", ref.Kind == "DaemonSet":
			pods = append(pods, ref)
		case ref.Kind == "Service":
			services = append(services, ref)
		case ref.Kind == "ConfigMap":
			maps = append(maps, ref)
		}
	}
	if len(pods) > 0 {
		ref := pods[random.IntN(len(pods))]
		editPods(random, ref.Kind+" "+ref.Name+" ", c.live[ref], out)
	}
	if len(services) > 0 {
		ref := services[random.IntN(len(services))]
		out["svc-port"] = ref.Kind + " " + ref.Name + " /spec/ports/0/port 8099"
		out["svc-note"] = ref.Kind + " " + ref.Name + " /metadata/annotations/example.com~1team shop"
		out["svc-type"] = ref.Kind + " " + ref.Name + " /spec/type NodePort"
	}
	if len(maps) > 0 {
		ref := maps[random.IntN(len(maps))]
		editConfig(ref, c.live[ref], out)
	}
	return out
}

func keysOf(m map[object.Ref]map[string]any) func(func(object.Ref) bool) { return maps.Keys(m) }

// number is the first number of a text that stands by itself.
var number = regexp.MustCompile(`(?m)([:=] *)([0-9]+)( *)$`)

// editConfig changes a number in the text of a ConfigMap.
func editConfig(ref object.Ref, o map[string]any, out map[string]string) {
	data := object.Child(o, "data")
	for _, key := range object.SortedKeys(data) {
		text, _ := data[key].(string)
		if at := number.FindStringSubmatchIndex(text); at != nil {
			changed := text[:at[4]] + "77" + text[at[5]:]
			out["config"] = fmt.Sprintf("ConfigMap %s /data/%s %q", ref.Name, strings.ReplaceAll(key, "/", "~1"), changed)
			return
		}
	}
}

// editPods adds the edits of a workload.
func editPods(random *rand.Rand, name string, o map[string]any, out map[string]string) {
	if _, found := object.Child(o, "spec")["replicas"]; found {
		out["scale"] = name + "/spec/replicas 4"
	}
	template := object.Child(object.Child(o, "spec"), "template")
	spec := object.Child(template, "spec")
	at := name + "/spec/template/"
	out["label"] = at + "metadata/labels/tier front"
	out["annotation"] = at + "metadata/annotations/example.com~1team shop"
	out["toleration"] = at + "spec/tolerations/- {key: dedicated, operator: Exists}"
	out["selector"] = at + "spec/nodeSelector/disk ssd"
	containers := object.Items(spec, "containers")
	i := random.IntN(len(containers))
	container := containers[i]
	at = fmt.Sprintf("%sspec/containers/%d/", at, i)
	out["env-add"] = at + "env/- {name: DEBUG, value: \"1\"}"
	out["resources"] = at + "resources/limits/memory 777Mi"
	if image, _ := container["image"].(string); image != "" {
		repository, _, _ := strings.Cut(strings.Split(image, "@")[0], ":")
		out["image"] = at + "image " + repository + ":9.9.9"
		out["registry"] = at + "image mirror.example/" + repository[strings.Index(repository, "/")+1:] + ":9.9.9"
	}
	if args, _ := container["args"].([]any); len(args) > 0 {
		out["arg-add"] = at + "args/- --extra=1"
		for n, arg := range args {
			if name, value, found := strings.Cut(fmt.Sprint(arg), "="); found && value != "" && !strings.Contains(value, "$") {
				out["arg-change"] = fmt.Sprintf("%sargs/%d %q", at, n, name+"="+otherText(value))
			}
		}
	}
	for n, env := range object.Items(container, "env") {
		if value, _ := env["value"].(string); value != "" {
			out["env-change"] = fmt.Sprintf("%senv/%d/value %q", at, n, otherText(value))
		}
	}
	if len(object.Child(container, "livenessProbe")) > 0 {
		out["probe"] = at + "livenessProbe/initialDelaySeconds 77"
	}
}

// otherText returns another text of the same form: people change a number to a number, and a switch to the other side.
func otherText(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return "77"
	}
	switch text {
	case "true", "yes", "on":
		return map[string]string{"true": "false", "yes": "no", "on": "off"}[text]
	case "false", "no", "off":
		return map[string]string{"false": "true", "no": "yes", "off": "on"}[text]
	}
	return text + "x"
}
