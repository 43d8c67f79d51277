package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// fixResult is as much of a FixResult as tests look at.
type fixResult struct {
	Kind    string       `json:"kind"`
	DryRun  string       `json:"dryRun"`
	Plan    []fixPlan    `json:"plan"`
	Results []fixOutcome `json:"results"`
	After   *driftReport `json:"after"`
}

type fixPlan struct {
	Object   string        `json:"object"`
	UID      string        `json:"uid"`
	Create   bool          `json:"create"`
	HandOver bool          `json:"handOver"`
	Fields   []fieldReport `json:"fields"`
	Prune    []fieldReport `json:"prune"`
	Requests []struct {
		Verb         string `json:"verb"`
		FieldManager string `json:"fieldManager"`
	} `json:"requests"`
}

type fixOutcome struct {
	Object string   `json:"object"`
	Status string   `json:"status"`
	Reason string   `json:"reason"`
	Fields []string `json:"fields"`
}

// fix runs helmdrift fix and reads its result.
func (c *Case) fix(args ...string) (run, *fixResult, error) {
	out, err := c.binary(append([]string{"fix", c.release, "-o", "json"}, args...)...)
	if err != nil || !strings.HasPrefix(out.stdout, "{") {
		return out, nil, err
	}
	result := &fixResult{}
	if err := json.Unmarshal([]byte(out.stdout), result); err != nil {
		return out, nil, fmt.Errorf("the result is no JSON: %w", err)
	}
	if result.After != nil {
		c.last = run{args: []string{"diff"}, report: result.After}
	}
	return out, result, nil
}

// lines is a result as stories write it down.
func (r *fixResult) lines() []string {
	var out []string
	for _, p := range r.Plan {
		switch {
		case p.Create:
			out = append(out, "create "+p.Object)
		case p.HandOver:
			out = append(out, "hand over "+p.Object)
		}
		for _, f := range p.Fields {
			out = append(out, "put back "+p.Object+" "+f.Path)
		}
		for _, f := range p.Prune {
			out = append(out, "prune "+p.Object+" "+f.Path)
		}
	}
	for _, o := range r.Results {
		line := o.Status + " " + o.Object
		if o.Reason != "" {
			line += ": " + o.Reason
		}
		out = append(out, line)
	}
	return out
}

// scriptFix puts back what drifted, and fails where anything but what was planned changed.
func scriptFix(c *Case, args []string) (string, error) {
	claims, err := c.claims()
	if err != nil {
		return "", err
	}
	for _, claim := range claims {
		if claim.was, err = claim.read(); err != nil {
			return "", err
		}
	}
	out, result, err := c.fix(args...)
	text := out.stderr
	if result == nil {
		return text + fmt.Sprintf("exit %d\n", out.exit), err
	}
	text += strings.Join(append(result.lines(), fmt.Sprintf("exit %d\n", out.exit)), "\n")
	for _, claim := range claims {
		is, failed := claim.read()
		err = errors.Join(err, failed, fixedOnly(result.planned(claim.kind.Kind, claim.name), claim.was, is))
	}
	return text, err
}

// planned is the plan for an object; nil where there is none. Keys are "Kind.group namespace/name", or "Kind.group name".
func (r *fixResult) planned(kind, name string) *fixPlan {
	for i, p := range r.Plan {
		own, at, _ := strings.Cut(p.Object, " ")
		if own, _, _ = strings.Cut(own, "."); (kind == "" || own == kind) && (at == name || strings.HasSuffix(at, "/"+name)) {
			return &r.Plan[i]
		}
	}
	return nil
}

// fixedOnly tells what a fix changed besides the planned fields; nothing may have.
func fixedOnly(plan *fixPlan, was, is map[string]any) error {
	if plan == nil {
		plan = &fixPlan{}
	}
	if (was == nil) != (is == nil) && !plan.Create {
		return fmt.Errorf("there before: %v, afterwards: %v", was != nil, is != nil)
	}
	if was == nil || is == nil {
		return nil
	}
	was, is = settled(was), settled(is)
	dropAggregated(was, is)
	dropProtection(was)
	dropProtection(is)
	if len(plan.Fields) > 0 {
		dropDefaults(was)
		dropDefaults(is)
		dropNewNodePorts(was, is) // which come with the type that was put back
	}
	for _, f := range plan.Fields {
		path, err := parsePath(f.Path)
		if err != nil {
			return err
		}
		if f.Class == "order" {
			path.sortList(was)
			path.sortList(is)
			continue
		}
		path.dropRenamed(was, is)
		path.dropWhole(was)
		path.dropWhole(is)
	}
	for _, f := range plan.Prune { // which have to be gone
		path, err := parsePath(f.Path)
		if err != nil {
			return err
		}
		path.dropWhole(was)
	}
	sortSets(was)
	sortSets(is)
	if diff := cmp.Diff(prune(was), prune(is)); diff != "" {
		return fmt.Errorf("more changed than was planned (-before +after):\n%s", diff)
	}
	return nil
}

// dropRenamed drops the item that got its old key back: the one that is there no more, of a list that is as long as it was.
func (p steps) dropRenamed(was, is map[string]any) {
	last := p[len(p)-1]
	v, _ := p[:len(p)-1].in(was)
	w, _ := p[:len(p)-1].in(is)
	before, isList := v.([]any)
	after, _ := w.([]any)
	if !isList || last.keys == nil || len(before) != len(after) || last.at(before) >= 0 {
		return
	}
	if i := last.at(after); i >= 0 && i < len(before) {
		p[:len(p)-1].put(was, append(before[:i:i], before[i+1:]...))
	}
}

// dropProtection takes away the finalizers that controllers put on volumes and claims in their own time, again if somebody took them
// away (kubernetes v1.36.3 pkg/controller/volume/pvprotection, pvcprotection).
func dropProtection(obj map[string]any) {
	finalizers := steps{{field: "metadata"}, {field: "finalizers"}}
	if held, ok := finalizers.in(obj); ok {
		finalizers.put(obj, unprotected(held))
	}
}

// unprotected gives a list of finalizers without those; nil where there are no others.
func unprotected(v any) any {
	list, isList := v.([]any)
	if !isList {
		return v
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == "kubernetes.io/pv-protection" || v == "kubernetes.io/pvc-protection" })
	if len(kept) == 0 {
		return nil
	}
	return kept
}
