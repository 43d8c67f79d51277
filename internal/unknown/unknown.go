// Package unknown renders charts with values that are not known, for guests whose desired state lacks some: a plan that only the apply
// completes, or a tree with encrypted values.
//
// [Text] and [Any] stand for such a value. They fit drift.Options.Unknown, and a field that has them is of class unknown.
//
// A hash of such a text no longer shows it. So the chart is rendered again with another text: what differs then depends on a value that is
// not known. A value that may also be empty is made empty and a number, too: if a condition asks for it, what the chart makes is not known.
// A comparison with one certain text stays hidden.
package unknown

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// Text stands for a text that is not known. It may be a part of a longer text. It fits where names of Kubernetes fit.
const Text = "helmdrift-unknown-5d1c7e"

// Any is Text for a value that may also be empty, false or a number.
const Any = Text + "-any"

// otherText stands for the values of Text in the second rendering. The two differ in their length and in every part.
const otherText = "unknown-to-helmdrift-c40a9b"

// Renderer renders a chart.
type Renderer func(context.Context, drift.ChartRequest) (*drift.RenderedChart, error)

// Sharpen marks in a rendered chart what depends on values that are not known. It returns what cannot be marked, or "".
func Sharpen(ctx context.Context, run Renderer, q drift.ChartRequest, answer *drift.RenderedChart) (string, error) {
	with := func(replace ...string) (*drift.RenderedChart, error) {
		changed, replacer := q, strings.NewReplacer(replace...)
		changed.ReadFile = func(ctx context.Context, name string) ([]byte, error) {
			text, err := q.ReadFile(ctx, name)
			return []byte(replacer.Replace(string(text))), err
		}
		return run(ctx, changed)
	}
	hasUnknown, hasAny := false, false
	for _, name := range q.Values.Files {
		text, err := q.ReadFile(ctx, name)
		if err != nil {
			return "", err
		}
		hasUnknown = hasUnknown || bytes.Contains(text, []byte(Text))
		hasAny = hasAny || bytes.Contains(text, []byte(Any))
	}
	if !hasUnknown {
		return "", nil // only the version of the chart is not known, or a snapshot masks what is not
	}
	other, err := with(Text, otherText)
	if err != nil {
		return "whether the chart can be rendered depends on values that are not known", ctx.Err()
	}
	first := decodeAll(answer.Manifest)
	random := differences{}
	random.compareAll(first, decodeAll(answer.Again))
	found := differences{ignored: random.paths}
	found.compareAll(first, decodeAll(restored(other.Manifest)))
	if len(found.objects) > 0 {
		return dependent(found.objects), nil
	}
	for _, documents := range [][]render.Document{answer.Manifest, answer.Again, answer.AtOnce} {
		if err := found.mark(documents); err != nil {
			return "", err
		}
	}
	if !hasAny {
		return "", nil
	}
	conditions := differences{ignored: random.paths, unknown: true}
	for _, value := range []string{`""`, "7"} {
		changed, err := with(`"`+Any+`"`, value, Any, strings.Trim(value, `"`))
		if err != nil && ctx.Err() == nil {
			continue // the chart refuses it, so the value is another one
		} else if err != nil {
			return "", err
		}
		conditions.compareAll(decodeAll(answer.Manifest), decodeAll(changed.Manifest))
	}
	return dependent(conditions.objects), nil
}

// dependent says that objects depend on values that are not known, or returns "" if there are none.
func dependent(objects map[string]bool) string {
	if len(objects) == 0 {
		return ""
	}
	named := strings.Join(english.AtMost(slices.Sorted(maps.Keys(objects)), mostNamed), ", ")
	return "what the chart makes of " + named + " depends on a value that is not known"
}

// mostNamed is how many objects a message names.
const mostNamed = 3

// restored returns documents with Text in the place of otherText.
func restored(documents []render.Document) []render.Document {
	out := slices.Clone(documents)
	for i := range out {
		out[i].JSON = bytes.ReplaceAll(out[i].JSON, []byte(otherText), []byte(Text))
	}
	return out
}

// decodeAll returns the objects of documents by their titles. Two of one title are refused by Helm.
func decodeAll(documents []render.Document) map[string]any {
	out := map[string]any{}
	for _, d := range documents {
		value := decodeNumbers(d.JSON)
		if title := objectTitle(value); title != "" {
			out[title] = value
		}
	}
	return out
}

// decodeNumbers decodes JSON and keeps its numbers as they are.
func decodeNumbers(text []byte) (out any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&out) != nil {
		return nil
	}
	return out
}

// objectTitle names an object, or returns "" if the value is none.
func objectTitle(value any) string {
	o, _ := value.(map[string]any)
	metadata, _ := o["metadata"].(map[string]any)
	kind, _ := o["kind"].(string)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	if kind == "" || name == "" {
		return ""
	}
	return kind + " " + strings.TrimPrefix(namespace+"/"+name, "/")
}

// differences are those of two renderings.
type differences struct {
	// paths are the texts that differ, by object and path.
	paths map[string]map[string]bool
	// objects are those with another difference.
	objects map[string]bool
	// ignored are paths that do not count. If unknown is set, neither do those that have Text in the first rendering.
	ignored map[string]map[string]bool
	unknown bool
}

// compareAll compares the objects of two renderings.
func (d *differences) compareAll(a, b map[string]any) {
	if d.objects == nil {
		d.paths, d.objects = map[string]map[string]bool{}, map[string]bool{}
	}
	hasUnknownName := false
	for title, first := range a {
		second, isThere := b[title]
		switch {
		case isThere:
			d.compare(title, "", first, second)
		case d.unknown && strings.Contains(title, Text):
			hasUnknownName = true // the other rendering has it by another name
		default:
			d.objects[title] = true
		}
	}
	for title := range b {
		if _, isThere := a[title]; !isThere && !hasUnknownName {
			d.objects[title] = true
		}
	}
}

// compare compares two values at a path of an object.
func (d *differences) compare(title, at string, a, b any) {
	if d.ignored[title][at] || d.unknown && isAllUnknown(a) {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, isMap := b.(map[string]any); isMap {
			keys := maps.Clone(a)
			maps.Copy(keys, b)
			for key := range keys {
				d.compare(title, at+"/"+escapeStep(key), a[key], b[key])
			}
			return
		}
	case []any:
		if b, isList := b.([]any); isList && len(a) == len(b) {
			for i := range a {
				d.compare(title, fmt.Sprintf("%s/%d", at, i), a[i], b[i])
			}
			return
		}
	case string:
		if b, isText := b.(string); isText && !d.unknown {
			if a != b {
				if d.paths[title] == nil {
					d.paths[title] = map[string]bool{}
				}
				d.paths[title][at] = true
			}
			return
		}
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		d.objects[title] = true
	}
}

// escapeStep escapes a key as a JSON pointer does.
func escapeStep(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// isAllUnknown reports whether every text of a value has Text, and there is one.
func isAllUnknown(value any) bool {
	switch v := value.(type) {
	case string:
		return holdsUnknown(v)
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(below any) bool { return !isAllUnknown(below) })
	case map[string]any:
		for _, below := range v {
			if !isAllUnknown(below) {
				return false
			}
		}
		return len(v) > 0
	}
	return false
}

// holdsUnknown reports whether a text has Text, as it is or encoded in base64.
func holdsUnknown(text string) bool {
	raw, err := base64.StdEncoding.DecodeString(text)
	return strings.Contains(text, Text) || err == nil && strings.Contains(string(raw), Text)
}

// mark puts Text in the place of the texts that differ.
func (d *differences) mark(documents []render.Document) error {
	for i := range documents {
		value := decodeNumbers(documents[i].JSON)
		paths := d.paths[objectTitle(value)]
		if len(paths) == 0 {
			continue
		}
		text, err := json.Marshal(markBelow(value, "", paths))
		if err != nil {
			return err
		}
		documents[i].JSON = text
	}
	return nil
}

// markBelow returns a value with Text in the place of the texts at paths.
func markBelow(value any, at string, paths map[string]bool) any {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			v[key] = markBelow(below, at+"/"+escapeStep(key), paths)
		}
	case []any:
		for i, below := range v {
			v[i] = markBelow(below, fmt.Sprintf("%s/%d", at, i), paths)
		}
	case string:
		if paths[at] && !holdsUnknown(v) {
			return Text
		}
	}
	return value
}
