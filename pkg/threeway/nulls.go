package threeway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// valueOf is a side as a finding has it.
func (w *walker) valueOf(s kinds.State) any {
	if w.custom && s.Present && s.Value == nil {
		return object.Null{}
	}
	return object.Copy(s.OrNil())
}

// settleNulls decides what the nulls of manifests have become at one place of a custom resource whose schema lets the server store them.
// An apply stores a null each time. Client-side Helm stores it where it creates the object; a patch that brings it takes the field away,
// so that it is absent or has its default, and later patches do not mention it. Which of these happened long ago is not known, so
// neither an absent field nor a default that the release itself caused is drift.
func (w *walker) settleNulls(path object.Path, n sides) sides {
	_, was := n.old.Value.(object.CustomNull)
	_, is := n.desired.Value.(object.CustomNull)
	if was {
		n.old.Value, n.old.Present = w.storedNull(path, n.live)
	}
	switch {
	case is && n.storesNulls:
		n.desired.Value = nil
	case is && was:
		n.desired.Value, n.desired.Present = n.old.Value, n.old.Present
	case is:
		n.desired.Value, n.desired.Present = n.result.Value, n.result.Present
	}
	for _, s := range []*kinds.State{&n.last, &n.again, &n.atOnce} {
		if _, null := s.Value.(object.CustomNull); null {
			s.Value, s.Present = nil, !is || n.desired.Present
			if is {
				s.Value = n.desired.Value
			}
		}
	}
	return n
}

// storedNull is what the null of old's manifest was stored as, false where it left nothing.
func (w *walker) storedNull(path object.Path, live kinds.State) (any, bool) {
	switch {
	case w.nullsStored:
		return nil, true
	case !live.Present:
		return nil, false
	case live.Value != nil && w.isDefault(path, live.Value) && !w.isEdit(w.owners.OwnersOf(path)):
		return live.Value, true
	}
	return nil, true
}

// A client-side creation or patch of a custom resource loses its nulls: the server prunes those that the schema does not take
// (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/defaulting PruneNonNullableNullsWithoutDefaults). What comes out of a
// server-side apply does not go that way. A null there becomes the field's default, stays where the schema says nullable or says
// nothing, and else fails the whole apply (pkg/apiserver/schema/defaulting Default, then validation).

// nullsRefused is what the server says of the nulls in what an apply of a custom resource makes of live; empty where it takes them
// all. Asks tells that it depends on the kind's definition, which was not read.
func (c comparer) nullsRefused(ref object.Ref, live, result map[string]any) (reason string, asks bool) {
	if c.catalog.Shape(ref.GVK()) != nil || !bringsNull(result, live) {
		return "", false
	}
	definition := c.in.Schemas[ref.GroupKind()]
	if definition == nil {
		return "", true
	}
	var faults []string
	kinds.WalkDeclared(result, definition.Roots[ref.Version], nil, func(path object.Path, v any, schema map[string]any) {
		if v != nil || schema == nil || !kinds.RefusesNull(schema) {
			return
		}
		if was, has := path.Lookup(live); has && was == nil {
			return // what stands there already is not looked at again
		}
		faults = append(faults, fmt.Sprintf("%s: Invalid value: \"null\": %s in body must be of type %s: \"null\"", path, path, kinds.JSONType(schema)))
	})
	if len(faults) == 0 {
		return "", false
	}
	for _, more := range uncheckedRules(definition.ParsedRoot(ref.Version)) {
		faults = append(faults, more.Error())
	}
	return applyFailed(ref, errors.New(invalidObject(ref, faults))).Error(), false
}

// invalidObject says in the server's words that an object is invalid (k8s.io/apimachinery pkg/api/errors NewInvalid).
func invalidObject(ref object.Ref, faults []string) string {
	said := strings.Join(faults, ", ")
	if len(faults) > 1 {
		said = "[" + said + "]"
	}
	return fmt.Sprintf("%s %q is invalid: %s", ref.GroupKind().String(), ref.Name, said)
}

// bringsNull tells whether a value has nulls where live has none.
func bringsNull(v, live any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for name, below := range v {
			if was, had := object.Field(live, name), object.Has(live, name); below == nil && had && was == nil {
				continue
			}
			if name != "metadata" && name != "status" && bringsNull(below, object.Field(live, name)) {
				return true
			}
		}
	case []any:
		list, _ := live.([]any)
		return !object.Equal(v, list) && slices.ContainsFunc(v, func(item any) bool { return bringsNull(item, nil) })
	}
	return false
}
