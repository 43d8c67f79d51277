package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// spot is a field of a Go type, which is the key of the table.
type spot struct {
	goType string // as in apps/v1.DeploymentSpec
	field  string // JSON name
}

// place is where a spot was seen: a kind and a path in it.
type place struct {
	kind, path string
}

// places counts how often something was seen at each place.
type places map[place]int

// findings describe the effect of defaulting on one spot.
type findings struct {
	// filled maps each value, in JSON, to the places where the absent field got it.
	filled map[string]places
	// left are the places where the absent field stayed absent.
	left places
	// changed are the places where the field was set and was changed or removed.
	changed places
}

// everywhere reports whether the absent field always gets the same value.
func (f *findings) everywhere() bool { return len(f.filled) == 1 && len(f.left) == 0 }

// survey is the result of measuring all kinds.
type survey struct {
	spots map[spot]*findings
	kinds map[string]bool // the kinds that defaulting changes
}

// measure runs defaulting on variants of each kind, from nearly empty to full, and
// records its effect on every field of every struct.
func measure(scheme *runtime.Scheme, kinds []kind, variants int) (*survey, error) {
	result := &survey{spots: map[spot]*findings{}, kinds: map[string]bool{}}
	chances := []float64{0, 0.1, 0.25, 0.5, 0.75, 1}
	for _, k := range kinds {
		random := newRandom(0, k)
		for i := range variants {
			fill := filler{random: random, chance: chances[i%len(chances)]}
			in, out, err := applyDefaults(scheme, k, fill.object(k))
			if err != nil {
				return nil, err
			}
			walk := walker{survey: result, kind: k.String()}
			walk.structure(reflect.ValueOf(in).Elem(), reflect.ValueOf(out).Elem(), "")
			if walk.err != nil {
				return nil, fmt.Errorf("compare %s: %w", k, walk.err)
			}
		}
	}
	result.forgetUndefaulted()
	return result, nil
}

// forgetUndefaulted drops the findings of kinds that have no defaulting at all,
// such as old alpha versions that the API server no longer serves. Otherwise these
// would remove defaults from the table that hold for all other kinds.
func (s *survey) forgetUndefaulted() {
	for _, found := range s.spots {
		maps.DeleteFunc(found.left, func(at place, _ int) bool { return !s.kinds[at.kind] })
	}
}

// newRandom returns a generator that depends on the kind, so that a new kind does
// not change the objects of the others.
func newRandom(seed uint64, k kind) *rand.Rand {
	sum := fnv.New64a()
	sum.Write([]byte(k.String()))
	return rand.New(rand.NewPCG(seed, sum.Sum64()))
}

// defaulted returns the kinds that defaulting changes.
func (s *survey) defaulted(kinds []kind) []kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !s.kinds[k.String()] })
}

// walker compares one object before and after defaulting.
type walker struct {
	survey *survey
	kind   string
	err    error
}

// structure compares the fields of a struct.
func (w *walker) structure(in, out reflect.Value, at string) {
	for i := range in.NumField() {
		field := in.Type().Field(i)
		name, _ := jsonName(field)
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && field.Anonymous:
			w.structure(in.Field(i), out.Field(i), at)
		case in.Field(i).Kind() == reflect.Struct && !isLeaf(field.Type):
			w.structure(in.Field(i), out.Field(i), at+"."+name)
		default:
			w.field(spot{typeName(in.Type()), name}, in.Field(i), out.Field(i), at+"."+name)
		}
	}
}

// field records what happened to one field, and compares below it.
func (w *walker) field(key spot, in, out reflect.Value, at string) {
	found := w.survey.spots[key]
	if found == nil {
		found = &findings{filled: map[string]places{}, left: places{}, changed: places{}}
		w.survey.spots[key] = found
	}
	here := place{w.kind, at}
	switch {
	case absent(in) && absent(out):
		found.left[here]++
	case absent(in):
		value := w.encode(out)
		if found.filled[value] == nil {
			found.filled[value] = places{}
		}
		found.filled[value][here]++
		w.survey.kinds[w.kind] = true
	case absent(out) || !w.descend(in, out, at):
		found.changed[here]++
		w.survey.kinds[w.kind] = true
	}
}

// descend compares below a field that exists on both sides. It returns false if the
// field itself changed, and not only something inside it.
func (w *walker) descend(in, out reflect.Value, at string) bool {
	switch {
	case in.Kind() == reflect.Pointer:
		return w.descend(in.Elem(), out.Elem(), at)
	case in.Kind() == reflect.Struct && !isLeaf(in.Type()):
		w.structure(in, out, at)
		return true
	case in.Kind() == reflect.Slice && in.Type().Elem().Kind() != reflect.Uint8:
		same := in.Len() == out.Len()
		for i := 0; same && i < in.Len(); i++ {
			same = w.descend(in.Index(i), out.Index(i), at+"[]")
		}
		return same
	case in.Kind() == reflect.Map:
		same := in.Len() == out.Len()
		for _, key := range in.MapKeys() {
			same = same && out.MapIndex(key).IsValid() && w.descend(in.MapIndex(key), out.MapIndex(key), at+"{}")
		}
		return same
	}
	// Only values with pointers, such as quantities, need the slow comparison.
	return in.Comparable() && in.Equal(out) || w.encode(in) == w.encode(out)
}

// encode returns a value as JSON, and keeps the first error.
func (w *walker) encode(value reflect.Value) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value.Interface()); err != nil && w.err == nil {
		w.err = err
	}
	return string(bytes.TrimSpace(text.Bytes()))
}

// absent reports whether JSON omits the value: also an empty list or map, but not a
// pointer to an empty value.
func absent(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Slice, reflect.Map:
		return value.Len() == 0
	}
	return value.IsZero()
}

// typeName shortens an import path to its group and version.
func typeName(t reflect.Type) string {
	version := path.Base(t.PkgPath())
	return path.Join(path.Base(path.Dir(t.PkgPath())), version) + "." + t.Name()
}
