package e2e

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// fieldJudge judges single objects. tolerated counts what it excuses; dryRun returns what the API server makes of an object that is
// written to it again.
type fieldJudge struct {
	tolerated tolerances
	dryRun    func(obj map[string]any) (map[string]any, error)
}

// judgeObject lists what is wrong in the report of one object.
func (j fieldJudge) judgeObject(o *oracleObject, next map[string]any, reported objectReport, was, now map[string]any) []string {
	switch {
	case reported.Action == "create":
		return judgeCreation(next, was, now)
	case reported.Action == "delete":
		if was != nil && uidOf(was) == uidOf(now) {
			return []string{"predicted to be deleted, still exists"}
		}
		return nil
	case was == nil && next == nil && isHook(o.new):
		return nil // what a hook creates is not compared
	case (was == nil) != (now == nil):
		return []string{fmt.Sprintf("exists before: %v, after: %v, predicted: %q", was != nil, now != nil, reported.Action)}
	case was == nil:
		return nil
	}
	unwritten := slices.Contains([]string{"", "none", "keep", "fail", "skip"}, reported.Action)
	stored := now
	was, now = withoutServerChoices(was), withoutServerChoices(now)
	j.tolerate(tolerateRules, was, now, dropAggregated)
	j.tolerate(tolerateNodePort, was, now, dropNewNodePorts)
	j.tolerate(tolerateAddress, was, now, dropNewAddress)
	if j.injectorOwns(o, reported.Fields, was, now) {
		j.tolerate(tolerateInjected, was, now, dropBothBundles)
	}
	return j.judgeFields(reported.Fields, unwritten, was, now, stored)
}

// tolerate removes something from both states of an object, and counts the tolerance if that makes the difference smaller.
func (j fieldJudge) tolerate(tolerance string, was, now map[string]any, drop func(was, now map[string]any)) {
	before := len(cmp.Diff(withoutEmpty(was), withoutEmpty(now)))
	drop(was, now)
	if len(cmp.Diff(withoutEmpty(was), withoutEmpty(now))) < before {
		j.tolerated.count(tolerance)
	}
}

// injectorOwns reports whether the report leaves the object's CA to an injector, by design: an annotation names one, or the chart writes
// an empty text for it, which Helm writes until the injector returns. A CA must stay if no chart writes it.
func (j fieldJudge) injectorOwns(o *oracleObject, fields []fieldReport, was, now map[string]any) bool {
	if isInjected(was) || isInjected(now) {
		return true
	}
	return leavesBundle(fields, o.old, o.new) && (writesBundle(o.old) || writesBundle(o.new))
}

func uidOf(obj map[string]any) any {
	uid, _ := fieldPath{{field: "metadata"}, {field: "uid"}}.lookup(obj)
	return uid
}

func judgeCreation(next, was, now map[string]any) []string {
	if was != nil || now == nil {
		return []string{fmt.Sprintf("predicted to be created; exists before: %v, after: %v", was != nil, now != nil)}
	}
	next, now = withoutServerChoices(next), withoutServerChoices(now)
	removeUnstored(next)
	for _, obj := range []map[string]any{next, now} {
		removeProtection(obj)
		if obj["aggregationRule"] != nil {
			delete(obj, "rules") // a controller writes them
		}
	}
	if !containsAll(next, now) {
		return []string{"differs from the chart after its creation:\n" + cmp.Diff(next, now)}
	}
	return nil
}

// judgeFields checks that the reported changes happened, with the reported values, and that nothing else changed. stored is the object as
// the server has it now.
func (j fieldJudge) judgeFields(fields []fieldReport, unwritten bool, was, now, stored map[string]any) []string {
	var out []string
	var orders, changed, reported []fieldPath
	for _, f := range fields {
		path, err := parsePath(f.Path)
		if err != nil {
			return []string{err.Error()}
		}
		reported = append(reported, path)
		switch {
		case f.acts() && unwritten:
			out = append(out, fmt.Sprintf("%s: %s, although the object is not written", f.Path, f.Verdict))
		case !f.Certain && !unwritten:
			changed = append(changed, path)
		case !f.acts() && !f.Managed && path[len(path)-1].keys != nil:
			orders = append(orders, path[:len(path)-1]) // the position of another item among the others is not predicted
		case !f.acts():
		case f.Class == "order":
			orders = append(orders, path)
			if err := f.checkOrder(path, now); err != nil {
				out = append(out, err.Error())
			}
		default:
			changed = append(changed, path)
			for _, err := range []error{f.checkOutcome(path, was, now), f.checkLeftovers(path, now), j.judgeBelow(f, path, was, now, stored)} {
				if err != nil {
					out = append(out, err.Error())
				}
			}
		}
	}
	if empties := slices.DeleteFunc(emptyDifferences(nil, was, now), func(p fieldPath) bool { return p.overlapsAny(reported) }); len(empties) > 0 {
		j.tolerated.count(tolerateEmpty)
	}
	removeAll(changed, was)
	removeAll(changed, now)
	j.tolerate(tolerateOrder, was, now, func(was, now map[string]any) {
		for _, path := range orders {
			path.sortList(was)
			path.sortList(now)
		}
		sortSets(was)
		sortSets(now)
	})
	for _, obj := range []map[string]any{was, now} {
		removeProtection(obj)
	}
	if diff := cmp.Diff(withoutEmpty(was), withoutEmpty(now)); diff != "" {
		out = append(out, "more changed than was predicted (-before +after):\n"+diff)
	}
	return out
}

// checkOutcome checks that the field changed to the reported value.
func (f fieldReport) checkOutcome(path fieldPath, was, now map[string]any) error {
	before, had := path.lookup(was)
	after, has := path.lookup(now)
	if had == has && equalJSON(before, after) {
		return fmt.Errorf("%s: the report predicts %s, nothing changed", f.Path, f.Verdict)
	}
	want := f.valueAfterWrite()
	if f.Path == "metadata.finalizers" {
		after = withoutProtection(after)
	}
	if f.Verdict == "remove" && f.After == nil {
		if !isZero(after) {
			return fmt.Errorf("%s: the report predicts its removal, live has %v", f.Path, after)
		}
		return nil
	}
	value, err := decodeValue(want)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if f.Path == "metadata.finalizers" {
		value = withoutProtection(value)
	}
	if !equalsWithDefaults(value, after) {
		return fmt.Errorf("%s: the report predicts %s, live has %v", f.Path, want, after)
	}
	return nil
}

// equalsWithDefaults reports whether got equals want; the server may have added defaults to got. Unlike containsAll, it does not treat a
// text as a number.
func equalsWithDefaults(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, _ := got.(map[string]any)
		for name, value := range want {
			if !equalsWithDefaults(value, m[name]) {
				return false
			}
		}
		return true
	case []any:
		list, _ := got.([]any)
		return slices.EqualFunc(want, list, equalsWithDefaults)
	}
	return equalJSON(want, got) || isZero(want) && isZero(got)
}

// checkOrder checks that the managed items are in the reported order. Items that share a name must occur as often as reported.
func (f fieldReport) checkOrder(path fieldPath, now map[string]any) error {
	if f.Equivalent { // a set, reported with its values
		want, err := decodeValue(f.valueAfterWrite())
		is, _ := path.lookup(now)
		if err == nil && !containsAll(want, is) {
			err = fmt.Errorf("%s: the report predicts %v, live has %v", f.Path, want, is)
		}
		return err
	}
	value, err := decodeValue(f.valueAfterWrite())
	names, _ := value.([]any)
	if err != nil || len(names) == 0 {
		return fmt.Errorf("%s: no order in %s: %w", f.Path, f.valueAfterWrite(), err)
	}
	v, _ := path.lookup(now)
	list, _ := v.([]any)
	for _, name := range names {
		item, err := parsePath("[" + fmt.Sprint(name) + "]")
		if err != nil {
			return err
		}
		i := item[0].indexIn(list)
		if i < 0 {
			return fmt.Errorf("%s: the report predicts the order %s, and %v is not in its place", f.Path, f.valueAfterWrite(), name)
		}
		list = list[i+1:]
	}
	return nil
}

// checkLeftovers checks a map of texts that was reported to change: it must have no other key. Maps of other values may contain defaults.
func (f fieldReport) checkLeftovers(path fieldPath, now map[string]any) error {
	want := f.valueAfterWrite()
	value, err := decodeValue(want)
	m, ok := value.(map[string]any)
	last := path[len(path)-1].field
	if f.Verdict == "remove" || err != nil || !ok || !slices.Contains([]string{"nodeSelector", "matchLabels", "selector", "labels", "annotations", "data", "hard"}, last) {
		return nil
	}
	got, _ := path.lookup(now)
	is, _ := got.(map[string]any)
	for key := range is {
		if _, wanted := m[key]; !wanted {
			return fmt.Errorf("%s: the report predicts %s, live also has %q", f.Path, want, key)
		}
	}
	return nil
}
