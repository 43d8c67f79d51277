package repair

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// rounds is how often a property is tried on each object of the cases.
var rounds = flag.Int("rounds", 2, "tries of each property on each object")

// sample is an object of a case of the comparison: real enough to edit.
type sample struct {
	file, crds string
	content    map[string]any
}

func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("../../testdata/threeway/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []sample
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, f := range archive.Files {
			texts[f.Name] = string(f.Data)
		}
		for _, content := range documents(t, texts["old.yaml"]) {
			if o := objectOf(content); o.Name != "" && !isPatchedDifferently(content) {
				out = append(out, sample{filepath.Base(file), texts["crd.yaml"], content})
			}
		}
	}
	return out
}

// random returns the source of the edits of the object in one try. It depends only on the object and the try, so that a new case
// does not change the edits of others.
func (s sample) random(try uint64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, s.file, objectOf(s.content).Key)
	return rand.New(rand.NewPCG(try, h.Sum64()))
}

// isPatchedDifferently reports whether a manifest has something that Helm's patch changes: directives, and nulls among the items of a
// list.
func isPatchedDifferently(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if strings.HasPrefix(name, "$") || isPatchedDifferently(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return item == nil || isPatchedDifferently(item) })
	}
	return false
}

// TestRepairOfRandomDrift checks that whatever somebody edits, the repaired object has what was planned and nothing else, that the patch
// leads there, and that in a server-side release helm owns what it owned before. Every second time it prunes additions, after a
// controller or a script has edited the object as well; the additions of those stay.
func TestRepairOfRandomDrift(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		tried, planned, pruned := 0, 0, 0
		for _, s := range samples(t) {
			for round := range *rounds {
				rng := s.random(uint64(round))
				t.Run(fmt.Sprintf("%s/%d/server-side=%v", s.file, round, serverSide), func(t *testing.T) {
					tried++
					changes, prunes := repairOne(t, s, rng, serverSide, round%2 == 1)
					planned, pruned = planned+changes, pruned+prunes
				})
			}
		}
		if tried < 300 || planned < tried/2 || pruned < tried/20 {
			t.Errorf("server-side %v: of %d objects only %d changes were planned, of which %d prune", serverSide, tried, planned, pruned)
		}
	}
}

// repairOne installs an object, edits it, repairs it and checks the result. It returns the number of changes, and how many of them
// prune.
func repairOne(t *testing.T, s sample, rng *rand.Rand, serverSide, prunes bool) (changes, pruned int) {
	w := newSite(t, "", s.crds, serverSide)
	content, _ := object.Copy(s.content).(map[string]any)
	o := objectOf(content)
	w.old = []object.Object{o}
	if !w.install(o) {
		return 0, 0 // the server takes no such object from this engine
	}
	fresh := w.live[o.Ref]
	before := w.deployersFields(fresh)
	edit := func(manager string) bool {
		drift, _ := object.Copy(w.live[o.Ref]).(map[string]any)
		for range 1 + rng.IntN(3) {
			vandalise(rng, drift)
		}
		return w.update(o, drift, manager)
	}
	if prunes && rng.IntN(2) == 0 && !edit([]string{"some-operator", "some-script"}[rng.IntN(2)]) {
		return 0, 0
	}
	controllers := w.live[o.Ref]
	if !edit("kubectl-edit") {
		return 0, 0 // it does not decode
	}
	edited := w.live[o.Ref]
	p := w.plan(Options{Prune: prunes})
	if p.Empty() {
		return 0, 0
	}
	plan := &p.Objects[0]
	if len(plan.Changes) == 0 {
		t.Errorf("planned without a change: %v", p.Declined)
		return 0, 0
	}
	w.checkPatch(plan)
	if t.Failed() {
		t.Logf("old %s\nlive %s", text(o.Content), text(w.live[o.Ref]))
	}
	body, err := plan.Patch(w.live[o.Ref])
	if err != nil || t.Failed() {
		return 0, 0
	}
	if body != nil {
		w.checkOthersStay(plan, fresh, controllers, edited, patched(t, edited, body))
		w.send(o, body, plan.Manager)
	}
	if serverSide {
		w.checkHandedOver(plan, len(p.Declined) == 0 && w.compare().Quiet(), before)
	}
	w.checkRepaired(plan, prunes)
	return len(plan.Changes), countPrunes(plan.Changes)
}

func countPrunes(changes []Change) int {
	n := 0
	for _, c := range changes {
		if c.kind == prune {
			n++
		}
	}
	return n
}

// checkOthersStay checks that everything that was not added by a person, and that nobody edited since, exists after the repair, unless
// it excluded what was put back.
func (w *site) checkOthersStay(o *ObjectPlan, fresh, controllers, edited, after map[string]any) {
	w.t.Helper()
	if countPrunes(o.Changes) == 0 {
		return
	}
	for _, path := range differing(o.source, nil, fresh, controllers) {
		was, there := o.rawAt(controllers, path)
		_, before := o.rawAt(fresh, path)
		is, still := o.rawAt(edited, path)
		if !there || before || !still || !object.Equal(was, is) || len(path) == 1 || path[1].Name == "managedFields" {
			continue
		}
		if isHeldAsOne(edited, "kubectl-edit", path) {
			continue
		}
		planned := func(c Change) bool { return c.kind != prune && c.Path.Overlaps(path) }
		if left, _ := o.rawAt(after, path); !slices.ContainsFunc(o.Changes, planned) && !object.Equal(left, was) {
			w.t.Errorf("%s: no person added %s, and the repair made %s of it: %v", o.Ref.Key, path, text(left), paths(o.Changes))
		}
	}
}

// isHeldAsOne reports whether a manager owns something above a place as one value. Then nothing records who added the place.
func isHeldAsOne(obj map[string]any, manager string, path object.Path) bool {
	metadata, _ := obj["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, v := range entries {
		entry, _ := v.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		for i := 0; entry["manager"] == manager && i < len(path) && path[i].Form == object.FieldStep && fields != nil; i++ {
			if fields, _ = fields["f:"+path[i].Name].(map[string]any); fields != nil && len(fields) == 0 && i+1 < len(path) {
				return true
			}
		}
	}
	return false
}

// TestIgnoredFieldsStay checks that an ignored edit stays as it is while a repair puts back and prunes the rest, and that the repair
// does everything that it plans.
func TestIgnoredFieldsStay(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		ignored, planned := 0, 0
		for _, s := range samples(t) {
			for round := range *rounds {
				rng := s.random(1000 + uint64(round))
				t.Run(fmt.Sprintf("%s/%d/server-side=%v", s.file, round, serverSide), func(t *testing.T) {
					places, changes := ignoreOne(t, s, rng, serverSide)
					ignored, planned = ignored+places, planned+changes
				})
			}
		}
		if ignored < 100 || planned < 50 {
			t.Errorf("server-side %v: %d places were ignored, and %d changes planned beside them", serverSide, ignored, planned)
		}
	}
}

// ignoreOne edits an object, ignores one of its findings or a part of one, and repairs the rest. It returns the number of ignored
// places, and of other changes.
func ignoreOne(t *testing.T, s sample, rng *rand.Rand, serverSide bool) (ignored, planned int) {
	w := newSite(t, "", s.crds, serverSide)
	content, _ := object.Copy(s.content).(map[string]any)
	o := objectOf(content)
	w.old = []object.Object{o}
	if !w.install(o) {
		return 0, 0
	}
	drift, _ := object.Copy(w.live[o.Ref]).(map[string]any)
	for range 4 {
		vandalise(rng, drift)
	}
	if !w.update(o, drift, "kubectl-edit") {
		return 0, 0
	}
	findings := w.compare().Objects[0].Findings
	if len(findings) == 0 {
		return 0, 0
	}
	f := findings[rng.IntN(len(findings))]
	place := ignore.PatternOf(f.Path) + somewhereIn(rng, f.Live)
	pattern, err := ignore.ParsePattern(place)
	if err != nil {
		t.Fatal(err)
	}
	w.rules = []ignore.Rule{{Name: "rule", Paths: []ignore.Pattern{pattern}}}
	p := w.plan(Options{Prune: true})
	if p.Empty() {
		return 1, 0
	}
	plan := &p.Objects[0]
	w.checkPatch(plan)
	if t.Failed() {
		t.Logf("old %s\nlive %s\nignored %s\n%s", text(o.Content), text(w.live[o.Ref]), place, describe(t, p))
	}
	body, err := plan.Patch(w.live[o.Ref])
	if err != nil || body == nil {
		return 1, 0
	}
	after := patched(t, w.live[o.Ref], body)
	for _, path := range differing(plan.source, nil, w.live[o.Ref], after) {
		if text := ignore.PatternOf(path); text == place || strings.HasPrefix(text, place+"/") || strings.HasPrefix(place, text+"/") && !isListAt(plan, w.live[o.Ref], path) {
			t.Errorf("%s: %s is ignored, and %s differs: %v\nlive %s\nold %s", o.Key, place, path, paths(plan.Changes), text, plan.Ref)
		}
	}
	return 1, len(plan.Changes)
}

// somewhereIn returns the path of a random place within a value, or of the value itself.
func somewhereIn(rng *rand.Rand, v any) string {
	if m, ok := v.(map[string]any); ok && len(m) > 0 && rng.IntN(2) == 0 {
		all := object.SortedKeys(m)
		name := all[rng.IntN(len(all))]
		return ignore.PatternOf(object.Path{}.Field(name)) + somewhereIn(rng, m[name])
	}
	return ""
}

// isListAt reports whether a place holds a list. If its items have keys, a difference of the list itself is one of order.
func isListAt(o *ObjectPlan, live map[string]any, path object.Path) bool {
	v, _ := o.rawAt(live, path)
	_, isList := v.([]any)
	return isList
}

// checkRepaired compares again, and checks that what was planned has not drifted, and that no other place has drifted more than before.
func (w *site) checkRepaired(o *ObjectPlan, prunes bool) {
	w.t.Helper()
	again := w.plan(Options{Prune: prunes})
	for i := range again.Objects {
		for _, c := range again.Objects[i].Changes {
			w.t.Errorf("%s: planned again: %s %s → %s; first %v", o.Ref.Key, c.Path, text(c.From), text(c.To), paths(o.Changes))
		}
	}
}

// checkHandedOver checks that helm owns what it owned before the drift, if all of that was put back, and that the repairer no
// longer owns anything.
func (w *site) checkHandedOver(o *ObjectPlan, whole bool, before string) {
	w.t.Helper()
	ref := o.Ref
	body, err := o.HandOver(w.live[ref])
	if err != nil {
		w.t.Errorf("%s: %v", ref.Key, err)
		return
	}
	if body != nil {
		w.live[ref] = patched(w.t, w.live[ref], body)
	}
	if all := o.entriesOf(w.live[ref]); len(all.ours) != 0 || len(all.deployers) != 1 {
		w.t.Errorf("%s: %d entries of the repairer, %d of helm", ref.Key, len(all.ours), len(all.deployers))
	}
	if after := w.deployersFields(w.live[ref]); whole && after != before && after != withoutEmpty(w.t, before, w.manifest(ref), w.live[ref]) {
		w.t.Errorf("%s: helm owned\n%s\nand owns\n%s\n%v", ref.Key, before, after, paths(o.Changes))
	}
	if again, err := o.HandOver(w.live[ref]); again != nil || err != nil {
		w.t.Errorf("%s: handed over again: %s %v", ref.Key, again, err)
	}
}

func (w *site) manifest(ref object.Ref) map[string]any {
	return w.old[slices.IndexFunc(w.old, func(o object.Object) bool { return o.Ref == ref })].Content
}

// withoutEmpty omits, from the fields that helm owned, the empty maps that live no longer has. Their removal is not drift: nothing puts
// them back, and nobody owns what does not exist.
func withoutEmpty(t testing.TB, owned string, manifest, live map[string]any) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(owned), &fields); err != nil {
		t.Fatal(err)
	}
	var leave func(fields, manifest, live map[string]any)
	leave = func(fields, manifest, live map[string]any) {
		for name, value := range manifest {
			inside, isMap := value.(map[string]any)
			if _, has := live[name]; !has && isMap && len(inside) == 0 {
				delete(fields, "f:"+name)
			}
			deeper, _ := fields["f:"+name].(map[string]any)
			lives, _ := live[name].(map[string]any)
			if lives != nil {
				leave(deeper, inside, lives)
			}
		}
	}
	leave(fields, manifest, live)
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (w *site) deployersFields(object map[string]any) string {
	t := w.t
	t.Helper()
	helms := (&ObjectPlan{Deployer: w.deployer}).entriesOf(object).deployers
	if len(helms) == 0 {
		return ""
	}
	raw, err := json.Marshal(helms[0].raw["fieldsV1"])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// vandalise makes one random edit of an object, in its spec or data or the like, or in its labels and annotations.
func vandalise(rng *rand.Rand, object map[string]any) {
	roots := slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(name string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "status", "immutable"}, name)
	})
	metadata, _ := object["metadata"].(map[string]any)
	if len(roots) == 0 || rng.IntN(6) == 0 {
		name := []string{"labels", "annotations", "finalizers"}[rng.IntN(3)]
		switch v := metadata[name].(type) {
		case map[string]any:
			editMap(rng, v)
		case []any:
			metadata[name] = editList(rng, v)
		}
		if rng.IntN(4) == 0 {
			delete(metadata, name)
		}
		return
	}
	name := roots[rng.IntN(len(roots))]
	object[name] = edit(rng, object[name])
}

func edit(rng *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		editMap(rng, v)
		return v
	case []any:
		return editList(rng, v)
	case string:
		return []any{"x", "eA==", "7", "Always", v + "x"}[rng.IntN(5)]
	case int64:
		return v + 1 + rng.Int64N(5)
	case bool:
		return !v
	}
	return v
}

func editMap(rng *rand.Rand, m map[string]any) {
	all := object.SortedKeys(m)
	if len(all) == 0 || rng.IntN(10) == 0 {
		m["added"] = "eA=="
		return
	}
	name := all[rng.IntN(len(all))]
	if rng.IntN(4) == 0 {
		delete(m, name)
		return
	}
	m[name] = edit(rng, m[name])
}

func editList(rng *rand.Rand, list []any) []any {
	if len(list) == 0 {
		return list
	}
	i := rng.IntN(len(list))
	item, isMap := list[i].(map[string]any)
	switch rng.IntN(6) {
	case 0:
		return slices.Delete(list, i, i+1)
	case 1:
		rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	case 2:
		if !isMap {
			return append(list, "added")
		}
		other, _ := object.Copy(item).(map[string]any)
		other["name"] = "added"
		return slices.Insert(list, rng.IntN(len(list)+1), any(other))
	case 3:
		for _, key := range []string{"name", "port", "containerPort", "mountPath"} {
			if isMap && item[key] != nil {
				item[key] = edit(rng, item[key])
				return list
			}
		}
	default:
		list[i] = edit(rng, list[i])
	}
	return list
}
