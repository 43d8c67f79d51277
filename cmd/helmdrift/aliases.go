package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file holds the flags of helm-diff 3.15 and helm-drift 0.1 that diff accepts or refuses, so that scripts keep working after only the
// name of the command is changed. The help hides them; docs/coming-from.md lists them, and TestComingFrom compares that page with this
// table. If a flag cannot have the same meaning here, diff refuses it and names the flag to use instead.

// alias is a flag of another tool. It has a note if it is accepted, and a refusal if it is not.
type alias struct {
	name, shorthand string
	// takes is what follows the flag: "bool" for nothing, "number" or "text".
	takes string
	// note explains an accepted flag. It is shown in one line on stderr, unless --quiet is given.
	note string
	// set is our flag that an accepted flag sets, as name=value. If our flag is given too, it decides.
	set string
	// without is a flag that contradicts the accepted one; "CHART" is the argument.
	without string
	// refusal is the hint for a refused flag. It names our flag.
	refusal string
}

// aliasTable returns the table, in the order of docs/coming-from.md.
func aliasTable() []alias {
	return []alias{
		{name: "allow-unreleased", takes: "bool", set: "install=true", note: "is --install"},
		{name: "detailed-exitcode", takes: "bool", set: "fail-on=+change",
			note: "is --fail-on +change, and drift sets exit code 2 in any case"},
		{name: "three-way-merge", takes: "bool", note: "is what helmdrift always does"},
		{name: "normalize-manifests", takes: "bool", note: "has no effect: values are compared, not their text"},
		{name: "strip-trailing-cr", takes: "bool", note: "has no effect: values are compared, not lines of text"},
		{name: "find-renames", shorthand: "D", takes: "number",
			note: "has no effect: an object with another name is created and the old one deleted, as Helm does it"},
		{name: "output-context", shorthand: "C", takes: "number", note: linesNote},
		{name: "disable-validation", takes: "bool", note: "has no effect: the API server validates only with --dry-run=server"},
		{name: "disable-openapi-validation", takes: "bool",
			note: "has no effect: the API server validates only with --dry-run=server"},
		{name: "suppress-secrets", takes: "bool", without: "show-secrets",
			note: "has no effect: secret values are masked, and Secrets are listed"},
		{name: "show-secrets-decoded", takes: "bool",
			refusal: "--show-secrets shows the data of a Secret as the API has it, in base64"},
		{name: "no-color", takes: "bool", set: "color=never", note: "is --color never"},
		{name: "suppress", takes: "text",
			refusal: "a rule in .helmdrift.yaml with target: {kind: ...} ignores a kind, and then nothing of it sets the exit code"},
		{name: "suppress-output-line-regex", takes: "text",
			refusal: "a report has fields and no lines: --ignore PATH ignores a field"},
		{name: "include-crds", takes: "bool",
			refusal: "only an installation writes the folder crds/ of a chart, and --install compares it: kubectl diff -f CHART/crds compares it otherwise"},
		{name: "include-tests", takes: "bool",
			refusal: "hooks are not compared, and tests are hooks: helm get hooks RELEASE shows them"},

		{name: "from-release", takes: "bool", without: "CHART", note: "is what diff does without CHART"},
		{name: "disable-error-on-drift", shorthand: "d", takes: "bool", set: "fail-on=none", note: "is --fail-on none"},
		{name: "skip-tests", takes: "bool", note: "has no effect: hooks are never compared, and tests are hooks"},
		{name: "ignore-hooks", takes: "text", note: "has no effect: hooks are never compared"},
		{name: "ignore-hpa-changes", takes: "bool", note: "has no effect: replicas that an autoscaler set are no drift"},
		{name: "log-level", takes: "text", note: "has no effect: --debug prints Helm's log"},
		{name: "limit-threads", takes: "number", note: "has no effect: no kubectl is run"},
		{name: "regex", takes: "text", note: "has no effect: a YAML parser reads manifests"},
		{name: "temp-path", takes: "text", note: "has no effect: no manifest is written to disk"},
		{name: "skip-validation", takes: "bool", note: "has no effect: neither helm nor kubectl is needed"},
		{name: "skip-cleaning", takes: "bool", refusal: "no manifest is written to disk: helm get manifest RELEASE prints it"},
		{name: "validate", takes: "bool", refusal: "--dry-run=server lets the API server try each write"},
		{name: "consider-hooks", takes: "bool", refusal: "hooks are not compared: helm get hooks RELEASE shows them"},
		{name: "custom-diff", takes: "text", refusal: "-o diff prints a unified diff for other programs to read"},
		{name: "kind", takes: "text",
			refusal: "all objects are compared; -o json has the kind of each, and a rule in .helmdrift.yaml ignores kinds"},
		{name: "name", takes: "text",
			refusal: "all objects are compared; -o json has the name of each, and a rule in .helmdrift.yaml ignores names"},
		{name: "is-default-namespace", takes: "bool", refusal: "-n default compares all releases of that namespace"},
		{name: "skip-release", takes: "text", refusal: "--exclude EXPRESSION leaves releases out by their name"},
	}
}

// linesNote is the note of --context and -C with a number.
const linesNote = "has no effect: in helm-diff it is a number of lines, and -o diff always has three; --kube-context names a cluster"

// addAliases adds the flags of the table, hidden.
func addAliases(fs *pflag.FlagSet) {
	for _, a := range aliasTable() {
		f := fs.VarPF(&aliasValue{takes: a.takes}, a.name, a.shorthand, "a flag of another tool: docs/coming-from.md")
		f.Hidden = true
		if a.takes == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// aliasValue is the value of a flag of the table. It only checks what is given.
type aliasValue struct{ takes, text string }

// String returns the value as it was given.
func (v *aliasValue) String() string { return v.text }

// Type returns the placeholder in help texts.
func (v *aliasValue) Type() string { return v.takes }

// Set refuses what the flag would refuse in its own tool.
func (v *aliasValue) Set(text string) error {
	v.text = text
	switch v.takes {
	case "bool":
		if _, err := strconv.ParseBool(text); err != nil {
			return errors.New("must be true or false")
		}
	case "number":
		if _, err := strconv.ParseFloat(text, 32); err != nil {
			return errors.New("must be a number")
		}
	}
	return nil
}

// given reports whether the flag has an effect. --three-way-merge=false has none.
func (v *aliasValue) given() bool {
	on, err := strconv.ParseBool(v.text)
	return v.takes != "bool" || err == nil && on
}

// acceptAliases replaces the given flags of the table by ours, or returns the error of a refused one. One note names all accepted flags.
// They do not count as changed afterwards, so that other checks see only our flags.
func acceptAliases(s cli.Streams, c *cli.Connection, flags *pflag.FlagSet, hasChart, quiet bool) error {
	var notes []string
	for _, a := range aliasTable() {
		f := flags.Lookup(a.name)
		given := f.Changed && f.Value.(*aliasValue).given()
		f.Changed = false
		if !given {
			continue
		}
		name := "--" + a.name
		if a.name == "output-context" {
			name = "-C"
		}
		if a.refusal != "" {
			return hint.New(fmt.Errorf("%s is not a flag of helmdrift", name), a.refusal)
		}
		if a.without == "CHART" && hasChart || a.without != "" && flags.Changed(a.without) {
			return fmt.Errorf("%s and %s exclude each other", name, strings.Replace("--"+a.without, "--CHART", "CHART", 1))
		}
		ours, value, _ := strings.Cut(a.set, "=")
		if ours != "" && flags.Changed(ours) {
			notes = append(notes, name+" has no effect: --"+ours+" is given")
			continue
		}
		if ours != "" {
			if err := flags.Set(ours, value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		notes = append(notes, name+" "+a.note)
	}
	if lines, err := c.LinesOfContext(flags); err != nil {
		return err
	} else if lines != "" {
		notes = append(notes, "--context "+lines+" "+linesNote)
	}
	if len(notes) > 0 && !quiet {
		s.Print("note: ", strings.Join(notes, "; "))
	}
	return nil
}

// otherCommand returns the hint for a command line of helm-diff or helm-drift if its command would be taken for a release.
// Otherwise it returns "".
func otherCommand(args []string) string {
	switch {
	case args[0] == "upgrade":
		return "helm diff upgrade RELEASE CHART is helmdrift diff RELEASE CHART"
	case args[0] == "rollback":
		return "helm diff rollback RELEASE REVISION is helmdrift diff RELEASE --to-revision REVISION"
	case args[0] == "run":
		return "helm drift run RELEASE CHART is helmdrift diff RELEASE CHART"
	case args[0] == "release", args[0] == "revision":
		return "helmdrift compares with the cluster: docs/coming-from.md says how two revisions are compared"
	}
	return ""
}
