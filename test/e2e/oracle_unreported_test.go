package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// judgeBelow checks what is below a changed path: it must be reported, have been there before, or be added by the API server itself to
// the reported value. To find the last, it sends the server an object that has only the reported value at the path.
func (j fieldJudge) judgeBelow(f fieldReport, path fieldPath, was, now, stored map[string]any) error {
	want := f.valueAfterWrite()
	var value any
	if f.Verdict == "remove" && f.After == nil || utiljson.Unmarshal(want, &value) != nil {
		return nil
	}
	before, _ := path.lookup(was)
	after, _ := path.lookup(now)
	extra := unreported(value, before, after, f.Path)
	if len(extra) == 0 {
		return nil
	}
	object := runtime.DeepCopyJSON(stored)
	if j.dryRun == nil || !path.replace(object, value) {
		j.tolerated.count(tolerateBelow)
		return nil
	}
	answer, err := j.dryRun(object)
	if err != nil {
		j.tolerated.count(tolerateBelow)
		return nil //nolint:nilerr // a missing answer is excused, and counted
	}
	answer = withoutServerChoices(answer)
	dropNewNodePorts(was, answer) // as in now, where they were removed
	dropNewAddress(was, answer)
	answered, _ := path.lookup(answer)
	if diff := cmp.Diff(withoutEmpty(answered), withoutEmpty(after)); diff != "" {
		return fmt.Errorf("%s: the report lacks %s, and the server does not add it (-server +after):\n%s", f.Path, strings.Join(extra, ", "), diff)
	}
	return nil
}

// unreported lists what a value has that was not reported and that differs from the value before.
func unreported(reported, was, is any, at string) []string {
	switch is := is.(type) {
	case map[string]any:
		names, _ := reported.(map[string]any)
		before, _ := was.(map[string]any)
		var out []string
		for _, name := range slices.Sorted(maps.Keys(is)) {
			switch value, named := names[name]; {
			case named:
				out = append(out, unreported(value, before[name], is[name], at+"."+name)...)
			case !equalJSON(before[name], is[name]) && !isZero(is[name]):
				out = append(out, at+"."+name)
			}
		}
		return out
	case []any:
		names, _ := reported.([]any)
		before, _ := was.([]any)
		if len(names) != len(is) {
			return []string{at}
		}
		var out []string
		for i := range is {
			var old any
			if len(before) == len(is) {
				old = before[i]
			}
			out = append(out, unreported(names[i], old, is[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return out
	}
	return nil
}

// emptyDifferences lists the paths where one of two states has an empty map or list and the other has nothing.
func emptyDifferences(path fieldPath, a, b any) []fieldPath {
	left, isMap := a.(map[string]any)
	right, alsoMap := b.(map[string]any)
	var out []fieldPath
	switch {
	case isMap && alsoMap:
		for _, name := range sortedKeys(left) {
			if _, both := right[name]; both || isEmptyContainer(left[name]) {
				out = append(out, emptyDifferences(append(slices.Clone(path), pathStep{field: name, index: -1}), left[name], right[name])...)
			}
		}
		for _, name := range sortedKeys(right) {
			if _, both := left[name]; !both && isEmptyContainer(right[name]) {
				out = append(out, append(slices.Clone(path), pathStep{field: name, index: -1}))
			}
		}
	case a == nil && isEmptyContainer(b), b == nil && isEmptyContainer(a):
		out = append(out, path)
	}
	return out
}

func isEmptyContainer(v any) bool { return v != nil && isEmpty(v) }
