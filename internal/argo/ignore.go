package argo

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file reads what Argo CD ignores: spec.ignoreDifferences, annotations of objects and the keys of argocd-cm, which count together
// (argo-cd v3.6.1 util/argo/diff/ignore.go, util/argo/normalizers/diff_normalizer.go NewIgnoreNormalizer).

// These are the keys of argocd-cm with what is ignored, and the annotation of an object. The first key has all kinds. The second
// begins many keys: each ends with a group and a kind, or with all.
const (
	overridesKey     = "resource.customizations"
	ignoreKey        = overridesKey + ".ignoreDifferences."
	ignoreAnnotation = "argocd.argoproj.io/ignore-differences"
)

// systemIgnores returns the differences that argocd-cm ignores (argo-cd v3.6.1 util/settings/settings.go GetResourceOverrides). A key of one
// kind takes the place of what the key of all kinds says about it.
func systemIgnores(data map[string]any) []ignoreDifference {
	found := map[string]string{}
	var overrides map[string]struct {
		IgnoreDifferences string `json:"ignoreDifferences"`
	}
	if all, _ := data[overridesKey].(string); yaml.Unmarshal([]byte(all), &overrides) == nil {
		for name, override := range overrides {
			found[name] = override.IgnoreDifferences
		}
	}
	for key := range data {
		if name, isOne := strings.CutPrefix(key, ignoreKey); isOne {
			text, _ := data[key].(string)
			if name == "all" {
				name = "*_*"
			}
			found[strings.Replace(name, "_", "/", 1)] = text
		}
	}
	var out []ignoreDifference
	for _, name := range slices.Sorted(maps.Keys(found)) {
		var one ignoreDifference
		if yaml.Unmarshal([]byte(found[name]), &one) != nil {
			continue
		}
		one.Name, one.Namespace, one.from = "", "", "argocd-cm "+overridesKey+" of "+name
		var hasGroup bool
		if one.Group, one.Kind, hasGroup = strings.Cut(name, "/"); !hasGroup {
			one.Group, one.Kind = "", name
		}
		out = append(out, one)
	}
	return out
}

// ignores returns all that Argo CD ignores for the Application, in the order of the removals.
func (p *Plan) ignores() []ignoreDifference {
	var out []ignoreDifference
	for i, d := range p.app.Spec.IgnoreDifferences {
		d.from = fmt.Sprintf("%s ignoreDifferences[%d]", p.app.title(), i)
		out = append(out, d)
	}
	if p.made != nil {
		for _, o := range p.made.objects {
			out = append(out, annotated(o)...)
		}
	}
	return append(out, p.settings.ignores...)
}

// annotated returns the difference that the annotation of an object ignores, or none (argo-cd v3.6.1 util/argo/diff/ignore.go
// ExtractIgnoreDifferencesFromAnnotations). It has only jsonPointers.
func annotated(o object.Object) []ignoreDifference {
	text, _ := object.Child(object.Child(o.Content, "metadata"), "annotations")[ignoreAnnotation].(string)
	var own ignoreDifference
	if text == "" || yaml.Unmarshal([]byte(text), &own) != nil || len(own.JSONPointers) == 0 {
		return nil
	}
	return []ignoreDifference{{
		Group: o.Group, Kind: o.Kind, Name: o.Name, Namespace: o.Namespace, JSONPointers: own.JSONPointers, from: "annotation " + ignoreAnnotation,
	}}
}

// rules returns the ignored differences as rules. jsonPointers have the form of the paths of a rule. What expressions select and managers own
// differs from object to object.
func (p *Plan) rules() []report.RuleText {
	var out []report.RuleText
	for _, d := range p.ignores() {
		target := &report.TargetText{
			Group: globExpression(d.Group), Kind: globExpression(d.Kind), Name: exactExpression(d.Name), Namespace: exactExpression(d.Namespace),
		}
		if len(d.JSONPointers) > 0 {
			out = append(out, report.RuleText{Name: d.from, Paths: d.JSONPointers, Target: target, Reason: ignoreReason})
		}
	}
	return append(out, p.selected...)
}

// ignoreReason is the reason of all these rules.
const ignoreReason = "Argo CD ignores it"

// globExpression returns a regular expression for a pattern. In the pattern, * and ? stand for any letters. The core group is the empty pattern.
func globExpression(pattern string) string {
	quoted := regexp.QuoteMeta(pattern)
	return "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(quoted) + "$"
}

// exactExpression returns a regular expression for a name, or "" for every name.
func exactExpression(name string) string {
	if name == "" {
		return ""
	}
	return "^" + regexp.QuoteMeta(name) + "$"
}

// isAbout reports whether a difference is about an object.
func (d ignoreDifference) isAbout(key object.Key) bool {
	return matchesGlob(d.Group, key.Group) && matchesGlob(d.Kind, key.Kind) && (d.Name == "" || d.Name == key.Name) &&
		(d.Namespace == "" || d.Namespace == key.Namespace)
}
