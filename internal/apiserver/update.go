package apiserver

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Creation is a new object as the API server judges it.
type Creation struct {
	Ref object.Ref
	// Definition is what the kind's definition says; nil for a native kind, or if it was not read.
	Definition *kinds.CustomSchema
	// Text is what the server is sent, stored the normal form of what it would store.
	Text, Stored map[string]any
}

// Undecodable says why the API server cannot decode the object; empty if it can.
func (c Creation) Undecodable() string {
	return undecodedReason(undecoded(c.Text, kinds.Native().Shape(c.Ref.GVK()), nil))
}

// Invalid says why the API server refuses an object that it can decode; empty if no rule that is known here speaks against it.
func (c Creation) Invalid() string {
	return Join(invalidReason(c.Ref.Key, c.Stored), customReason(c.Definition, c.Ref, nil, c.Stored), repeatedReason(c.Definition, c.Ref, nil, c.Stored))
}

// Update is what a write makes of a live object, as the API server judges it.
type Update struct {
	Ref        object.Ref
	Definition *kinds.CustomSchema
	// Text is live as it was read. live and result are the normal forms before and after the write.
	Text, Live, Result map[string]any
}

// Refused says why the API server refuses the update; empty if no rule that is known here speaks against it. If decodes is set, result is
// looked at for values that the server cannot decode: a write other than a strategic patch may bring such.
func (u Update) Refused(decodes bool) string {
	if decodes {
		fresh := slices.DeleteFunc(undecoded(u.Result, kinds.Native().Shape(u.Ref.GVK()), nil), func(path object.Path) bool {
			was, _ := path.Lookup(u.Live)
			is, _ := path.Lookup(u.Result)
			return object.Equal(was, is) // what live holds, the server can decode
		})
		if len(fresh) > 0 {
			return undecodedReason(fresh) // the server comes to nothing else
		}
	}
	return Join(u.immutable(), finalizersReason(u), storedVersionsReason(u), invalidAnew(u.Ref.Key, u.Result, u.Live),
		customReason(u.Definition, u.Ref, u.Live, u.Result), repeatedReason(u.Definition, u.Ref, u.Live, u.Result))
}

// RefusedFields says what of refused depends on native fields alone: immutable ones, and those that contradict each other.
func (u Update) RefusedFields() string {
	reason := u.immutable()
	if invalid := invalidReason(u.Ref.Key, u.Result); invalid != invalidReason(u.Ref.Key, u.Live) {
		reason = Join(reason, invalid)
	}
	return reason
}

// immutable names the fields that the write would change and nobody can.
func (u Update) immutable() string {
	fields := immutableFields(u.Ref.Key, change{was: u.Live, is: u.Result, live: u.Text})
	if len(fields) == 0 {
		return ""
	}
	return "immutable: " + JoinPaths(fields) + " cannot be changed; delete and re-create the object"
}

// Join puts reasons into one; any of them may be empty.
func Join(reasons ...string) string {
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), "; ")
}

// JoinPaths lists paths for people.
func JoinPaths(paths []object.Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}
