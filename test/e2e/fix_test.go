package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// fixResult contains those parts of a FixResult that tests read.
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
	Effect   *effectReport `json:"effect"`
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
	// Rollout is how far the object came up, with --wait.
	Rollout struct {
		Status  string `json:"status"`
		Updated int    `json:"updated"`
	} `json:"rollout"`
}

// fix runs helmdrift fix and decodes its result.
func (c *Case) fix(args ...string) (binaryRun, *fixResult, error) {
	out, err := c.binary(append([]string{"fix", c.release, "-o", "json"}, args...)...)
	if err != nil || !strings.HasPrefix(out.stdout, "{") {
		return out, nil, err
	}
	result := &fixResult{}
	if err := json.Unmarshal([]byte(out.stdout), result); err != nil {
		return out, nil, fmt.Errorf("the result is not JSON: %w", err)
	}
	if result.After != nil {
		c.last = binaryRun{args: []string{"diff"}, report: result.After}
	}
	return out, result, nil
}

// lines returns a result in the notation of stories.
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

// scriptFix runs a fix and fails if it changed anything that was not planned.
func scriptFix(c *Case, args []string) (string, error) {
	predictions, err := c.predictions()
	if err != nil {
		return "", err
	}
	for _, prediction := range predictions {
		if prediction.before, err = prediction.read(); err != nil {
			return "", err
		}
	}
	out, result, err := c.fix(args...)
	text := out.stderr
	if result == nil {
		return text + fmt.Sprintf("exit %d\n", out.exit), err
	}
	text += strings.Join(append(result.lines(), fmt.Sprintf("exit %d\n", out.exit)), "\n")
	for _, prediction := range predictions {
		is, failed := prediction.read()
		err = errors.Join(err, failed, checkOnlyPlanned(result.planned(prediction.kind.Kind, prediction.name), prediction.before, is))
	}
	return text, err
}

// planned returns the plan for an object, or nil. Keys are "Kind.group namespace/name", or "Kind.group name".
func (r *fixResult) planned(kind, name string) *fixPlan {
	for i, p := range r.Plan {
		own, at, _ := strings.Cut(p.Object, " ")
		if own, _, _ = strings.Cut(own, "."); (kind == "" || own == kind) && (at == name || strings.HasSuffix(at, "/"+name)) {
			return &r.Plan[i]
		}
	}
	return nil
}

// checkOnlyPlanned returns an error if a fix changed anything except the planned fields.
func checkOnlyPlanned(plan *fixPlan, was, is map[string]any) error {
	if plan == nil {
		plan = &fixPlan{}
	}
	if (was == nil) != (is == nil) && !plan.Create {
		return fmt.Errorf("exists before: %v, after: %v", was != nil, is != nil)
	}
	if was == nil || is == nil {
		return nil
	}
	was, is = withoutServerChoices(was), withoutServerChoices(is)
	dropAggregated(was, is)
	removeProtection(was)
	removeProtection(is)
	if len(plan.Fields) > 0 {
		dropDefaults(was)
		dropDefaults(is)
		dropNewNodePorts(was, is) // node ports come with the type that was put back
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
		path.removeRenamed(was, is)
		path.removeWithEmptyParents(was)
		path.removeWithEmptyParents(is)
	}
	for _, f := range plan.Prune { // these must be gone
		path, err := parsePath(f.Path)
		if err != nil {
			return err
		}
		path.removeWithEmptyParents(was)
	}
	sortSets(was)
	sortSets(is)
	if diff := cmp.Diff(withoutEmpty(was), withoutEmpty(is)); diff != "" {
		return fmt.Errorf("more changed than was planned (-before +after):\n%s", diff)
	}
	return nil
}
