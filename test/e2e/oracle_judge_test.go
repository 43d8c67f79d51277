package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// judge holds what was said against what happened.
func (t *telling) judge(said *driftReport, before, after map[string]map[string]any, failed error) {
	j := &judgement{telling: t, said: said, of: map[string]objectReport{}, stoppers: map[string]bool{}}
	if failed != nil {
		j.text = failed.Error()
	}
	if j.stoppedByHook(before, after) || j.isUnpredicted() {
		return
	}
	for _, o := range said.Releases[0].Objects {
		j.of[o.Name] = o
		for _, f := range o.Fields {
			if f.Certain {
				t.certain++
			} else {
				t.uncertain++
			}
		}
	}
	if len(said.Releases[0].Errors) > 0 {
		t.miss("", "the report has errors: %v", said.Releases[0].Errors)
	}
	j.judgeFailure()
	j.judgeHooks()
	for _, o := range t.of.objects {
		for _, text := range (fieldJudge{let: t.let, ask: t.asker(o)}).object(o, o.next(t.of.rollback), j.of[o.name], before[o.name], after[o.name]) {
			t.miss(o.name, "%s", text)
		}
	}
	t.judgeStrangers(said)
	t.explain(said, failed)
	t.again(j)
}

// judgeStrangers: a report speaks of nothing but the objects of the charts.
func (t *telling) judgeStrangers(said *driftReport) {
	for _, spoken := range said.Releases[0].Objects {
		known := spoken.Name == "" || slices.ContainsFunc(t.of.objects, func(o *oracleObject) bool { return o.name == spoken.Name })
		if !known {
			t.miss(spoken.Name, "is no object of the charts, said: %q", spoken.Action)
		}
	}
}

// asker asks the API server what it makes of an object, without writing it.
func (t *telling) asker(o *oracleObject) func(map[string]any) (map[string]any, error) {
	return func(obj map[string]any) (map[string]any, error) {
		return t.c.cluster.tried(o.gvk(t.of.rollback), o.home(t.c.ns), obj)
	}
}

// tried is what the API server makes of an object that is written to it, as a dry run.
func (c *cluster) tried(kind schema.GroupVersionKind, namespace string, obj map[string]any) (map[string]any, error) {
	client, _, err := c.of(kind, namespace)
	if err != nil {
		return nil, err
	}
	answer, err := client.Update(context.Background(), &unstructured.Unstructured{Object: obj}, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	return answer.Object, nil
}

// again remembers which objects the story needs to be told without, and which predicted failures it did not reach.
func (t *telling) again(j *judgement) {
	if len(j.unreached) > 0 {
		t.stoppers = j.stoppers
	}
}

// stoppedByHook reports whether a hook stopped Helm before it wrote anything, and judges that it did not. Whether a hook fails is not
// predicted; after one that runs later, all has happened, and Helm's error speaks of nothing else.
func (j *judgement) stoppedByHook(before, after map[string]map[string]any) bool {
	at := strings.Index(j.text, " hooks failed: ")
	if at < 0 {
		return false
	}
	j.let.let(tolerateHook)
	if when := j.text[:at]; !strings.Contains(when, "pre-") {
		j.text = ""
		return false
	}
	for _, o := range j.telling.of.objects {
		was, is := settled(before[o.name]), settled(after[o.name])
		if diff := cmp.Diff(prune(was), prune(is)); diff != "" && !isHook(o.old) && !isHook(o.new) {
			j.miss(o.name, "a hook stopped Helm before it wrote anything, and yet:\n%s", diff)
		}
	}
	return true
}

// explain puts beside the misses what was said, and Helm's error.
func (t *telling) explain(said *driftReport, failed error) {
	if len(t.misses) == 0 {
		return
	}
	t.misses = append(t.misses, "Helm: "+fmt.Sprint(failed), "helmdrift:\n  "+strings.Join(said.lines(), "\n  "))
	for _, o := range said.Releases[0].Objects {
		if o.Reason+o.Note != "" {
			t.misses = append(t.misses, fmt.Sprintf("  %s: %s %s %v", o.Name, o.Reason, o.Note, o.BlockedBy))
		}
	}
}

func (t *telling) miss(object, format string, args ...any) {
	if object != "" {
		t.missed[object] = true
		object += ": "
	}
	t.misses = append(t.misses, "MISS "+object+fmt.Sprintf(format, args...))
}

// judgeHooks: hooks are named as not compared, and nothing else is said of them.
func (j *judgement) judgeHooks() {
	target := "new.yaml"
	if j.telling.of.rollback || j.telling.of.same {
		target = "old.yaml"
	}
	for _, name := range j.telling.of.hookNames(target) {
		if said, spoken := j.of[name]; spoken {
			j.miss("", "the hook %s is said to %s", name, said.Action)
		}
		named := j.telling.of.odd
		for _, n := range j.said.Releases[0].NotCompared {
			named = named || n.Name == name && n.Reason == "hook"
		}
		if !named {
			j.miss("", "the hook %s is not named as not compared", name)
		}
	}
}

// judgeAgreement: asking the server changes nothing of what is said, but where that was not certain. A controller's first write between the
// two questions may make the server forget who wrote something else: then they were about two objects.
func (t *telling) judgeAgreement(said, asked *driftReport, still func(name string) bool) {
	theirs := map[string]objectReport{}
	for _, o := range asked.Releases[0].Objects {
		theirs[o.Name+o.Generate] = o
	}
	for _, o := range said.Releases[0].Objects {
		other := theirs[o.Name+o.Generate]
		if other.DryRun != nil && other.DryRun.Result == "disagrees" || unsure(o) || !still(o.Name) {
			if o.verdicts() != other.verdicts() {
				t.let.let(tolerateAgreement)
			}
			continue
		}
		if a, b := o.verdicts(), other.verdicts(); a != b {
			t.miss(o.Name, "the dry run changes the report from\n%s\nto\n%s", a, b)
		}
	}
}

// verdicts is what is said of an object, in short.
func (o objectReport) verdicts() string {
	lines := []string{o.Action}
	for _, f := range o.Fields {
		lines = append(lines, f.Verdict+" "+f.Path)
	}
	return strings.Join(lines, "\n")
}

// judgeDryRun: where the server could be asked what it would do, it said what was said here.
func (t *telling) judgeDryRun(asked *driftReport) {
	for _, o := range asked.Releases[0].Objects {
		if o.DryRun == nil {
			t.unasked[o.Action]++
			continue
		}
		if reason, unasked := strings.CutPrefix(o.DryRun.Message, "not asked: "); unasked {
			t.unasked[reason]++
			continue
		}
		t.asked++
		if o.Action != "fail" && unpredictedWords.MatchString(o.DryRun.Message) {
			t.let.let(tolerateUnpredicted)
			continue
		}
		refused := o.DryRun.Result == "refused"
		if o.DryRun.Result == "disagrees" && !o.leavesOpen(o.DryRun.Message) || refused && o.Action != "fail" && o.Action != "skip" {
			t.miss(o.Name, "said: %s; the server's dry run %s: %s", o.Action, o.DryRun.Result, o.DryRun.Message)
		}
	}
}

// managersOf names the field managers of an object.
func managersOf(obj map[string]any) []string {
	var out []string
	u := unstructured.Unstructured{Object: obj}
	for _, entry := range u.GetManagedFields() {
		out = append(out, entry.Manager)
	}
	return out
}

// leavesOpen tells whether the server's answer differs at nothing but what the report calls not certain.
func (o objectReport) leavesOpen(message string) bool {
	places, differs := strings.CutPrefix(message, "the server's answer differs at ")
	if !differs {
		return false
	}
	for place := range strings.SplitSeq(places, ", ") {
		if !slices.ContainsFunc(o.Fields, func(f fieldReport) bool { return !f.Certain && strings.HasPrefix(place, f.Path) }) {
			return false
		}
	}
	return true
}
