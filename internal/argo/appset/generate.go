package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dario.cat/mergo"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file generates the Applications of an ApplicationSet (argo-cd v3.6.1 applicationset/controllers/template/template.go
// GenerateApplications, applicationset/generators). Generators and templates stay maps: each of their strings may be a template.

// set is an ApplicationSet.
type set struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		GoTemplate        bool             `json:"goTemplate"`
		GoTemplateOptions []string         `json:"goTemplateOptions"`
		Generators        []map[string]any `json:"generators"`
		Template          map[string]any   `json:"template"`
		TemplatePatch     *string          `json:"templatePatch"`
		SyncPolicy        struct {
			PreserveResourcesOnDeletion bool   `json:"preserveResourcesOnDeletion"`
			ApplicationsSync            string `json:"applicationsSync"`
		} `json:"syncPolicy"`
		PreservedFields              api.Preserved `json:"preservedFields"`
		IgnoreApplicationDifferences []any         `json:"ignoreApplicationDifferences"`
		Strategy                     struct {
			Type        string          `json:"type"`
			RollingSync json.RawMessage `json:"rollingSync"`
		} `json:"strategy"`
	} `json:"spec"`
}

// generation generates the Applications of one set.
type generation struct {
	*builder
	set set
	// depends are the options of Argo CD with which the set makes something else.
	depends []api.SetOption
}

// params are the parameters of one Application.
type params = map[string]any

// title names the set in messages.
func (g *generation) title() string {
	return Set{Namespace: g.set.Metadata.Namespace, Name: g.set.Metadata.Name}.Title()
}

// elsewhereError is about a generator whose parameters are not in the tree, or cannot be found there. Argo CD may find them.
type elsewhereError struct{ error }

// generate adds the Applications of an ApplicationSet. What goes wrong is a problem of the set. If something fails, Argo CD changes none of
// its Applications (argo-cd v3.6.1 applicationset/controllers/applicationset_controller.go Reconcile).
func (b *builder) generate(content map[string]any, file string) {
	g := &generation{builder: b}
	text, err := json.Marshal(content)
	if err == nil {
		err = json.Unmarshal(text, &g.set)
	}
	if err != nil {
		b.problem(file, errors.New("an ApplicationSet has a field of another type than Argo CD gives it"))
		return
	}
	var doubts []string
	if len(g.set.Spec.IgnoreApplicationDifferences) > 0 {
		b.problem(g.title(), errors.New("ignoreApplicationDifferences keeps fields of the Applications in the cluster, which helmdrift "+
			"does not resolve"))
		doubts = b.answer.Problems[len(b.answer.Problems)-1:]
	}
	if strategy := g.set.Spec.Strategy; strategy.Type == "RollingSync" && api.IsSet(strategy.RollingSync) {
		g.dependsOn(api.SetSteps)
	}
	var made []map[string]any
	fails, isKnown := false, true
	for i, generator := range g.set.Spec.Generators {
		found, err := g.transform(generator, g.set.Spec.Template, nil, 0)
		switch _, isElsewhere := errors.AsType[elsewhereError](err); {
		case isElsewhere:
			b.problem(g.title(), fmt.Errorf("spec.generators[%d]: %w", i, err))
			isKnown = false
		case err != nil:
			b.problem(g.title(), fmt.Errorf("spec.generators[%d]: %w; Argo CD then changes none of its Applications", i, err))
			fails = true
		}
		for _, one := range found {
			all, err := g.renderAll(one)
			if err != nil {
				b.problem(g.title(), fmt.Errorf("%w; Argo CD then changes none of its Applications", err))
				fails = true
			}
			made = append(made, all...)
		}
	}
	set := Set{
		Namespace: g.set.Metadata.Namespace, Name: g.set.Metadata.Name, IsPartial: fails || !isKnown,
		Policy: g.set.Spec.SyncPolicy.ApplicationsSync, Doubts: slices.Clone(doubts), Depends: g.depends,
	}
	for _, one := range made {
		set.Makes = append(set.Makes, object.RefOf(one).Name)
	}
	b.answer.Sets = append(b.answer.Sets, set)
	if !fails {
		g.addValid(made, file)
	}
}

// dependsOn adds an option with which the set makes something else.
func (g *generation) dependsOn(o api.SetOption) {
	if !slices.Contains(g.depends, o) {
		g.depends = append(g.depends, o)
	}
}

// renderAll makes the Applications of a result.
func (g *generation) renderAll(from result) (out []map[string]any, err error) {
	for _, p := range from.params {
		made, err := g.render(from.template, p)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// addValid adds the Applications that Argo CD accepts and the API server stores (applicationset_controller.go
// validateGeneratedApplications). Of those with the same name, it accepts none. Whether their projects exist is not looked at.
func (g *generation) addValid(made []map[string]any, file string) {
	count := map[string]int{}
	for _, one := range made {
		count[object.RefOf(one).Name]++
	}
	for _, one := range made {
		name := object.RefOf(one).Name
		switch err := check(one); {
		case count[name] == 0: // the message was there
		case count[name] > 1:
			count[name] = 0
			g.problem(g.title(), fmt.Errorf("it generates several Applications with the name %s, and Argo CD changes none of them", name))
		case err != nil:
			g.problem(g.title(), fmt.Errorf("it generates the Application %s, which is refused: %w", name, err))
		default:
			g.addMade(one, Made{
				File: file, By: g.title(), Set: g.set.Metadata.Name, Policy: g.set.Spec.SyncPolicy.ApplicationsSync,
				Preserved: g.set.Spec.PreservedFields,
			})
		}
	}
}

// check returns why Argo CD or the API server refuses an Application.
func check(content map[string]any) error {
	text, err := json.Marshal(content)
	var a struct {
		Metadata metav1.ObjectMeta
		Spec     struct{ Destination struct{ Server, Name string } }
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(text, &a), api.CheckTypes(content))
	}
	if err != nil {
		return err
	}
	switch d := a.Spec.Destination; {
	case a.Metadata.Name == "":
		return errors.New("it has no name")
	case d.Server == "" && d.Name == "":
		return errors.New("spec.destination has neither a server nor a name")
	case d.Server != "" && d.Name != "":
		return errors.New("spec.destination has both a server and a name")
	}
	return validation.ValidateObjectMeta(
		&a.Metadata, a.Metadata.Namespace != "", validation.NameIsDNSSubdomain, field.NewPath("metadata"),
	).ToAggregate()
}

// render makes an Application of a template and its parameters. It is in the namespace of the set. Without parameters, the template stays
// as it is. With them, an Application whose template has no finalizer gets that of Argo CD: deleting it deletes its objects (argo-cd v3.6.1
// applicationset/utils/utils.go RenderTemplateParams).
func (g *generation) render(template map[string]any, p params) (map[string]any, error) {
	content := map[string]any{"apiVersion": api.Group + "/v1alpha1", "kind": "Application"}
	for _, part := range []string{"metadata", "spec"} {
		value, err := g.replaceAll(template[part], p, g.set.Spec.GoTemplateOptions)
		if len(p) == 0 {
			value, err = template[part], nil
		}
		if err != nil {
			return nil, err
		}
		if value != nil {
			content[part] = value
		}
	}
	if metadata, isMap := content["metadata"].(map[string]any); isMap && len(p) > 0 && object.IsZero(metadata["finalizers"]) &&
		!g.set.Spec.SyncPolicy.PreserveResourcesOnDeletion {
		metadata["finalizers"] = []any{api.Finalizer}
	}
	content, err := g.patched(content, p)
	if err != nil {
		return nil, err
	}
	metadata, isMap := content["metadata"].(map[string]any)
	if !isMap {
		return nil, errors.New("spec.template has no metadata")
	}
	metadata = maps.Clone(metadata)
	content["metadata"] = metadata
	if delete(metadata, "namespace"); g.set.Metadata.Namespace != "" {
		metadata["namespace"] = g.set.Metadata.Namespace
	}
	return content, nil
}

// patched applies spec.templatePatch, a strategic patch. It cannot change the project (argo-cd v3.6.1
// applicationset/controllers/template/patch.go).
func (g *generation) patched(content map[string]any, p params) (map[string]any, error) {
	if g.set.Spec.TemplatePatch == nil {
		return content, nil
	}
	text, err := g.replace(*g.set.Spec.TemplatePatch, p, g.set.Spec.GoTemplateOptions)
	if err != nil {
		return nil, fmt.Errorf("spec.templatePatch: %w", err)
	}
	var patch map[string]any
	if strings.HasPrefix(strings.TrimSpace(text), "{") && !json.Valid([]byte(text)) {
		return nil, errors.New("spec.templatePatch begins with { and is no JSON")
	}
	if err := yaml.Unmarshal([]byte(text), &patch); err != nil {
		return nil, fmt.Errorf("spec.templatePatch is no object in YAML: %w", yamlerror.WithoutValues(err))
	}
	if err := api.CheckTypes(patch); err != nil {
		return nil, fmt.Errorf("spec.templatePatch: %w", err)
	}
	was, _ := content["spec"].(map[string]any)
	project := was["project"]
	out, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(copied(content), patch, patchRules("Application"))
	if err != nil {
		return nil, fmt.Errorf("spec.templatePatch: %w", err)
	}
	if spec, isMap := out["spec"].(map[string]any); isMap {
		if spec["project"] = project; project == nil {
			delete(spec, "project")
		}
	}
	return out, nil
}

// patchRules has what a strategic patch of an Application needs to know of a field, whose name it is: nearly all lists are replaced.
type patchRules string

// Name implements strategicpatch.LookupPatchMeta.
func (r patchRules) Name() string { return string(r) }

// LookupPatchMetadataForStruct implements strategicpatch.LookupPatchMeta. Argo CD does not know the fields of values, so it cannot merge
// them.
func (r patchRules) LookupPatchMetadataForStruct(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	if r == "valuesObject" {
		return nil, strategicpatch.PatchMeta{}, fmt.Errorf("valuesObject.%s cannot be merged", key)
	}
	return patchRules(key), strategicpatch.PatchMeta{}, nil
}

// LookupPatchMetadataForSlice implements strategicpatch.LookupPatchMeta.
func (r patchRules) LookupPatchMetadataForSlice(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	rules, meta, err := r.LookupPatchMetadataForStruct(key)
	if r == "metadata" && key == "finalizers" {
		meta.SetPatchStrategies([]string{"merge"})
	}
	return rules, meta, err
}

// result is what one generator makes: a template, and the parameters of each Application.
type result struct {
	template map[string]any
	params   []params
}

// transform runs a generator. Its own template counts before the other one. Outer are the parameters of the generator around it, if there
// is one (argo-cd v3.6.1 applicationset/generators/generator_spec_processor.go Transform).
func (g *generation) transform(generator, template map[string]any, outer params, depth int) (out []result, err error) {
	selector, err := newSelector(generator["selector"])
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, kind := range slices.Sorted(maps.Keys(generator)) {
		if kind == "selector" || generator[kind] == nil {
			continue
		}
		spec, isMap := generator[kind].(map[string]any)
		if !isMap {
			faults = append(faults, fmt.Errorf("the generator %s is no object", kind))
			continue
		}
		own, _ := spec["template"].(map[string]any)
		found, err := g.run(kind, spec, outer, depth)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		found = slices.DeleteFunc(found, func(p params) bool { return !selector.matches(flat(p)) })
		out = append(out, result{filled(own, template), found})
	}
	return out, errors.Join(faults...)
}

// run runs a generator of a kind.
func (g *generation) run(kind string, spec map[string]any, outer params, depth int) ([]params, error) {
	var do func(spec map[string]any) ([]params, error)
	if depth == maxNested && (kind == "matrix" || kind == "merge") {
		return nil, errors.New("a matrix or a merge inside two others is none for Argo CD")
	}
	switch kind {
	case "list":
		do = g.list
	case "git":
		do = g.git
	case "matrix":
		do = func(spec map[string]any) ([]params, error) { return g.matrix(spec, depth) }
	case "merge":
		do = func(spec map[string]any) ([]params, error) { return g.merge(spec, depth) }
	case "clusters", "scmProvider", "pullRequest", "plugin", "clusterDecisionResource", "oci":
		return nil, elsewhereError{fmt.Errorf("the generator %s asks for what is not in the tree, so its Applications are not known", kind)}
	default:
		return nil, fmt.Errorf("there is no generator %s", kind)
	}
	if len(outer) > 0 {
		var err error
		if spec, err = g.interpolated(kind, spec, outer); err != nil {
			return nil, err
		}
	}
	found, err := do(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	if len(found) > maxApplications {
		return nil, fmt.Errorf("%s: it makes more than %d sets of parameters", kind, maxApplications)
	}
	return found, nil
}

// interpolated replaces the parameters of another generator in a generator. The values of a git generator, also of one inside it, may name
// its own parameters, which are not known yet (argo-cd v3.6.1 applicationset/utils/utils.go RenderGeneratorParams).
func (g *generation) interpolated(kind string, spec map[string]any, outer params) (map[string]any, error) {
	rest := maps.Clone(spec)
	delete(rest, "generators")
	values, hasValues := spec["values"].(map[string]any)
	if hasValues = hasValues && kind == "git"; hasValues {
		delete(rest, "values")
	}
	replaced, err := g.replaceAll(rest, outer, g.set.Spec.GoTemplateOptions)
	if err != nil {
		return nil, err
	}
	out, _ := replaced.(map[string]any)
	if kind == "matrix" || kind == "merge" {
		out["generators"], err = g.interpolatedChildren(spec, outer)
		return out, err
	}
	if !hasValues {
		return out, nil
	}
	strict := append(slices.DeleteFunc(slices.Clone(g.set.Spec.GoTemplateOptions), func(o string) bool {
		return strings.HasPrefix(o, "missingkey=")
	}), "missingkey=error")
	known := map[string]any{}
	for name, value := range values {
		text, _ := value.(string)
		done, err := g.replace(text, outer, strict)
		switch {
		case err != nil && isMissing(err):
			done = text
		case err != nil:
			return nil, err
		}
		known[name] = done
	}
	out["values"] = known
	return out, nil
}

// interpolatedChildren replaces the parameters of another generator in the generators inside a generator.
func (g *generation) interpolatedChildren(spec map[string]any, outer params) (out []any, err error) {
	all, err := children(spec)
	for _, child := range all {
		is := params{}
		for kind, value := range child {
			if git, isMap := value.(map[string]any); isMap && kind == "git" {
				is[kind], err = g.interpolated(kind, git, outer)
			} else {
				is[kind], err = g.replaceAll(value, outer, g.set.Spec.GoTemplateOptions)
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, is)
	}
	return out, err
}

// list returns the elements of a list (argo-cd v3.6.1 applicationset/generators/list.go).
func (g *generation) list(spec map[string]any) ([]params, error) {
	var out []params
	elements, _ := spec["elements"].([]any)
	for i, element := range elements {
		fields, isMap := element.(map[string]any)
		if !isMap {
			return nil, fmt.Errorf("elements[%d] is no object", i)
		}
		if !g.set.Spec.GoTemplate {
			var err error
			if fields, err = plainElement(fields); err != nil {
				return nil, fmt.Errorf("elements[%d]: %w", i, err)
			}
		}
		out = append(out, fields)
	}
	if text, _ := spec["elementsYaml"].(string); text != "" {
		var more []params
		if err := yaml.Unmarshal([]byte(text), &more); err != nil {
			return nil, fmt.Errorf("elementsYaml is no list of objects: %w", yamlerror.WithoutValues(err))
		}
		out = append(out, more...)
	}
	return out, nil
}

// plainElement returns an element for the plain form, whose parameters are texts. The names of those below values begin with "values.".
func plainElement(fields map[string]any) (params, error) {
	out := params{}
	for name, value := range fields {
		values, isMap := value.(map[string]any)
		if name != "values" {
			values = map[string]any{name: value}
		} else if !isMap {
			return nil, errors.New("values is no object")
		}
		for inner, value := range values {
			text, isText := value.(string)
			if !isText {
				return nil, fmt.Errorf("%s is no text", inner)
			}
			if name == "values" {
				inner = "values." + inner
			}
			out[inner] = text
		}
	}
	return out, nil
}

// children returns the generators inside another one.
func children(spec map[string]any) ([]map[string]any, error) {
	all, _ := spec["generators"].([]any)
	var out []map[string]any
	for i, one := range all {
		generator, isMap := one.(map[string]any)
		if !isMap {
			return nil, fmt.Errorf("generators[%d] is no object", i)
		}
		out = append(out, generator)
	}
	return out, nil
}

// child runs a generator inside another one, which makes one result.
func (g *generation) child(generator map[string]any, outer params, depth int) ([]params, error) {
	found, err := g.transform(generator, nil, outer, depth+1)
	switch {
	case err != nil:
		return nil, err
	case len(found) != 1:
		return nil, errors.New("a generator inside another one has one kind")
	}
	return found[0].params, nil
}

// matrix combines the parameters of two generators. The second one may have templates with parameters of the first
// (argo-cd v3.6.1 applicationset/generators/matrix.go).
func (g *generation) matrix(spec map[string]any, depth int) ([]params, error) {
	all, err := children(spec)
	if err == nil && len(all) != 2 {
		err = errors.New("it takes two generators")
	}
	if err != nil {
		return nil, err
	}
	first, err := g.child(all[0], nil, depth)
	if err != nil {
		return nil, err
	}
	var out []params
	for _, a := range first {
		second, err := g.child(all[1], a, depth)
		if err != nil {
			return nil, err
		}
		for _, b := range second {
			both, err := g.both(a, b)
			if err != nil {
				return nil, err
			}
			if out = append(out, both); len(out) > maxApplications {
				return nil, fmt.Errorf("it makes more than %d sets of parameters", maxApplications)
			}
		}
	}
	return out, nil
}

// both returns the parameters of two generators. With Go templates those of the first count; without, both must say the same.
func (g *generation) both(a, b params) (params, error) {
	if g.set.Spec.GoTemplate {
		out := params{}
		for _, from := range []params{b, a} {
			if err := mergo.Merge(&out, copied(from), mergo.WithOverride); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	out := params{}
	for _, from := range []params{a, b} {
		for name, value := range from {
			text := fmt.Sprint(value)
			if was, found := out[name]; found && was != text {
				return nil, fmt.Errorf("both generators have the parameter %s, with different values", name)
			}
			out[name] = text
		}
	}
	return out, nil
}

// merge overrides the parameters of the first generator with those of the others that have the same merge keys
// (argo-cd v3.6.1 applicationset/generators/merge.go).
func (g *generation) merge(spec map[string]any, depth int) ([]params, error) {
	all, err := children(spec)
	keys, _ := spec["mergeKeys"].([]any)
	switch {
	case err != nil:
		return nil, err
	case len(all) < 2:
		return nil, errors.New("it takes two generators or more")
	case len(keys) == 0:
		return nil, errors.New("it has no mergeKeys")
	}
	var out []params
	for i, generator := range all {
		found, err := g.child(generator, nil, depth)
		if err != nil {
			return nil, err
		}
		byKey := map[string]params{}
		for _, p := range found {
			key := keyOf(p, keys)
			if byKey[key] != nil {
				return nil, fmt.Errorf("generators[%d] has two sets of parameters with the merge keys %s", i, key)
			}
			byKey[key] = p
		}
		if i == 0 {
			out = found
			continue
		}
		for j := range out {
			if over := byKey[keyOf(out[j], keys)]; over != nil {
				if out[j], err = g.overridden(out[j], over); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// overridden returns parameters with others over them.
func (g *generation) overridden(p, over params) (params, error) {
	out := copied(p)
	if !g.set.Spec.GoTemplate {
		maps.Copy(out, over)
		return out, nil
	}
	err := mergo.Merge(&out, copied(over), mergo.WithOverride)
	return out, err
}

// keyOf returns the merge keys of parameters as text.
func keyOf(p params, keys []any) string {
	out := params{}
	for _, key := range keys {
		if name, isText := key.(string); isText {
			out[name] = p[name]
		}
	}
	text, _ := json.Marshal(out)
	return string(text)
}

// copied returns a copy of parameters, which the functions that merge would change.
func copied(p params) params {
	out, _ := object.Copy(p).(params)
	if values, isTexts := out["values"].(map[string]string); isTexts { // those of a git generator
		out["values"] = maps.Clone(values)
	}
	return out
}

// filled returns a template with what it lacks from another one.
func filled(own, from map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, own)
	for name, value := range from {
		inner, isMap := value.(map[string]any)
		ownInner, isOwnMap := out[name].(map[string]any)
		switch {
		case isMap && isOwnMap && name != "valuesObject":
			out[name] = filled(ownInner, inner)
		case object.IsZero(out[name]) && (name != "valuesObject" || out[name] == nil):
			out[name] = value
		}
	}
	return out
}
