package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rightsJudge compares a diff without one right with the same diff of an administrator.
type rightsJudge struct {
	full, without binaryRun
	request       apiRequest
	readsAhead    bool
}

// faults returns what the property does not allow.
func (j rightsJudge) faults() []string {
	var out []string
	if j.without.exit != j.full.exit && j.without.exit != 1 && !j.countsReplicas() {
		out = append(out, fmt.Sprintf("exit %d instead of %d", j.without.exit, j.full.exit))
	}
	switch diff := cmp.Diff(j.full.report.statements(), j.without.report.statements()); {
	case j.says(), j.readsAhead && diff == "", j.failsAnyway():
	case !j.readsInParts():
		out = append(out, "nothing says what could not be read")
	case diff != "":
		out = append(out, "the objects are read in parts, and the report differs (-full +without):\n"+diff)
	}
	for _, lost := range j.lost() {
		out = append(out, "disappears without an error: "+lost)
	}
	if len(out) > 0 {
		out = append(out, "the report without the right:\n    "+strings.Join(j.without.report.statements(), "\n    "), j.without.stderr)
	}
	return out
}

// failsAnyway reports whether the command ends with an error and without a report, whoever runs it: there is no release of that name.
// Nothing can disappear then, and what the command reads after that only makes its advice better.
func (j rightsJudge) failsAnyway() bool {
	return j.full.report == nil && j.full.exit == 1 && j.without.report == nil && j.without.exit == 1
}

// countsReplicas reports whether replicas that an autoscaler has set count as drift because autoscalers could not be read, which a warning
// says (docs/verdicts.md). That is an alarm too many, and nothing that was not seen is called clean.
func (j rightsJudge) countsReplicas() bool {
	return j.request.resource == "horizontalpodautoscalers" && j.full.exit == 0 && j.without.exit == 2 &&
		slices.ContainsFunc(j.without.complaints(), func(text string) bool {
			return strings.Contains(text, "replicas that the manifest names count as drift")
		})
}

// readsInParts reports whether the request is a list, and the objects were read one by one or namespace by namespace: instead of the list,
// or after it, because it lacked them. The report need not mention that: nothing is missing, and the report must be the same.
func (j rightsJudge) readsInParts() bool {
	before := distinctRequests(j.full.traffic)
	replaces := func(a apiRequest) bool {
		return a.group == j.request.group && a.resource == j.request.resource && (a.name != "" || !slices.Contains(before, a))
	}
	isList := j.request.resource != "" && j.request.name == ""
	return isList && slices.ContainsFunc(distinctRequests(j.without.traffic), replaces)
}

// says reports whether an error, a warning or a sentence of the report names what could not be read. Sentences write names in words,
// such as storage classes, leave out that volumes are persistent, and may name the kind: Gadget objects for gadgets.
func (j rightsJudge) says() bool {
	word := strings.TrimPrefix(j.request.resource, "persistent")
	switch {
	case word != "":
	case strings.HasPrefix(j.request.path, "/openapi"):
		word = "openapi"
	case j.request.path == "/version":
		word = "version"
	default:
		word = "discovery"
	}
	return slices.ContainsFunc(j.without.complaints(), func(text string) bool {
		said := strings.ReplaceAll(strings.ToLower(text), " ", "")
		return strings.Contains(said, word) || strings.Contains(said, strings.TrimSuffix(word, "s")+"objects") ||
			strings.Contains(text, strconv.Quote(j.request.path))
	})
}

// complaints returns the sentences of a run about what it could not do.
func (b binaryRun) complaints() []string {
	out := []string{b.stderr}
	if b.report == nil {
		return out
	}
	for _, m := range b.report.Errors {
		out = append(out, m.Code+" "+m.Message)
	}
	for _, release := range b.report.Releases {
		for _, m := range slices.Concat(release.Warnings, release.Errors) {
			out = append(out, m.Code+" "+m.Message+" "+m.Object)
		}
		for _, o := range release.Objects {
			if o.Error != nil {
				out = append(out, o.Error.Code+" "+o.Error.Message+" "+o.Kind)
			}
			if o.Effect != nil {
				out = append(out, o.Effect.Inexact)
			}
			if o.DryRun != nil {
				out = append(out, o.DryRun.Message)
			}
		}
	}
	return out
}

// statements returns what a report says, one line for each statement.
func (r *driftReport) statements() []string {
	if r == nil {
		return nil
	}
	out := r.lines()
	for _, m := range r.Errors {
		out = append(out, "scan: "+m.Code+": "+m.Message)
	}
	for _, release := range r.Releases {
		for _, m := range slices.Concat(release.Warnings, release.Errors) {
			out = append(out, m.Code+": "+m.Message+" "+m.Object)
		}
		for _, o := range release.Objects {
			text := o.Kind + " " + o.Name + ": " + o.Reason + o.Note
			if o.Error != nil {
				text += " error: " + o.Error.Message
			}
			if o.Effect != nil {
				text += " effect: " + marshalled(o.Effect)
			}
			if o.DryRun != nil {
				text += " dry run: " + marshalled(o.DryRun)
			}
			out = append(out, text)
		}
	}
	return out
}

// lost returns the findings of the full report that the other one lacks without an error that explains it.
func (j rightsJudge) lost() []string {
	if j.without.report == nil { // the whole run failed
		if j.without.exit != 1 {
			return []string{"the report"}
		}
		return nil
	}
	var out []string
	kept := j.without.findings()
	for id, counts := range j.full.findings() {
		if counts && !kept[id] && !j.explained(id) && !j.isUncertain(id) {
			out = append(out, id.String())
		}
	}
	slices.Sort(out)
	return out
}

// findingID identifies a finding, or an object that is missing or that Helm creates, deletes or fails on; then path is empty.
type findingID struct{ release, kind, namespace, name, path, verdict string }

// String returns the finding as failures show it.
func (f findingID) String() string {
	return fmt.Sprintf("%s %s/%s %s %s", f.kind, f.namespace, f.name, f.verdict, f.path)
}

// findings returns the findings of a report, and which of them count.
func (b binaryRun) findings() map[findingID]bool {
	out := map[findingID]bool{}
	if b.report == nil {
		return out
	}
	for _, release := range b.report.Releases {
		for _, o := range release.Objects {
			id := findingID{release.Namespace + "/" + release.Name, o.Kind, o.Namespace, o.Name, "", ""}
			acts := !slices.Contains([]string{"", "none", "skip"}, o.Action) // what is skipped follows from another object
			for verdict, on := range map[string]bool{o.Action: acts, "missing": o.Missing, "drifted": o.Drifted} {
				id.verdict = verdict
				out[id] = on
			}
			for _, f := range o.Fields {
				id.path, id.verdict = f.Path, f.Verdict
				out[id] = f.Managed || f.acts()
			}
		}
	}
	return out
}

// isUncertain reports whether the report without the right has a finding on the same field that it says is not certain.
func (j rightsJudge) isUncertain(lost findingID) bool {
	return slices.ContainsFunc(j.without.report.Releases, func(release releaseReport) bool {
		return release.Namespace+"/"+release.Name == lost.release && slices.ContainsFunc(release.Objects, func(o objectReport) bool {
			return o.Kind == lost.kind && o.Namespace == lost.namespace && o.Name == lost.name &&
				slices.ContainsFunc(o.Fields, func(f fieldReport) bool { return f.Path == lost.path && !f.Certain })
		})
	})
}

// explained reports whether an error of the report without the right explains that a finding is not there.
func (j rightsJudge) explained(lost findingID) bool {
	if j.without.exit != 1 {
		return false
	}
	if len(j.without.report.Errors) > 0 {
		return true
	}
	isThere := func(release releaseReport) bool { return release.Namespace+"/"+release.Name == lost.release }
	// An Application or a HelmRelease that could not be read may make others.
	isGone := j.readsAhead && !slices.ContainsFunc(j.without.report.Releases, isThere)
	for _, release := range j.without.report.Releases {
		if (isGone || isThere(release)) && len(release.Errors) > 0 {
			return true
		}
		if !isThere(release) {
			continue
		}
		for _, o := range release.Objects {
			if o.Error != nil && o.Kind == lost.kind && o.Namespace == lost.namespace && o.Name == lost.name {
				return true
			}
		}
	}
	return false
}

// TestJudgeOfRights gives the judge runs without a right that are wrong, and right ones. It needs no server.
func TestJudgeOfRights(t *testing.T) {
	drift := objectReport{Kind: "ConfigMap", Name: "a", Action: "update", Drifted: true,
		Fields: []fieldReport{{Path: "data.k", Verdict: "overwrite", Managed: true, Certain: true}}}
	unread := objectReport{Kind: "ConfigMap", Name: "a", Error: &message{Code: "forbidden", Message: `cannot get configmaps "a": forbidden`}}
	list, get := "GET /api/v1/namespaces/n/configmaps?limit=50", "GET /api/v1/namespaces/n/configmaps/a"
	ran := func(exit int, requests []string, objects ...objectReport) binaryRun {
		return binaryRun{exit: exit, report: reportOf(objects...), traffic: traffic{requests: requests}}
	}
	full := ran(2, []string{list}, drift)
	warned := ran(2, []string{list}, drift)
	warned.report.Releases[0].Warnings = []message{{Code: "forbidden", Message: "cannot list configmaps: forbidden"}}
	warnedOf := func(o objectReport) binaryRun {
		out := ran(2, []string{list}, o)
		out.report.Releases[0].Warnings = warned.report.Releases[0].Warnings
		return out
	}
	certain, uncertain := drift, drift
	certain.Fields = []fieldReport{{Path: "data.k", Verdict: "conflict", Managed: true, Certain: true}}
	uncertain.Fields = []fieldReport{{Path: "data.k", Verdict: "conflict", Managed: true}}
	failed := binaryRun{exit: 1, stderr: "Error: there is no release"}
	if faults := (rightsJudge{full: failed, without: failed, request: requestOf(list)}).faults(); len(faults) > 0 {
		t.Errorf("without a release: %q", faults)
	}
	if faults := (rightsJudge{full: full, without: failed, request: requestOf(list)}).faults(); len(faults) == 0 {
		t.Error("an error without a word about the list passes in place of a report")
	}
	for name, c := range map[string]struct {
		without binaryRun
		faults  int
	}{
		"an error in place of the finding":         {ran(1, []string{list}, unread), 0},
		"a warning beside the finding":             {warned, 0},
		"read by name":                             {ran(2, []string{list, get}, drift), 0},
		"nothing is said":                          {ran(2, []string{list}, drift), 1},
		"clean":                                    {ran(0, []string{list}), 5},
		"read by name, and the finding is gone":    {ran(0, []string{list, get}), 5},
		"an error of another object":               {ran(1, []string{list}, objectReport{Kind: "ConfigMap", Name: "b", Error: unread.Error}), 3},
		"an exit code that says that nothing went": {ran(2, []string{list}, unread), 3},
		"another verdict that is not certain":      {warnedOf(uncertain), 0},
		"another verdict that is certain":          {warnedOf(certain), 1},
	} {
		faults := rightsJudge{full: full, without: c.without, request: requestOf(list)}.faults()
		if len(faults) > 0 {
			faults = faults[:len(faults)-2] // the last two are the report and the messages
		}
		if len(faults) != c.faults {
			t.Errorf("%s: %d faults, want %d: %q", name, len(faults), c.faults, faults)
		}
	}
}
