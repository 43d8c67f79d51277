package apiserver

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Creation is a new object that the API server checks.
type Creation struct {
	Ref object.Ref
	// Definition is the CustomResourceDefinition of the kind; nil for a native kind, or if it was not read.
	Definition *kinds.CustomSchema
	// Text is the object that is sent to the server, Stored the normal form of what it would store.
	Text, Stored map[string]any
}

// Undecodable returns the reason why the API server cannot decode the object; empty if it can.
func (c Creation) Undecodable() string {
	return undecodedReason(undecoded(c.Text, kinds.Native().Shape(c.Ref.GVK()), nil))
}

// Invalid returns the reason why the API server refuses an object that it can decode; empty if no rule here refuses it.
func (c Creation) Invalid() string {
	return Join(invalidReason(c.Ref.Key, c.Stored), customReason(c.Definition, c.Ref, nil, c.Stored))
}

// Update is a change of a live object that the API server checks.
type Update struct {
	Ref        object.Ref
	Definition *kinds.CustomSchema
	// Text is the live object as it was read. Live and Result are the normal forms before and after the write.
	Text, Live, Result map[string]any
}

// Refused returns the reason why the API server refuses the update; empty if no rule here refuses it. CheckTypes says to look for values
// that the server cannot decode: any write but a strategic patch may contain such values.
func (u Update) Refused(checkTypes bool) string {
	if checkTypes {
		fresh := slices.DeleteFunc(undecoded(u.Result, kinds.Native().Shape(u.Ref.GVK()), nil), func(path object.Path) bool {
			was, _ := path.Lookup(u.Live)
			is, _ := path.Lookup(u.Result)
			return object.Equal(was, is) // the server can decode what live holds
		})
		if len(fresh) > 0 {
			return undecodedReason(fresh) // the server checks nothing else then
		}
	}
	return Join(u.immutableReason(), finalizersReason(u), newlyInvalidReason(u.Ref.Key, u.Result, u.Live),
		customReason(u.Definition, u.Ref, u.Live, u.Result))
}

// RefusedFields returns the part of Refused that depends on native fields only: immutable ones, and those that contradict each other.
func (u Update) RefusedFields() string {
	reason := u.immutableReason()
	if invalid := invalidReason(u.Ref.Key, u.Result); invalid != invalidReason(u.Ref.Key, u.Live) {
		reason = Join(reason, invalid)
	}
	return reason
}

// immutableReason names the immutable fields that the write would change.
func (u Update) immutableReason() string {
	fields := immutableFields(u.Ref.Key, change{was: u.Live, is: u.Result, live: u.Text})
	if len(fields) == 0 {
		return ""
	}
	return "immutable: " + JoinPaths(fields) + " cannot be changed; delete and re-create the object"
}

// Join returns the reasons that are not empty as one text.
func Join(reasons ...string) string {
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), "; ")
}

// JoinPaths returns a list of paths for people.
func JoinPaths(paths []object.Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}
