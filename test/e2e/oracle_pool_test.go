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

// poolDir holds the kinds of objects that the oracle builds charts of; its README says how they are written.
const poolDir = "testdata/oracle"

// poolKind is one kind of the pool.
type poolKind struct {
	// name is the kind in lower case, as stories write it.
	name   string
	object map[string]any
	// versions are the apiVersions that charts and others write the object at; the first is the object's own.
	versions []string
	knobs    []knob
	// at are the knobs of one version.
	versionKnobs map[string][]knob
	// hands are what only a hand turns, on live: a chart that does so is another chart.
	editKnobs []knob
	// risks are what only a new version of the chart turns, seldom: the API may refuse what comes out.
	risks []knob
	// scales tells that the kind has the scale subresource, wide that it has no namespace, stays that nobody but Helm deletes the
	// object, as that takes its time.
	scales, clusterScoped, onlyHelmDeletes bool
	// weight is how often the kind is drawn.
	weight int
}

// knob is one thing that varies in an object: in its n-th position the n-th value stands at each of its paths.
type knob struct {
	paths  []fieldPath
	values [][]any
}

// writtenNull is what the pool writes for a null that stands in the manifest.
const writtenNull = "NULL"

// usualWeight is that of a kind that does not say otherwise.
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

// turnable are the knobs of an object at a version.
func (k *poolKind) knobsAt(version string) []knob {
	return slices.Concat(k.knobs, k.versionKnobs[version])
}

// draw takes a kind of the pool by its weight.
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

// readPoolFile reads YAML; integers stay integers.
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

// knobsOf gives the knobs of a file and of those it includes, their paths below prefix.
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

// turn puts the knob to a random position, and tells whether that changed the object.
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

// drop takes away what the knob leads to.
func (k knob) drop(obj map[string]any) {
	for _, path := range k.paths {
		path.remove(obj)
	}
}
