package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// word is what happens to an object.
type word string

const (
	unchanged word = "unchanged"
	changed   word = "changed"
	created   word = "created"
	deleted   word = "deleted"
	refused   word = "refused" // the API server or Helm does not do it, and the upgrade fails
)

// answer is what a command says about a release.
type answer struct {
	// failure says why there is no answer; empty if there is one.
	failure string
	objects []named
}

// named is an object that an answer names.
type named struct {
	// label is the object, as label writes it.
	label string
	word  word
	// lines are the lines of difference. What stands around them is left out.
	lines []string
}

// label writes an object as all tools can name it. It leaves out namespaces, because not all tools print them.
func label(kind, group, name string) string {
	if group != "" {
		kind += "." + group
	}
	return kind + "/" + name
}

// parseHelmdrift reads the JSON report.
func parseHelmdrift(out output) answer {
	var report struct {
		Releases []struct {
			Errors  []json.RawMessage
			Objects []reported
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &report); err != nil || len(report.Releases) != 1 {
		return answer{failure: firstLine(out.stderr)}
	}
	a := answer{}
	if errors := report.Releases[0].Errors; len(errors) > 0 {
		a.failure = string(errors[0])
	}
	for _, object := range report.Releases[0].Objects {
		if n := object.named(); n.word != unchanged || len(n.lines) > 0 {
			a.objects = append(a.objects, n)
		}
	}
	return a
}

// reported is an object of helmdrift's report.
type reported struct {
	APIVersion, Kind, Name, Action string
	Missing                        bool
	Fields                         []struct {
		Path, Verdict      string
		Old, Desired, Live json.RawMessage
	}
}

func (o reported) named() named {
	n := named{label: label(o.Kind, groupOf(o.APIVersion), o.Name), word: unchanged}
	switch o.Action {
	case "update", "replace":
		n.word = changed
	case "create":
		n.word = created
	case "delete":
		n.word = deleted
	case "fail":
		n.word = refused
	}
	for _, field := range o.Fields {
		if o.Action == "adopt" && field.Verdict != "ignore" { // an object that is adopted as it is does not change
			n.word = changed
		}
		n.lines = append(n.lines, fmt.Sprintf("%s %s %s %s", field.Path, field.Old, field.Desired, field.Live))
	}
	return n
}

// groupOf returns the group of an API version.
func groupOf(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }

// helmDiffHead is the line above the lines of an object: prod, web, Deployment (apps) has changed:
var helmDiffHead = regexp.MustCompile(`^[^,]*, (\S+), (\w+) \((\S+)\) (?:has been|has|changed) (added|removed|changed|ownership)`)

// coreGroup is what helm-diff prints in place of the group of the kinds without one.
var coreGroup = regexp.MustCompile(`^v\d`)

// parseHelmDiff reads the text of helm-diff, which exits with 2 if something differs, and with 1 if it fails.
func parseHelmDiff(out output) answer {
	if out.exit != 0 && out.exit != 2 {
		return answer{failure: firstLine(out.stderr)}
	}
	words := map[string]word{"added": created, "removed": deleted, "changed": changed, "ownership": changed}
	a := answer{}
	for line := range strings.Lines(out.stdout) {
		if head := helmDiffHead.FindStringSubmatch(line); head != nil {
			group := head[3]
			if coreGroup.MatchString(group) {
				group = ""
			}
			a.objects = append(a.objects, named{label: label(head[2], group, head[1]), word: words[head[4]]})
			continue
		}
		a.addLine(line)
	}
	if out.exit == 2 && len(a.objects) == 0 {
		a.objects = []named{{label: "an object without a head", word: changed}}
	}
	return a
}

// addLine adds a line to the last object if it is one of difference.
func (a *answer) addLine(line string) {
	if n := len(a.objects); n > 0 && (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")) {
		a.objects[n-1].lines = append(a.objects[n-1].lines, strings.TrimSpace(line))
	}
}

// parseKubectlDiff reads the text of kubectl diff, which exits with 1 if something differs, and with more if it fails.
func parseKubectlDiff(out output) answer {
	if out.exit != 0 && out.exit != 1 {
		return answer{failure: firstLine(out.stderr)}
	}
	return answer{objects: kubectlObjects(out.stdout)}
}

// kubectlObjects reads the differences of files. Each file is an object.
func kubectlObjects(text string) []named {
	var a answer
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "diff ") && len(fields) > 2:
			a.objects = append(a.objects, named{label: kubectlLabel(filepath.Base(fields[len(fields)-1])), word: changed})
		case strings.HasPrefix(line, "@@ -0,0 ") && len(a.objects) > 0:
			a.objects[len(a.objects)-1].word = created
		case strings.HasPrefix(line, "--- /"), strings.HasPrefix(line, "+++ /"):
		default:
			a.addLine(line)
		}
	}
	return a.objects
}

// kubectlFile is the name that kubectl diff gives to the file of an object: apps.v1.Deployment.prod.web.
var kubectlFile = regexp.MustCompile(`^(?:(.*)\.)?v\d+(?:(?:alpha|beta)\d+)?\.([A-Z]\w*)\.([^.]*)\.(.+)$`)

func kubectlLabel(file string) string {
	parts := kubectlFile.FindStringSubmatch(file)
	if parts == nil {
		return file
	}
	return label(parts[2], parts[1], parts[4])
}

// parseHelmDrift reads the JSON of helm-drift, whose exit code is then 1 only if it fails. It prints nothing if a release has no objects.
func parseHelmDrift(out output) answer {
	if out.exit != 0 {
		return answer{failure: firstLine(out.stderr + out.stdout)}
	}
	var releases []struct {
		Deviations []struct {
			Drifted    bool   `json:"has_drift"`
			APIVersion string `json:"api_version"`
			Kind       string
			Name       string `json:"resource"`
			Text       string `json:"deviations"`
		}
	}
	if text := strings.TrimSpace(out.stdout); text != "" {
		if err := json.Unmarshal([]byte(text), &releases); err != nil {
			return answer{failure: err.Error()}
		}
	}
	a := answer{}
	for _, release := range releases {
		for _, d := range release.Deviations {
			if d.Drifted {
				n := named{label: label(d.Kind, groupOf(d.APIVersion), d.Name), word: changed}
				for _, object := range kubectlObjects(d.Text) {
					n.word, n.lines = object.word, append(n.lines, object.lines...)
				}
				a.objects = append(a.objects, n)
			}
		}
	}
	return a
}
