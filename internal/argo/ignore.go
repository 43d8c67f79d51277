package argo

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file reads what Argo CD ignores: spec.ignoreDifferences and the keys of argocd-cm, which count together (argo-cd v3.6.1
// util/argo/normalizers/diff_normalizer.go NewDiffNormalizer).

const ignoreKey = "resource.customizations.ignoreDifferences."

// systemIgnores returns the differences that argocd-cm ignores. A key ends with a group and a kind, or with all.
func systemIgnores(data map[string]any) []ignoreDifference {
	var out []ignoreDifference
	for _, key := range slices.Sorted(maps.Keys(data)) {
		name, found := strings.CutPrefix(key, ignoreKey)
		text, _ := data[key].(string)
		if !found {
			continue
		}
		one := ignoreDifference{Kind: name}
		if group, kind, hasGroup := strings.Cut(name, "_"); hasGroup {
			one.Group, one.Kind = group, kind
		}
		if name == "all" {
			one.Group, one.Kind = "*", "*"
		}
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil || json.Unmarshal(raw, &one) != nil {
			continue
		}
		out = append(out, one)
	}
	return out
}

// ignores returns all that Argo CD ignores for the Application.
func (p *Plan) ignores() []ignoreDifference {
	return slices.Concat(p.app.Spec.IgnoreDifferences, p.settings.ignores)
}

// rules returns the ignored differences as rules. jsonPointers have the form of the paths of a rule.
func (p *Plan) rules() []report.RuleText {
	var out []report.RuleText
	for i, d := range p.ignores() {
		name := fmt.Sprintf("%s ignoreDifferences[%d]", p.app.title(), i)
		if i >= len(p.app.Spec.IgnoreDifferences) {
			name = fmt.Sprintf("argocd-cm %s%s_%s", ignoreKey, d.Group, d.Kind)
		}
		target := &report.TargetText{
			Group: globExpression(d.Group), Kind: globExpression(d.Kind), Name: exactExpression(d.Name), Namespace: exactExpression(d.Namespace),
		}
		const reason = "Argo CD ignores it"
		if len(d.JSONPointers) > 0 {
			out = append(out, report.RuleText{Name: name, Paths: d.JSONPointers, Target: target, Reason: reason})
		}
		if len(d.ManagedFieldsManagers) > 0 {
			out = append(out, report.RuleText{Name: name, Managers: d.ManagedFieldsManagers, Target: target, Reason: reason})
		}
	}
	return out
}

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

// ignoredAt returns the places of an object that jsonPointers name.
func (p *Plan) ignoredAt(content map[string]any) []object.Pointer {
	key := keyOf(content)
	var out []object.Pointer
	for _, d := range p.ignores() {
		if !d.isAbout(key) {
			continue
		}
		for _, text := range d.JSONPointers {
			if pointer := pointerOf(text); len(pointer) > 0 {
				out = append(out, pointer)
			}
		}
	}
	return out
}

// keyOf returns the key of an object.
func keyOf(content map[string]any) object.Key {
	meta := object.Child(content, "metadata")
	version, _ := content["apiVersion"].(string)
	out := object.Key{}
	if group, _, found := strings.Cut(version, "/"); found {
		out.Group = group
	}
	out.Kind, _ = content["kind"].(string)
	out.Namespace, _ = meta["namespace"].(string)
	out.Name, _ = meta["name"].(string)
	return out
}

// pointerOf reads a JSON pointer.
func pointerOf(text string) object.Pointer {
	var out object.Pointer
	for token := range strings.SplitSeq(strings.TrimPrefix(text, "/"), "/") {
		out = append(out, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return out
}

// hasExpression reports whether Argo CD ignores places of an object that only jq finds.
func (p *Plan) hasExpression(key object.Key) bool {
	return slices.ContainsFunc(p.ignores(), func(d ignoreDifference) bool { return len(d.JQPathExpressions) > 0 && d.isAbout(key) })
}
