package valuesfile

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// override replaces an alias by a value of its own. Path is that of the alias. For a map the alias stays as a merge, so that keys that are
// added to the anchor later still arrive here.
//
// The edit of x.b in this file changes only x, and not y or the anchor:
//
//	base: &base {a: 1, b: 2}     base: &base {a: 1, b: 2}
//	x: *base                     x:
//	                        ─►     <<: *base
//	                               b: 3
//	y: *base                     y: *base
func (ed *editor) override(p place, c change, path []any) error {
	old, value, err := ed.compare(c, path)
	if err != nil || object.Equal(old, value) {
		return err
	}
	ed.overrode = true
	oldMap, isMap := old.(map[string]any)
	newMap, stays := value.(map[string]any)
	if !isMap || !stays {
		return ed.replace(p, value)
	}
	o := overlay{alias: p.yaml.Value, keys: map[string]any{}}
	for key, v := range newMap {
		if before, found := oldMap[key]; !found || !object.Equal(before, v) {
			o.keys[key] = v
		}
	}
	// A merge cannot take a key away, so the map is written out if one goes.
	for key := range oldMap {
		if _, stays := newMap[key]; !stays {
			return ed.replace(p, value)
		}
	}
	return ed.replace(p, o)
}

// overMerge writes a key beside the merge that provides it. Path is that of the key. The new key follows the merge, which therefore does
// not overwrite it.
func (ed *editor) overMerge(p place, c change, path []any, own bool, merge entry) error {
	old, value, err := ed.compare(c, path)
	_, wanted := object.ValueAt(c.after, path)
	line := ed.line(merge.start)
	switch {
	case err != nil || wanted && object.Equal(old, value):
		return err
	case own:
		return fmt.Errorf("the merge of line %d overwrites the key, because it follows it", line)
	case !wanted:
		return fmt.Errorf("the merge of line %d provides the key, and YAML cannot remove a merged key", line)
	}
	ed.overrode = true
	return ed.addKey(p.node, path[len(path)-1].(string), value)
}

// compare returns the values at a path: in the text as it is, and wanted.
func (ed *editor) compare(c change, path []any) (old, value any, err error) {
	values, err := read(ed.text)
	if err != nil {
		return nil, nil, err
	}
	old, _ = object.ValueAt(values, path)
	value, _ = object.ValueAt(c.after, path)
	return old, value, nil
}
