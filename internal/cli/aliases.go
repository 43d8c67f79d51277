package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file holds the flags of helm-diff 3.15 and helm-drift 0.1 that diff accepts or refuses, so that scripts keep working after only the
// name of the command is changed. The help hides them; docs/coming-from.md lists them, and TestComingFrom compares that page with this
// table. If a flag cannot have the same meaning here, diff refuses it and names the flag to use instead.

// Alias is a flag of another tool. It has a note if it is accepted, and a refusal if it is not.
type Alias struct {
	// Name is its long name.
	Name      string
	shorthand string
	// takes is what follows the flag: "bool" for nothing, "number" or "text".
	takes string
	// Note explains an accepted flag. It is shown in one line on stderr, unless --quiet is given.
	Note string
	// set is our flag that an accepted flag sets, as name=value. If our flag is given too, it decides.
	set string
	// without is a flag that contradicts the accepted one; "CHART" is the argument.
	without string
	// Refusal is the hint for a refused flag. It names our flag.
	Refusal string
}

// Aliases returns the flags of other tools, in the order of docs/coming-from.md.
func Aliases() []Alias {
	return []Alias{
		{Name: "allow-unreleased", takes: "bool", set: "install=true", Note: "is --install"},
		{Name: "detailed-exitcode", takes: "bool", set: "fail-on=+change",
			Note: "is --fail-on +change, and drift sets exit code 2 in any case"},
		{Name: "three-way-merge", takes: "bool", Note: "is what helmdrift always does"},
		{Name: "normalize-manifests", takes: "bool", Note: "has no effect: values are compared, not their text"},
		{Name: "strip-trailing-cr", takes: "bool", Note: "has no effect: values are compared, not lines of text"},
		{Name: "find-renames", shorthand: "D", takes: "number",
			Note: "has no effect: an object with another name is created and the old one deleted, as Helm does it"},
		{Name: "output-context", shorthand: "C", takes: "number", Note: linesNote},
		{Name: "disable-validation", takes: "bool", Note: "has no effect: the API server validates only with --dry-run=server"},
		{Name: "disable-openapi-validation", takes: "bool",
			Note: "has no effect: the API server validates only with --dry-run=server"},
		{Name: "suppress-secrets", takes: "bool", without: "show-secrets",
			Note: "has no effect: secret values are masked, and Secrets are listed"},
		{Name: "show-secrets-decoded", takes: "bool",
			Refusal: "--show-secrets shows the data of a Secret as the API has it, in base64"},
		{Name: "no-color", takes: "bool", set: "color=never", Note: "is --color never"},
		{Name: "suppress", takes: "text",
			Refusal: "a rule in .helmdrift.yaml with target: {kind: ...} ignores a kind, and then nothing of it sets the exit code"},
		{Name: "suppress-output-line-regex", takes: "text",
			Refusal: "a report has fields and no lines: --ignore PATH ignores a field"},
		{Name: "include-crds", takes: "bool",
			Refusal: "only an installation writes the folder crds/ of a chart, and --install compares it: " +
				"kubectl diff -f CHART/crds compares it otherwise"},
		{Name: "include-tests", takes: "bool",
			Refusal: "hooks are not compared, and tests are hooks: helm get hooks RELEASE shows them"},

		{Name: "from-release", takes: "bool", without: "CHART", Note: "is what diff does without CHART"},
		{Name: "disable-error-on-drift", shorthand: "d", takes: "bool", set: "fail-on=none", Note: "is --fail-on none"},
		{Name: "skip-tests", takes: "bool", Note: "has no effect: hooks are never compared, and tests are hooks"},
		{Name: "ignore-hooks", takes: "text", Note: "has no effect: hooks are never compared"},
		{Name: "ignore-hpa-changes", takes: "bool", Note: "has no effect: replicas that an autoscaler set are no drift"},
		{Name: "log-level", takes: "text", Note: "has no effect: --debug prints Helm's log"},
		{Name: "limit-threads", takes: "number", Note: "has no effect: no kubectl is run"},
		{Name: "regex", takes: "text", Note: "has no effect: a YAML parser reads manifests"},
		{Name: "temp-path", takes: "text", Note: "has no effect: no manifest is written to disk"},
		{Name: "skip-validation", takes: "bool", Note: "has no effect: neither helm nor kubectl is needed"},
		{Name: "skip-cleaning", takes: "bool", Refusal: "no manifest is written to disk: helm get manifest RELEASE prints it"},
		{Name: "validate", takes: "bool", Refusal: "--dry-run=server lets the API server try each write"},
		{Name: "consider-hooks", takes: "bool", Refusal: "hooks are not compared: helm get hooks RELEASE shows them"},
		{Name: "custom-diff", takes: "text", Refusal: "-o diff prints a unified diff for other programs to read"},
		{Name: "kind", takes: "text",
			Refusal: "all objects are compared; -o json has the kind of each, and a rule in .helmdrift.yaml ignores kinds"},
		{Name: "name", takes: "text",
			Refusal: "all objects are compared; -o json has the name of each, and a rule in .helmdrift.yaml ignores names"},
		{Name: "is-default-namespace", takes: "bool", Refusal: "-n default compares all releases of that namespace"},
		{Name: "skip-release", takes: "text", Refusal: "--exclude EXPRESSION leaves releases out by their name"},
	}
}

// linesNote is the note of --context and -C with a number.
const linesNote = "has no effect: in helm-diff it is a number of lines, and -o diff always has three; --kube-context names a cluster"

// AddAliases adds the flags of the table, hidden.
func AddAliases(fs *pflag.FlagSet) {
	for _, a := range Aliases() {
		f := fs.VarPF(&aliasValue{takes: a.takes}, a.Name, a.shorthand, "a flag of another tool: docs/coming-from.md")
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

// AcceptAliases replaces the given flags of the table by ours, or returns the error of a refused one. One note names all accepted flags.
// They do not count as changed afterwards, so that other checks see only our flags.
func AcceptAliases(s Streams, c *Connection, flags *pflag.FlagSet, hasChart, quiet bool) error {
	var notes []string
	for _, a := range Aliases() {
		f := flags.Lookup(a.Name)
		given := f.Changed && f.Value.(*aliasValue).given()
		f.Changed = false
		if !given {
			continue
		}
		name := "--" + a.Name
		if a.Name == "output-context" {
			name = "-C"
		}
		if a.Refusal != "" {
			return hint.New(fmt.Errorf("%s is not a flag of helmdrift", name), a.Refusal)
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
		notes = append(notes, name+" "+a.Note)
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

// OtherCommand returns the hint for a command line of helm-diff or helm-drift if its command would be taken for a release.
// Otherwise it returns "".
func OtherCommand(args []string) string {
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
