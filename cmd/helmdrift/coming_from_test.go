package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// These are flags of the other tools, from their sources: helm-diff v3.15.11 (cmd/upgrade.go, cmd/options.go and the other files
// of cmd) and helm-drift 0.1.2 (cmd/flags.go). Flags that all command line programs have, such as --help, are left out.
const (
	helmDiffFlags = `allow-unreleased api-versions color context detailed-exitcode devel disable-openapi-validation disable-validation
		dry-run enable-dns find-renames include-crds include-tests insecure-skip-tls-verify install kube-context kube-version kubeconfig
		no-color no-hooks normalize-manifests output post-renderer post-renderer-args repo reset-then-reuse-values reset-values reuse-values
		server-side set set-file set-json set-literal set-string show-secrets show-secrets-decoded skip-schema-validation strip-trailing-cr
		suppress suppress-output-line-regex suppress-secrets take-ownership three-way-merge values version`
	helmDriftFlags = `concurrency consider-hooks custom-diff disable-error-on-drift from-release ignore-hooks ignore-hpa-changes
		is-default-namespace kind limit-threads log-level name no-color output regex revision set set-file set-string skip skip-cleaning
		skip-crds skip-release skip-tests skip-validation temp-path validate values version`
)

// TestComingFrom compares the tables of docs/coming-from.md with the flags of the other tools, and with ours.
func TestComingFrom(t *testing.T) {
	text, err := os.ReadFile("../../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, cmd := range documented() {
		if cmd.Name() == "diff" {
			flags.AddFlagSet(cmd.Flags())
			flags.AddFlagSet(cmd.InheritedFlags())
		}
	}
	_, diffTable, _ := strings.Cut(string(text), "\n## From helm-diff\n")
	diffTable, driftTable, found := strings.Cut(diffTable, "\n## From helm-drift\n")
	if !found {
		t.Fatal("the page lacks a heading")
	}
	var all []string
	for _, tool := range []struct{ section, flags string }{{diffTable, helmDiffFlags}, {driftTable, helmDriftFlags}} {
		rows := flagRows(tool.section)
		for _, name := range strings.Fields(tool.flags) {
			if rows[name] == "" {
				t.Errorf("no row for --%s", name)
			}
		}
		for name, row := range rows {
			all = append(all, name)
			if !slices.Contains(strings.Fields(tool.flags), name) {
				t.Errorf("the row of --%s is about a flag that the tool does not have", name)
			}
			checkFlagRow(t, flags, name, row)
		}
	}
	for _, a := range cli.Aliases() {
		if !slices.Contains(all, a.Name) && a.Name != "output-context" {
			t.Errorf("the page has no row for --%s, which diff accepts or refuses", a.Name)
		}
	}
}

// flagRows returns the rows of the tables of a section by the flags in their first column.
func flagRows(section string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.SplitN(line, "|", 3)
		if len(cells) < 3 {
			continue
		}
		for _, name := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(cells[1], -1) {
			rows[name[1]] = cells[2]
		}
	}
	return rows
}

// checkFlagRow compares what a row says about a flag with what diff does with it.
func checkFlagRow(t *testing.T, flags *pflag.FlagSet, name, row string) {
	t.Helper()
	table := cli.Aliases()
	if name == "context" { // a flag with two meanings; -C is helm-diff's
		name = "output-context"
	}
	i := slices.IndexFunc(table, func(a cli.Alias) bool { return a.Name == name })
	if i < 0 {
		if flags.Lookup(name) == nil {
			t.Errorf("--%s is neither a flag of diff nor in the table of aliases", name)
		}
		if strings.Contains(row, "**accepted**") || strings.Contains(row, "**refused**") {
			t.Errorf("--%s is a flag of diff: %s", name, row)
		}
		return
	}
	want, text := "**accepted**", table[i].Note
	if table[i].Refusal != "" {
		want, text = "**refused**", table[i].Refusal
	}
	if plain := strings.ReplaceAll(row, "`", ""); !strings.Contains(row, want) || !strings.Contains(plain, text) {
		t.Errorf("the row of --%s lacks %q or %q: %s", name, want, text, row)
	}
}

// TestAliasesNameFlags checks that the flags in notes and refusals exist.
func TestAliasesNameFlags(t *testing.T) {
	root := newRoot(cli.Streams{Env: emptyEnv})
	cmd, _, err := root.Find([]string{"diff"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range cli.Aliases() {
		for _, name := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(a.Note+" "+a.Refusal, -1) {
			if cmd.Flags().Lookup(name[1]) == nil && root.PersistentFlags().Lookup(name[1]) == nil {
				t.Errorf("the text of --%s names --%s, which is no flag", a.Name, name[1])
			}
		}
	}
}
