package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// fieldJudge judges single objects: let counts what is let through, and ask is the API server's word on an object that is written to it
// once more, as a dry run.
type fieldJudge struct {
	tolerated tolerances
	dryRun    func(obj map[string]any) (map[string]any, error)
}

// object lists what is wrong with what was said of one object.
func (j fieldJudge) judgeObject(o *oracleObject, next map[string]any, said objectReport, was, now map[string]any) []string {
	switch {
	case said.Action == "create":
		return judgeCreation(next, was, now)
	case said.Action == "delete":
		if was != nil && uidOf(was) == uidOf(now) {
			return []string{"said to be deleted, is there"}
		}
		return nil
	case next == nil && isHook(o.new):
		if !equalJSON(was, now) {
			j.tolerated.count(tolerateHook) // what Helm does with hooks is not predicted
		}
		return nil
	case (was == nil) != (now == nil):
		return []string{fmt.Sprintf("there before: %v, after: %v, said: %q", was != nil, now != nil, said.Action)}
	case was == nil:
		return nil
	}
	still := slices.Contains([]string{"", "none", "keep", "fail", "skip"}, said.Action)
	stored := now
	was, now = withoutServerChoices(was), withoutServerChoices(now)
	j.tolerate(tolerateRules, was, now, dropAggregated)
	j.tolerate(tolerateNodePort, was, now, dropNewNodePorts)
	j.tolerate(tolerateAddress, was, now, dropNewAddress)
	if j.injectorOwns(o, said.Fields, was, now) {
		j.tolerate(tolerateInjected, was, now, dropBothBundles)
	}
	return j.judgeFields(said.Fields, still, was, now, stored)
}

// forgive takes something away from both states of an object, and counts it where that makes the difference between them smaller.
func (j fieldJudge) tolerate(tolerance string, was, now map[string]any, drop func(was, now map[string]any)) {
	before := len(cmp.Diff(withoutEmpty(was), withoutEmpty(now)))
	drop(was, now)
	if len(cmp.Diff(withoutEmpty(was), withoutEmpty(now))) < before {
		j.tolerated.count(tolerance)
	}
}

// injectorOwns reports whether the report leaves the object's CA to an injector, by design: an annotation names one, or the chart writes
// an empty text for it, which Helm puts there until the injector comes by again. A CA that no chart speaks of has to stay.
func (j fieldJudge) injectorOwns(o *oracleObject, said []fieldReport, was, now map[string]any) bool {
	if isInjected(was) || isInjected(now) {
		return true
	}
	return leavesBundle(said, o.old, o.new) && (writesBundle(o.old) || writesBundle(o.new))
}

// writesBundle reports whether a chart writes a CA, if only an empty one.
func writesBundle(chart map[string]any) bool {
	written := false
	eachNode(chart, func(v any) {
		m, _ := v.(map[string]any)
		_, there := m["caBundle"]
		written = written || there
	})
	return written
}

func dropBothBundles(was, now map[string]any) {
	dropBundles(was)
	dropBundles(now)
}

// dropAggregated takes away the rules of a role that aggregates others: a controller puts them together whenever it likes.
func dropAggregated(was, now map[string]any) {
	if was["aggregationRule"] != nil && now["aggregationRule"] != nil {
		delete(was, "rules")
		delete(now, "rules")
	}
}

// isInjected tells whether an annotation leaves the object's CA to an injector, as reports do.
func isInjected(obj map[string]any) bool {
	_, injected := fieldPath{{field: "metadata"}, {field: "annotations"}, {field: "cert-manager.io/inject-ca-from"}}.lookup(obj)
	return injected
}

// leavesBundle tells whether no chart gives a CA, which leaves it to an injector, and the report says nothing of one. It is silent then by
// design (scenario B12), though Helm empties a CA that the chart has as an empty text, until the injector comes by again.
func leavesBundle(said []fieldReport, charts ...map[string]any) bool {
	given := slices.ContainsFunc(said, func(f fieldReport) bool { return strings.HasSuffix(f.Path, ".caBundle") })
	for _, chart := range charts {
		eachNode(chart, func(v any) {
			m, _ := v.(map[string]any)
			given = given || !isZero(m["caBundle"])
		})
	}
	return !given
}

func dropBundles(obj map[string]any) {
	eachNode(obj, func(v any) {
		if m, ok := v.(map[string]any); ok {
			delete(m, "caBundle")
		}
	})
}

func uidOf(obj map[string]any) any {
	uid, _ := fieldPath{{field: "metadata"}, {field: "uid"}}.lookup(obj)
	return uid
}

// settled is an object without bookkeeping, and without what the server chooses or keeps twice.
func withoutServerChoices(obj map[string]any) map[string]any {
	out := withoutServerFields(obj)
	dropAdmitted(out)
	sortFinalizers(out)
	return out
}

// dropAdmitted takes away the two tolerations that admission adds to every Pod, at every write, exactly as it adds them (kubernetes
// v1.36.3 plugin/pkg/admission/defaulttolerationseconds).
func dropAdmitted(obj map[string]any) {
	spec, _ := obj["spec"].(map[string]any)
	list, tolerates := spec["tolerations"].([]any)
	if obj["kind"] != "Pod" || !tolerates {
		return
	}
	spec["tolerations"] = slices.DeleteFunc(slices.Clone(list), func(item any) bool {
		toleration, _ := item.(map[string]any)
		key := toleration["key"]
		return (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable") && len(toleration) == 4 &&
			toleration["operator"] == "Exists" && toleration["effect"] == "NoExecute" && fmt.Sprint(toleration["tolerationSeconds"]) == "300"
	})
}

// sortSets sorts lists whose order means nothing, which is for after what was said of them has been looked at.
func sortSets(obj map[string]any) {
	switch obj["kind"] {
	case "Route":
		fieldPath{{field: "spec"}, {field: "tags"}}.sortList(obj)
		fieldPath{{field: "spec"}, {field: "fixed"}, {field: "zones"}}.sortList(obj)
	case "HorizontalPodAutoscaler":
		fieldPath{{field: "spec"}, {field: "metrics"}}.sortList(obj)
	}
}

// sortFinalizers: their order is nobody's concern.
func sortFinalizers(obj map[string]any) {
	path := fieldPath{{field: "metadata"}, {field: "finalizers"}}
	path.sortList(obj)
}

// dropNewNodePorts takes away the node ports that the server chose in the meantime; charts name others.
func dropNewNodePorts(was, now map[string]any) {
	known := map[string]bool{}
	eachNodePort(was, func(_ map[string]any, number string) { known[number] = true })
	eachNodePort(now, func(port map[string]any, number string) {
		if !known[number] && len(number) == 5 && number > "30080" && number != "31999" {
			delete(port, "nodePort")
		}
	})
}

// dropNewAddress takes away the address that the server chose for a Service that was an external name.
func dropNewAddress(was, now map[string]any) {
	before, _ := was["spec"].(map[string]any)
	after, _ := now["spec"].(map[string]any)
	if now["kind"] != "Service" || before["type"] != "ExternalName" || after["type"] == "ExternalName" {
		return
	}
	for _, name := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
		if before[name] == nil {
			delete(after, name)
		}
	}
}

func eachNodePort(obj map[string]any, visit func(port map[string]any, number string)) {
	eachNode(obj, func(v any) {
		if port, ok := v.(map[string]any); ok && port["nodePort"] != nil {
			visit(port, fmt.Sprint(port["nodePort"]))
		}
	})
}

func judgeCreation(next, was, now map[string]any) []string {
	if was != nil || now == nil {
		return []string{fmt.Sprintf("said to be created; there before: %v, after: %v", was != nil, now != nil)}
	}
	next, now = withoutServerChoices(next), withoutServerChoices(now)
	removeUnstored(next)
	for _, obj := range []map[string]any{next, now} {
		removeProtection(obj)
		if obj["aggregationRule"] != nil {
			delete(obj, "rules") // a controller puts them together
		}
	}
	if !containsAll(next, now) {
		return []string{"is not created as the chart has it:\n" + cmp.Diff(next, now)}
	}
	return nil
}

// stripUnkept takes from an object of a chart what is not stored as it stands: the times that generators write, the label that Helm
// sets itself, and the pool's fields that no kind has.
func removeUnstored(obj map[string]any) {
	metadata := fieldPath{{field: "metadata"}}
	append(metadata, pathStep{field: "creationTimestamp"}).remove(obj)
	managed := append(metadata, pathStep{field: "labels"}, pathStep{field: "app.kubernetes.io/managed-by"})
	if _, written := managed.lookup(obj); written {
		managed.put(obj, "Helm")
	}
	foldStringData(obj)
	eachNode(obj, func(v any) {
		m, _ := v.(map[string]any)
		delete(m, "unknownField")
		if m["sessionAffinity"] != "ClientIP" {
			delete(m, "sessionAffinityConfig")
		}
	})
}

// foldStringData does to a Secret what the API server does when it stores it.
func foldStringData(secret map[string]any) {
	texts, _ := secret["stringData"].(map[string]any)
	delete(secret, "stringData")
	for key, text := range texts {
		fieldPath{{field: "data"}, {field: key}}.put(secret, base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(text))))
	}
}

// fields: what was said to change changed, to what was said; the rest did not. Stored is the object as the server has it now.
func (j fieldJudge) judgeFields(fields []fieldReport, still bool, was, now, stored map[string]any) []string {
	var out []string
	var orders, changed, spoken []fieldPath
	for _, f := range fields {
		path, err := parsePath(f.Path)
		if err != nil {
			return []string{err.Error()}
		}
		spoken = append(spoken, path)
		acts := !f.Blocked && f.Verdict != "ignore" && f.Verdict != "conflict"
		switch {
		case acts && still:
			out = append(out, fmt.Sprintf("%s: %s, though the object stays", f.Path, f.Verdict))
		case !f.Certain && !still:
			changed = append(changed, path)
		case !acts && !f.Managed && path[len(path)-1].keys != nil:
			orders = append(orders, path[:len(path)-1]) // where a foreign item stands among the others is not predicted
		case !acts:
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
	if hollow := slices.DeleteFunc(emptyDifferences(nil, was, now), func(p fieldPath) bool { return p.overlapsAny(spoken) }); len(hollow) > 0 {
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
		out = append(out, "more happened than was said (-before +after):\n"+diff)
	}
	return out
}

// dropAll drops what the paths lead to, and above it what has nothing else. The keys of items go last, as the items are found by them,
// and all at once; items with an index go from the end, as a dropped item moves those after it.
func removeAll(paths []fieldPath, root map[string]any) {
	paths = slices.SortedStableFunc(slices.Values(paths), func(a, b fieldPath) int { return slices.Compare(b.indexes(), a.indexes()) })
	var keys []func()
	for _, path := range paths {
		if !path.isKey() {
			path.removeWithEmptyParents(root)
		}
	}
	for _, path := range paths {
		if path.isKey() {
			keys = append(keys, path.keyRemover(root))
		}
	}
	for _, drop := range keys {
		drop()
	}
}

// indexes are those of the items on the way.
func (p fieldPath) indexes() []int {
	out := make([]int, len(p))
	for i := range p {
		out[i] = p[i].index
	}
	return out
}

// isKey tells whether the path leads to a key of a list item.
func (p fieldPath) isKey() bool {
	return len(p) > 2 && p[len(p)-2].keys[p[len(p)-1].field] != ""
}

// keyDropper finds the item that a path leads to a key of. What it gives drops the key, and the item when it has nothing else.
func (p fieldPath) keyRemover(root map[string]any) func() {
	holder, _ := p[:len(p)-3].lookup(root)
	item, _ := p[:len(p)-1].lookup(root)
	m, ok := holder.(map[string]any)
	one, isMap := item.(map[string]any)
	if !ok || !isMap {
		return func() {}
	}
	return func() {
		delete(one, p[len(p)-1].field)
		name := p[len(p)-3].field
		list, _ := m[name].([]any)
		m[name] = slices.DeleteFunc(list, func(v any) bool { left, ok := v.(map[string]any); return ok && isEmpty(withoutEmpty(left)) })
	}
}

// dropWhole drops what the path leads to, and above it what has nothing else.
func (p fieldPath) removeWithEmptyParents(root map[string]any) {
	if _, ok := p.lookup(root); !ok {
		return
	}
	for len(p) > 1 && p.hasNoSiblings(root) {
		p = p[:len(p)-1]
	}
	p.remove(root)
}

// standsAlone tells whether nothing but empty things stands beside what the path leads to.
func (p fieldPath) hasNoSiblings(root map[string]any) bool {
	parent, _ := p[:len(p)-1].lookup(root)
	switch parent := parent.(type) {
	case map[string]any:
		rest := maps.Clone(parent)
		delete(rest, p[len(p)-1].field)
		return isEmpty(withoutEmpty(rest))
	case []any:
		return len(parent) == 1
	}
	return false
}

// checkOutcome: the field changed, and to what was said.
func (f fieldReport) checkOutcome(path fieldPath, was, now map[string]any) error {
	before, had := path.lookup(was)
	after, has := path.lookup(now)
	if had == has && equalJSON(before, after) {
		return fmt.Errorf("%s: the report says %s, nothing happened", f.Path, f.Verdict)
	}
	want := f.Desired
	if f.After != nil {
		want = f.After
	}
	if f.Path == "metadata.finalizers" {
		after = withoutProtection(after)
	}
	if f.Verdict == "remove" && f.After == nil {
		if !isZero(after) {
			return fmt.Errorf("%s: the report says it goes, live has %v", f.Path, after)
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
		return fmt.Errorf("%s: the report says it becomes %s, live has %v", f.Path, want, after)
	}
	return nil
}

// holds tells whether got is what was wanted; the server may have added defaults to it. Unlike within, it does not take a text
// for a number.
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

// checkOrder: the managed items stand in the order that was said. Items that share a name stand there as often as it was said.
func (f fieldReport) checkOrder(path fieldPath, now map[string]any) error {
	if f.Equivalent { // a set, told as it stands
		want, err := decodeValue(f.valueAfterWrite())
		is, _ := path.lookup(now)
		if err == nil && !containsAll(want, is) {
			err = fmt.Errorf("%s: the report says it becomes %v, live has %v", f.Path, want, is)
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
			return fmt.Errorf("%s: the order is to be %s, and %v is not where that has it", f.Path, f.valueAfterWrite(), name)
		}
		list = list[i+1:]
	}
	return nil
}

// checkLeftovers: a map of texts that was said to become another is that one, without a key of what was there. Maps of other
// things may hold defaults.
func (f fieldReport) checkLeftovers(path fieldPath, now map[string]any) error {
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
	got, _ := path.lookup(now)
	is, _ := got.(map[string]any)
	for key := range is {
		if _, wanted := m[key]; !wanted {
			return fmt.Errorf("%s: the report says it becomes %s, live also has %q", f.Path, want, key)
		}
	}
	return nil
}

// sortList brings the list at a path into an order of its own.
func (p fieldPath) sortList(root map[string]any) {
	v, _ := p.lookup(root)
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int {
			x, _ := json.Marshal(withoutEmpty(a))
			y, _ := json.Marshal(withoutEmpty(b))
			return strings.Compare(string(x), string(y))
		})
	}
}
