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
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var (
	chartFolder = flag.String("charts", "", "edit and absorb each chart of this folder")
	chartSeed   = flag.Uint64("seed", 1, "seed of the edits of -charts")
	together    = flag.Bool("together", false, "absorb all edits of a chart of -charts at once")
)

// TestCharts edits what each chart of -charts renders in the ways in which people do, and prints what share of the edits is absorbed. It is
// skipped without -charts: the charts are not ours.
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
		sum.chart(t, filepath.Join(*chartFolder, e.Name()))
	}
	sum.print(t)
}

// tally counts edits by kind.
type tally struct {
	made, absorbed map[string]int
	times          []time.Duration
	charts         int
}

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
	for _, kind := range slices.Sorted(maps.Keys(edits)) {
		fresh, err := install(t.Context(), dir, values, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.edit(edits[kind]); err != nil {
			t.Logf("%s %s: %v", filepath.Base(dir), kind, err)
			continue
		}
		s.absorb(t, fresh, dir, kind, edits[kind], values)
	}
}

func (s *tally) absorb(t *testing.T, c *cluster, dir, kind, edit string, values []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	a, err := drift.New(c.connection(), drift.Options{}).Absorb(ctx, target(dir, values), drift.AbsorbOptions{Unmanaged: true})
	took := time.Since(began)
	if err != nil {
		t.Logf("%-28s %-11s ERROR %v", filepath.Base(dir), kind, err)
		return
	}
	r := a.Report("test", began)
	if s.made == nil {
		s.made, s.absorbed = map[string]int{}, map[string]int{}
	}
	ok := len(r.Fields) > 0
	for _, f := range r.Fields {
		ok = ok && f.Status == report.AbsorbAbsorbed
	}
	s.times = append(s.times, took)
	s.made[kind]++
	said := "left"
	if ok {
		s.absorbed[kind]++
		said = "ok"
	}
	t.Logf("%-28s %-11s %-5s %5.1fs %4d renders  %s", filepath.Base(dir), kind, said, took.Seconds(), r.Renders, strings.ReplaceAll(edit, "\n", " & "))
	if !ok {
		t.Log(strings.ReplaceAll("\n"+described(r), "\n", "\n        "))
	}
}

func (s *tally) print(t *testing.T) {
	t.Helper()
	made, absorbed := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(s.made)) {
		t.Logf("%-12s %d of %d", kind, s.absorbed[kind], s.made[kind])
		made, absorbed = made+s.made[kind], absorbed+s.absorbed[kind]
	}
	if made == 0 {
		return
	}
	slices.Sort(s.times)
	t.Logf("%d charts, %d of %d edits absorbed (%d %%); median %v, 90th percentile %v, longest %v", s.charts, absorbed, made,
		100*absorbed/made, s.times[len(s.times)/2], s.times[len(s.times)*9/10], s.times[len(s.times)-1])
}

// randomEdits returns one edit of each kind that the objects of a release allow.
func randomEdits(random *rand.Rand, c *cluster) map[string]string {
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
				out["arg-change"] = fmt.Sprintf("%sargs/%d %q", at, n, name+"=77")
			}
		}
	}
	for n, env := range object.Items(container, "env") {
		if value, _ := env["value"].(string); value != "" {
			out["env-change"] = fmt.Sprintf("%senv/%d/value %q", at, n, "77")
		}
	}
	if len(object.Child(container, "livenessProbe")) > 0 {
		out["probe"] = at + "livenessProbe/initialDelaySeconds 77"
	}
}
