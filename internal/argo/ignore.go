package argo

import (
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file reads what Argo CD ignores: spec.ignoreDifferences, annotations of objects and the keys of argocd-cm, which count together
// (argo-cd v3.6.1 util/argo/diff/ignore.go, util/argo/normalizers/diff_normalizer.go NewIgnoreNormalizer).

// ignoreAnnotation is the annotation of an object with what is ignored of it.
const ignoreAnnotation = "argocd.argoproj.io/ignore-differences"

// compareOptions is the key that says what is ignored of all objects.
const compareOptions = "argocd-cm resource.compareoptions"

// ignores returns all that Argo CD ignores for the Application, in the order of the removals.
func (p *Plan) ignores() []api.IgnoreDifference {
	var out []api.IgnoreDifference
	for i, d := range p.app.Spec.IgnoreDifferences {
		d.From = fmt.Sprintf("%s ignoreDifferences[%d]", p.app.Title(), i)
		out = append(out, d)
	}
	for _, o := range p.made.objects {
		out = append(out, annotated(o)...)
		if p.settings.IgnoresStatus(o) {
			out = append(out, onlyAbout(o.Key, []string{"/status"}, compareOptions))
		}
		if p.settings.IgnoresRules(o) {
			rules := onlyAbout(o.Key, []string{"/rules"}, compareOptions)
			rules.IsOverwritten = true // argo-cd v3.6.1 controller/sync.go normalizeTargetResources does not look at it
			out = append(out, rules)
		}
	}
	return append(out, p.settings.Ignores...)
}

// annotated returns the difference that the annotation of an object ignores, or none (argo-cd v3.6.1 util/argo/diff/ignore.go
// ExtractIgnoreDifferencesFromAnnotations). It has only jsonPointers.
func annotated(o object.Object) []api.IgnoreDifference {
	text := argocd.Annotation(o.Content, ignoreAnnotation)
	var own api.IgnoreDifference
	if text == "" || yaml.Unmarshal([]byte(text), &own) != nil || len(own.JSONPointers) == 0 {
		return nil
	}
	return []api.IgnoreDifference{onlyAbout(o.Key, own.JSONPointers, "annotation "+ignoreAnnotation)}
}

// onlyAbout returns a difference that is about one object.
func onlyAbout(key object.Key, pointers []string, from string) api.IgnoreDifference {
	return api.IgnoreDifference{Group: key.Group, Kind: key.Kind, Name: key.Name, Namespace: key.Namespace, JSONPointers: pointers, From: from}
}

// rules returns the ignored differences as rules. Argo CD overlooks what stands before the first slash of a pointer, and a pointer without one
// names nothing (evanphx/json-patch v4.13.0 patch.go findObject). What expressions select and managers own differs from object to object.
func (p *Plan) rules() []report.RuleText {
	var out []report.RuleText
	add := func(d api.IgnoreDifference) {
		var pointers []string
		for _, p := range d.JSONPointers {
			if _, path, hasSlash := strings.Cut(p, "/"); hasSlash {
				pointers = append(pointers, "/"+path)
			}
		}
		if len(pointers) == 0 {
			return // no paths would be all of them
		}
		out = append(out, report.RuleText{
			Name: d.From, Origin: report.ControllerArgo, Paths: pointers, Literal: true, Reason: ignoreReason,
			Target: &report.TargetText{
				Group: globExpression(d.Group), Kind: globExpression(d.Kind), Name: exactExpression(d.Name), Namespace: exactExpression(d.Namespace),
			},
		})
	}
	for _, d := range p.ignores() {
		switch isSimple := !strings.ContainsAny(d.Group+d.Kind, `[{\`); {
		case len(d.JSONPointers) == 0:
		case isSimple:
			add(d)
		default:
			for _, o := range p.made.objects {
				if d.IsAbout(o.Key) {
					add(onlyAbout(o.Key, d.JSONPointers, d.From))
				}
			}
		}
	}
	return append(out, p.selected...)
}

// ignoreReason is the reason of all these rules.
const ignoreReason = "Argo CD ignores it"

// globExpression returns a regular expression for a pattern. In the pattern, * and ? stand for any letters. The core group is the empty
// pattern.
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
