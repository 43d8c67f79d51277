package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// judge holds what was said against what happened.
func (t *telling) judge(said *report, before, after map[string]map[string]any, failed error) {
	spoken := map[string]objectReport{}
	for _, o := range said.Releases[0].Objects {
		spoken[o.Name] = o
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
	t.judgeFailure(spoken, failed)
	for _, o := range t.of.objects {
		for _, text := range judgeObject(o, o.next(t.of.rollback), spoken[o.name], before[o.name], after[o.name]) {
			t.miss(o.name, "%s", text)
		}
	}
	if len(t.misses) > 0 {
		t.misses = append(t.misses, "Helm: "+fmt.Sprint(failed), "helmdrift:\n  "+strings.Join(said.lines(), "\n  "))
		for _, o := range said.Releases[0].Objects {
			if o.Reason+o.Note != "" {
				t.misses = append(t.misses, fmt.Sprintf("  %s: %s %s %v", o.Name, o.Reason, o.Note, o.BlockedBy))
			}
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

// judgeFailure: Helm fails exactly on the objects that the report lets fail, for the reasons it gives.
func (t *telling) judgeFailure(spoken map[string]objectReport, failed error) {
	text := fmt.Sprint(failed)
	predicted := false
	for _, o := range t.of.objects {
		said := spoken[o.name]
		uncertain := slices.ContainsFunc(said.Fields, func(f fieldReport) bool { return !f.Certain })
		named := failed != nil && namesObject(text, o.name)
		switch {
		case said.Action == "fail":
			predicted = true
			t.failures++
			switch {
			case named || uncertain:
			case stopsAtOnce(text):
				t.unreached++ // it would have failed, had Helm come so far
			default:
				t.miss(o.name, "said to fail (%s), Helm does not fail on it", said.Reason)
			}
			if named {
				t.judgeReason(o.name, said, text)
			}
		case named && !uncertain:
			t.miss(o.name, "Helm fails on it, said: %q", said.Action)
		case named:
			predicted = true
		}
	}
	if failed != nil && !predicted {
		t.miss("", "Helm fails, nothing is said to")
	}
}

// stopsAtOnce tells whether Helm ended at its first error: it checks what it is to take over before it writes anything, and a
// failing creation ends the visit of the objects.
func stopsAtOnce(text string) bool {
	return strings.Contains(text, "nable to continue with update") || strings.Contains(text, "failed to create resource")
}

// namesObject tells whether an error of Helm is about an object; both Helms and the API server name it in their own ways.
func namesObject(text, name string) bool {
	return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "/"+name+" ")
}

// conflictField matches the fields that the API server lists in a conflict: "conflict with "x" using v1: .data.a", or several
// as a list after "conflicts with".
var conflictField = regexp.MustCompile(`(?m)(?:^- |conflict with "[^"]*"(?: with subresource "\w+")?(?: using \S+)?(?: at [^ ]+)?: )(\..*?)(?: && |$)`)

// judgeReason holds a predicted reason against Helm's error. Where it is in Helm's words, it must be there.
func (t *telling) judgeReason(name string, said objectReport, text string) {
	switch {
	case strings.Contains(said.Reason, "cannot be imported") && !strings.Contains(text, said.Reason):
		t.miss(name, "fails otherwise than was said: %s", said.Reason)
	case strings.Contains(said.Reason, "Apply failed with"):
		t.judgeConflicts(name, said, text)
	}
}

// judgeConflicts compares the fields in conflict with those that the server names for this object.
func (t *telling) judgeConflicts(name string, said objectReport, text string) {
	_, text, _ = strings.Cut(text, "/"+name+" ")
	text, _, _ = strings.Cut(text, "conflict occurred while applying object ")
	text, _, _ = strings.Cut(text, "server-side apply failed for object ")
	var ours, theirs []string
	for _, f := range said.Fields {
		if f.Verdict == "conflict" {
			ours = append(ours, bare(f.Path))
		}
	}
	for _, m := range conflictField.FindAllStringSubmatch(text, -1) {
		theirs = append(theirs, bare(m[1]))
	}
	if !covers(ours, theirs) {
		t.miss(name, "conflicts on %v, said: %v", theirs, ours)
	}
}

// judgeDryRun: where the server could be asked what it would do, it said what was said here.
func (t *telling) judgeDryRun(asked *report) {
	for _, o := range asked.Releases[0].Objects {
		if o.DryRun == nil || strings.HasPrefix(o.DryRun.Message, "not asked") {
			continue
		}
		t.asked++
		refused := o.DryRun.Result == "refused"
		if o.DryRun.Result == "disagrees" || refused && o.Action != "fail" && o.Action != "skip" {
			t.miss(o.Name, "said: %s; the server's dry run %s: %s", o.Action, o.DryRun.Result, o.DryRun.Message)
		}
	}
}

// covers tells whether each of the server's conflicts is at or below one of ours, and each of ours has one.
func covers(ours, theirs []string) bool {
	at := func(our, their string) bool { return strings.HasPrefix(their, our) }
	for _, their := range theirs {
		if !slices.ContainsFunc(ours, func(our string) bool { return at(our, their) }) {
			return false
		}
	}
	for _, our := range ours {
		if !slices.ContainsFunc(theirs, func(their string) bool { return at(our, their) }) {
			return false
		}
	}
	return true
}

// bare is a path without the marks in which the API server's way to write one and ours differ.
func bare(path string) string {
	return strings.NewReplacer(`"`, "", ".", "", "[", "", "]", "", `\`, "", "=", "").Replace(path)
}

// judgeObject gives what is wrong with what was said of one object.
func judgeObject(o *oracleObject, next map[string]any, said objectReport, was, now map[string]any) []string {
	switch {
	case said.Action == "create":
		return judgeCreation(next, was, now)
	case said.Action == "delete":
		if now != nil {
			return []string{"said to be deleted, is there"}
		}
		return nil
	case (was == nil) != (now == nil):
		return []string{fmt.Sprintf("there before: %v, after: %v, said: %q", was != nil, now != nil, said.Action)}
	case was == nil:
		return nil
	}
	still := slices.Contains([]string{"", "none", "keep", "fail", "skip"}, said.Action)
	return judgeFields(said.Fields, still, settled(was), settled(now))
}

// settled is an object without bookkeeping, and without the old name of serviceAccountName, which the server keeps beside it, and
// node ports, which it chooses.
func settled(obj map[string]any) map[string]any {
	out := quiet(obj)
	eachNode(out, func(v any) {
		m, _ := v.(map[string]any)
		switch {
		case m["containers"] != nil:
			delete(m, "serviceAccount")
		case m["port"] != nil:
			delete(m, "nodePort") // no chart names one
		}
	})
	return out
}

func judgeCreation(next, was, now map[string]any) []string {
	if was != nil || now == nil {
		return []string{fmt.Sprintf("said to be created; there before: %v, after: %v", was != nil, now != nil)}
	}
	next = quiet(next)
	foldStringData(next)
	if !within(next, now) {
		return []string{"is not created as the chart has it:\n" + cmp.Diff(next, now)}
	}
	return nil
}

// foldStringData does to a Secret what the API server does when it stores it.
func foldStringData(secret map[string]any) {
	texts, _ := secret["stringData"].(map[string]any)
	delete(secret, "stringData")
	for key, text := range texts {
		steps{{field: "data"}, {field: key}}.put(secret, base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(text))))
	}
}

// judgeFields: what was said to change changed, to what was said; the rest did not.
func judgeFields(fields []fieldReport, still bool, was, now map[string]any) []string {
	var out []string
	var orders, changed []steps
	for _, f := range fields {
		path, err := parsePath(f.Path)
		if err != nil {
			return []string{err.Error()}
		}
		acts := !f.Blocked && f.Verdict != "ignore" && f.Verdict != "conflict"
		switch {
		case acts && still:
			out = append(out, fmt.Sprintf("%s: %s, though the object stays", f.Path, f.Verdict))
		case !f.Certain:
			changed = append(changed, path)
		case !acts && !f.Managed && path[len(path)-1].keys != nil:
			orders = append(orders, path[:len(path)-1]) // where a foreign item stands among the others is not told
		case !acts:
		case f.Class == "order":
			orders = append(orders, path)
			if err := f.checkOrder(path, now); err != nil {
				out = append(out, err.Error())
			}
		default:
			changed = append(changed, path)
			if err := f.checkOutcome(path, was, now); err != nil {
				out = append(out, err.Error())
			}
			if err := f.checkLeftovers(path, now); err != nil {
				out = append(out, err.Error())
			}
		}
	}
	slices.SortStableFunc(changed, laterFirst)
	for _, path := range changed {
		path.dropWhole(was)
		path.dropWhole(now)
	}
	for _, path := range orders {
		path.sortList(was)
		path.sortList(now)
	}
	if diff := cmp.Diff(prune(was), prune(now)); diff != "" {
		out = append(out, "more happened than was said (-before +after):\n"+diff)
	}
	return out
}

// laterFirst puts paths in an order in which they can be dropped: items with an index from the end, as a dropped item moves
// those after it, and the keys of an item after all else in it, as the item is found by them.
func laterFirst(a, b steps) int {
	if a.isKey() != b.isKey() {
		return boolToInt(a.isKey()) - boolToInt(b.isKey())
	}
	return b[len(b)-1].index - a[len(a)-1].index
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isKey tells whether the path leads to a key of a list item.
func (p steps) isKey() bool {
	return len(p) > 1 && p[len(p)-2].keys[p[len(p)-1].field] != ""
}

// dropWhole drops what the path leads to, and above it what has nothing else.
func (p steps) dropWhole(root map[string]any) {
	if _, ok := p.in(root); !ok {
		return
	}
	for len(p) > 1 && p.standsAlone(root) {
		p = p[:len(p)-1]
	}
	p.drop(root)
}

// standsAlone tells whether nothing but empty things stands beside what the path leads to.
func (p steps) standsAlone(root map[string]any) bool {
	parent, _ := p[:len(p)-1].in(root)
	switch parent := parent.(type) {
	case map[string]any:
		rest := maps.Clone(parent)
		delete(rest, p[len(p)-1].field)
		return empty(prune(rest))
	case []any:
		return len(parent) == 1
	}
	return false
}

// checkOutcome: the field changed, and to what was said.
func (f fieldReport) checkOutcome(path steps, was, now map[string]any) error {
	before, had := path.in(was)
	after, has := path.in(now)
	if had == has && equalJSON(before, after) {
		return fmt.Errorf("%s: the report says %s, nothing happened", f.Path, f.Verdict)
	}
	want := f.Desired
	if f.After != nil {
		want = f.After
	}
	if f.Verdict == "remove" && f.After == nil {
		if !zero(after) {
			return fmt.Errorf("%s: the report says it goes, live has %v", f.Path, after)
		}
		return nil
	}
	value, err := decodeValue(want)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if !holds(value, after) {
		return fmt.Errorf("%s: the report says it becomes %s, live has %v", f.Path, want, after)
	}
	return nil
}

// holds tells whether got is what was wanted; the server may have added defaults to it. Unlike within, it does not take a text
// for a number.
func holds(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, _ := got.(map[string]any)
		for name, value := range want {
			if !holds(value, m[name]) {
				return false
			}
		}
		return true
	case []any:
		list, _ := got.([]any)
		return slices.EqualFunc(want, list, holds)
	}
	return equalJSON(want, got) || zero(want) && zero(got)
}

// checkOrder: the managed items stand in the order that was said.
func (f fieldReport) checkOrder(path steps, now map[string]any) error {
	value, err := decodeValue(f.Desired)
	names, _ := value.([]any)
	if err != nil || len(names) == 0 {
		return fmt.Errorf("%s: no order in %s: %w", f.Path, f.Desired, err)
	}
	v, _ := path.in(now)
	list, _ := v.([]any)
	last := -1
	for _, name := range names {
		item, err := parsePath("[" + fmt.Sprint(name) + "]")
		if err != nil {
			return err
		}
		i := item[0].at(list)
		if i <= last {
			return fmt.Errorf("%s: the order is to be %s, %v is at %d", f.Path, f.Desired, name, i)
		}
		last = i
	}
	return nil
}

// checkLeftovers: a map of texts that was said to become another is that one, without a key of what was there. Maps of other
// things may hold defaults.
func (f fieldReport) checkLeftovers(path steps, now map[string]any) error {
	want := f.Desired
	if f.After != nil {
		want = f.After
	}
	value, err := decodeValue(want)
	m, ok := value.(map[string]any)
	last := path[len(path)-1].field
	if f.Verdict == "remove" || err != nil || !ok || !slices.Contains([]string{"nodeSelector", "matchLabels", "selector", "labels", "annotations", "data", "hard"}, last) {
		return nil
	}
	got, _ := path.in(now)
	is, _ := got.(map[string]any)
	for key := range is {
		if _, wanted := m[key]; !wanted {
			return fmt.Errorf("%s: the report says it becomes %s, live also has %q", f.Path, want, key)
		}
	}
	return nil
}

// sortList brings the list at a path into an order of its own.
func (p steps) sortList(root map[string]any) {
	v, _ := p.in(root)
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return strings.Compare(string(x), string(y))
		})
	}
}
