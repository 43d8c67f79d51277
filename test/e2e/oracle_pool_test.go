package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// poolDir contains the kinds of objects that the oracle builds charts from. Its README describes the files.
const poolDir = "testdata/oracle"

// poolKind is one kind of the pool.
type poolKind struct {
	// name is the kind in lower case, as stories write it.
	name   string
	object map[string]any
	// versions are the apiVersions that charts and others write the object at. The first is the skeleton's.
	versions []string
	knobs    []knob
	// versionKnobs are the knobs of one version.
	versionKnobs map[string][]knob
	// editKnobs are turned only in edits of live, because a chart does not have these values.
	editKnobs []knob
	// risks are turned only in a new version of the chart, and rarely, because the API may refuse the result.
	risks []knob
	// scales says that the kind has the scale subresource, clusterScoped that it has no namespace, onlyHelmDeletes that no edit deletes
	// the object, because that takes time.
	scales, clusterScoped, onlyHelmDeletes bool
	// weight is how often the kind is drawn.
	weight int
}

// knob is one variable of an object: its n-th position sets the n-th value at each of its paths.
type knob struct {
	paths  []fieldPath
	values [][]any
}

// writtenNull is the pool's notation of a null in the manifest.
const writtenNull = "NULL"

// usualWeight is the default weight of a kind.
const usualWeight = 4

func loadPool() ([]poolKind, error) {
	files, err := filepath.Glob(filepath.Join(poolDir, "[a-z]*.yaml"))
	if err != nil {
		return nil, err
	}
	out := make([]poolKind, len(files))
	for i, file := range files {
		text, err := readPoolFile(file)
		if err == nil {
			out[i], err = newPoolKind(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return out, nil
}

func newPoolKind(text map[string]any) (poolKind, error) {
	out := poolKind{weight: usualWeight, versionKnobs: map[string][]knob{}}
	out.object, _ = text["object"].(map[string]any)
	out.name = strings.ToLower(fmt.Sprint(out.object["kind"]))
	out.scales, _ = text["scales"].(bool)
	out.clusterScoped, _ = text["clusterScoped"].(bool)
	out.onlyHelmDeletes, _ = text["onlyHelmDeletes"].(bool)
	if weight, ok := text["weight"].(int64); ok {
		out.weight = int(weight)
	}
	out.versions = []string{fmt.Sprint(out.object["apiVersion"])}
	others, _ := text["versions"].([]any)
	for _, version := range others {
		out.versions = append(out.versions, fmt.Sprint(version))
	}
	var err error
	if out.knobs, err = knobsOf(text, "knobs", ""); err != nil {
		return out, err
	}
	if out.editKnobs, err = knobsOf(text, "edits", ""); err != nil {
		return out, err
	}
	if out.risks, err = knobsOf(text, "risks", ""); err != nil {
		return out, err
	}
	at, _ := text["at"].(map[string]any)
	for version := range at {
		if out.versionKnobs[version], err = knobsOf(at, version, ""); err != nil {
			return out, err
		}
	}
	return out, nil
}

// knobsAt returns the knobs of an object at a version.
func (k *poolKind) knobsAt(version string) []knob {
	return slices.Concat(k.knobs, k.versionKnobs[version])
}

// draw returns a random kind of the pool, by weight.
func draw(pool []poolKind, r *rand.Rand) *poolKind {
	sum := 0
	for i := range pool {
		sum += pool[i].weight
	}
	n := r.IntN(sum)
	for i := range pool {
		if n -= pool[i].weight; n < 0 {
			return &pool[i]
		}
	}
	return nil
}

// readPoolFile parses a YAML file; integers stay integers.
func readPoolFile(file string) (map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	body, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out := map[string]any{}
	return out, utiljson.Unmarshal(body, &out)
}

// knobsOf returns the knobs of a file and of the files that it includes, with their paths below prefix.
func knobsOf(text map[string]any, under, prefix string) ([]knob, error) {
	var out []knob
	list, _ := text[under].([]any)
	for _, item := range list {
		made, err := newKnob(item.(map[string]any), prefix)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	included, _ := text["include"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(included)) {
		other, err := readPoolFile(filepath.Join(poolDir, name+".yaml"))
		if err != nil {
			return nil, err
		}
		below, _ := included[name].(string)
		if below != "" {
			below += "."
		}
		knobs, err := knobsOf(other, under, below)
		if err != nil {
			return nil, err
		}
		out = append(out, knobs...)
	}
	return out, nil
}

func newKnob(text map[string]any, prefix string) (knob, error) {
	var out knob
	for _, path := range slices.Sorted(maps.Keys(text)) {
		parsed, err := parsePath(prefix + path)
		if err != nil {
			return out, err
		}
		values, _ := text[path].([]any)
		if len(values) < 1 || len(out.values) > 0 && len(values) != len(out.values[0]) {
			return out, fmt.Errorf("%s has %d values", path, len(values))
		}
		out.paths, out.values = append(out.paths, parsed), append(out.values, values)
	}
	return out, nil
}

// turn sets the knob to a random position and reports whether that changed the object.
func (k knob) turn(obj map[string]any, r *rand.Rand) bool {
	position := r.IntN(len(k.values[0]))
	changed := false
	for i, path := range k.paths {
		value := k.values[i][position]
		was, had := path.lookup(obj)
		changed = changed || had != (value != nil) || had && !equalValues(was, value)
		path.put(obj, value)
	}
	return changed
}

// drop removes the values at the knob's paths.
func (k knob) drop(obj map[string]any) {
	for _, path := range k.paths {
		path.remove(obj)
	}
}
