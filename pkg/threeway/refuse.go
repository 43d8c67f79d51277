package threeway

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// refuse fails an object that the API server will not store as Helm sends it, as far as that can be told without asking: a value
// of another type than the field's, a change of what cannot be changed, fields that contradict each other. One that cannot be
// created ends the upgrade there; one that cannot be patched does not (helm v3.22.0 pkg/kube/client.go update).
func (c comparer) refuse(out *ObjectComparison, p pair) {
	switch {
	case out.Action == report.ActionCreate:
		s := c.catalog.Shape(p.desired.GVK())
		text := object.HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)
		stored := c.installed(p.desired.Ref, text)
		if !c.in.serverSide() {
			out.repeated = repeated(stored, c.shapeOf(p.desired.Ref), nil)
		}
		reason := undecodedReason(undecoded(text, s, nil))
		if refused := c.refusesCreation(out, text); refused != "" {
			reason = joinNotes(refused, reason) // the server comes to nothing else
		} else {
			reason = joinNotes(reason, invalidReason(p.desired.Key, stored),
				c.refusesCustom(p.desired.Ref, nil, stored), c.refusesRepeated(p.desired.Ref, nil, stored))
		}
		if reason != "" {
			out.fail(stopRest, reason)
		}
	case out.Action != report.ActionFail && out.Live != nil && out.Result != nil:
		if reason := c.refusesUpdate(out); reason != "" {
			out.fail(stopNothing, reason)
		}
	}
}

// installed is the normal form of what the server would store of a new object.
func (c comparer) installed(ref object.Ref, text map[string]any) map[string]any {
	out, _ := kinds.PlainNulls(kinds.NewNormalizer(ref.Key, c.shapeOf(ref), nil).Manifest(text).Object()).(map[string]any)
	return out
}

// refusesUpdate says why the API server refuses what Helm's patch makes of live; empty where nothing speaks against it.
func (c comparer) refusesUpdate(o *ObjectComparison) string {
	if reason := joinNotes(c.strictReason(o), o.invalid); reason != "" || object.Equal(o.Live, o.Result) {
		return reason
	}
	if o.Engine != report.EngineStrategic {
		fresh := slices.DeleteFunc(undecoded(o.Result, c.catalog.Shape(o.GVK()), nil), func(path object.Path) bool {
			was, _ := path.Lookup(o.Live)
			is, _ := path.Lookup(o.Result)
			return object.Equal(was, is) // what live holds, the server can decode
		})
		if len(fresh) > 0 {
			return undecodedReason(fresh) // the server comes to nothing else
		}
	}
	return joinNotes(immutableReason(o), finalizersReason(o), storedVersionsReason(o), invalidAnew(o.Key, o.Result, o.Live),
		c.refusesCustom(o.Ref, o.Live, o.Result), c.refusesRepeated(o.Ref, o.Live, o.Result))
}

// immutableReason names the fields that the upgrade would change and nobody can.
func immutableReason(o *ObjectComparison) string {
	fields := immutableFields(o.Key, change{was: o.Live, is: o.Result, live: o.liveText})
	if len(fields) == 0 {
		return ""
	}
	return "immutable: " + joinPaths(fields) + " cannot be changed; delete and re-create the object"
}

// joinPaths lists paths for people.
func joinPaths(paths []object.Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}

// undecodedReason names the values of an object that the API server cannot decode.
func undecodedReason(paths []object.Path) string {
	if len(paths) == 0 {
		return ""
	}
	return "does not decode: the API has another type at " + joinPaths(paths)
}

// undecoded lists the places of a value where something else stands than the type has there. A place that no type describes
// holds anything, and null is nothing.
func undecoded(v any, s *kinds.Shape, path object.Path) []object.Path {
	if s == nil || v == nil || s.Form == kinds.FormPlain {
		return nil
	}
	if s.Form == kinds.FormLeaf {
		text, _ := v.(string)
		if _, ok := s.Leaf(v); ok || s.Quantity && kinds.IsAbsurd(text) {
			return nil
		}
		return []object.Path{path}
	}
	var out []object.Path
	switch v := v.(type) {
	case map[string]any:
		if s.Form == kinds.FormList {
			return []object.Path{path}
		}
		for _, name := range object.SortedKeys(v) {
			out = append(out, undecoded(v[name], s.Field(name), path.Field(name))...)
		}
	case []any:
		if s.Form != kinds.FormList {
			return []object.Path{path}
		}
		for i, item := range v {
			out = append(out, undecoded(item, s.Item(), path.With(stepToItem(s, i, item)))...)
		}
	default:
		return []object.Path{path}
	}
	return out
}

// stepToItem names an item of a list by keys that decode, else by its index.
func stepToItem(s *kinds.Shape, i int, item any) object.Step {
	step, named := kinds.StepTo(item, s.Merges())
	odd := func(k object.ListKey) bool { return len(undecoded(k.Value, s.Item().Field(k.Name), nil)) > 0 }
	if !named || step.Form != object.KeyStep || slices.ContainsFunc(step.Keys, odd) {
		return object.Step{Form: object.IndexStep, Index: i}
	}
	return step
}
