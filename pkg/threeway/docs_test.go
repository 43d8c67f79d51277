package threeway

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// verdictsFile is the page that explains the words of a report, rulesFile the page with the rules and the examples.
	verdictsFile = "../../docs/verdicts.md"
	rulesFile    = "../../docs/verdict-rules.md"
)

// TestVerdictsExamples runs each fenced block of docs/verdict-rules.md: Helm installs old, somebody may edit live, and the block has
// what the report says. -update writes it there.
func TestVerdictsExamples(t *testing.T) {
	doc := readPage(t, rulesFile)
	written, end := "", 0
	for n, at := range fenced().FindAllStringSubmatchIndex(doc, -1) {
		block := doc[at[2]:at[3]]
		input, want, _ := strings.Cut(block, saysLine)
		got := want
		t.Run(fmt.Sprintf("%d %s", n+1, lastHeading(doc[:at[0]])), func(t *testing.T) {
			got = says(Compare(exampleOf(t, input).input(t)))
			if !*update && got != want {
				t.Errorf("it says\n%s, the document\n%s", got, want)
			}
		})
		written, end = written+doc[end:at[2]]+input+saysLine+got, at[3]
	}
	if *update {
		if err := os.WriteFile(rulesFile, []byte(written+doc[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// saysLine separates the input of an example from its report.
const saysLine = "says: |\n"

// fenced matches an example.
func fenced() *regexp.Regexp { return regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$") }

func lastHeading(text string) string {
	lines := regexp.MustCompile("(?m)^##+ (.*)$").FindAllStringSubmatch(text, -1)
	return lines[len(lines)-1][1]
}

// says writes a comparison as the examples do: what a report lists, a line for each object, with its findings below it.
func says(c *Comparison) string {
	var b strings.Builder
	for _, o := range c.Objects {
		if o.Action == report.ActionNone && len(o.Findings) == 0 && len(o.Notes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %s: %s", called(o.Object), o.Action)
		say(&b, o.Engine != "", " ("+string(o.Engine)+")")
		say(&b, o.Missing, ", missing")
		say(&b, o.Drifted(), ", drifted")
		say(&b, o.Reason != "", "\n    reason: "+strings.ReplaceAll(o.Reason, "\n", "\n      "))
		say(&b, len(o.BlockedBy) > 0, "\n    blocked by: "+strings.ReplaceAll(joinKeys(o.BlockedBy), " prod/", " "))
		say(&b, len(o.Notes) > 0, "\n    note: "+o.Notes.String())
		b.WriteString("\n")
		for _, f := range o.Findings {
			var field strings.Builder
			describeField(&field, f)
			b.WriteString("  " + strings.ReplaceAll(field.String(), "\n    ", "\n      "))
		}
	}
	if b.Len() == 0 {
		return "  nothing\n"
	}
	return b.String()
}

// called returns what the examples call an object.
func called(o object.Object) string {
	if o.APIVersion() != apiVersions()[o.Kind] {
		return o.APIVersion() + " " + o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Name
}

// TestVerdictsTable runs each row of the document's table: "-" is none, "any" is each of them.
func TestVerdictsTable(t *testing.T) {
	doc := readPage(t, rulesFile)
	_, section, found := strings.Cut(doc, "| old | desired | live | verdict | cause |\n")
	if !found {
		t.Fatal("there is no table")
	}
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 5 {
			break
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.HasPrefix(cells[0], "---") {
			continue
		}
		rows++
		olds := []string{cells[0]}
		if cells[0] == "any" {
			olds = []string{"-", "x", "z"}
		}
		for _, old := range olds {
			if got := tableCell(t, old, cells[1], cells[2]); got != cells[3]+" "+cells[4] {
				t.Errorf("%s %s %s: it says %q, the document %q", old, cells[1], cells[2], got, cells[3:])
			}
		}
	}
	if rows < 12 {
		t.Errorf("the table has %d rows", rows)
	}
}

// tableCell compares one key of a ConfigMap and returns "verdict cause".
func tableCell(t *testing.T, old, desired, live string) string {
	t.Helper()
	object := func(value string) string {
		if value == "-" {
			return "{ConfigMap c: {data: {other: o}}}"
		}
		return `{ConfigMap c: {data: {other: o, k: "` + value + `"}}}`
	}
	e := exampleOf(t, "old: "+object(old)+"\ndesired: "+object(desired)+"\nlive: "+object(live)+"\n")
	findings := Compare(e.input(t)).Objects[0].Findings
	if len(findings) == 0 {
		return " "
	}
	cell := string(findings[0].Verdict) + " " + string(findings[0].Cause)
	if !findings[0].Managed {
		cell += ", unmanaged"
	}
	return cell
}

// TestVerdictsVocabulary checks that the two pages explain every word of the contract, and that an example shows each.
func TestVerdictsVocabulary(t *testing.T) {
	rules := readPage(t, rulesFile)
	doc := readPage(t, verdictsFile) + rules
	examples := ""
	for _, block := range fenced().FindAllStringSubmatch(rules, -1) {
		_, output, _ := strings.Cut(block[1], saysLine)
		examples += output
	}
	shown := map[string][]string{}
	for _, v := range []report.Verdict{report.Add, report.Remove, report.Overwrite, report.Ignore, report.Conflict} {
		shown[string(v)] = []string{" " + string(v) + "/"}
	}
	for _, c := range []report.Cause{report.CauseDrift, report.CauseChange, report.CauseBoth} {
		shown[string(c)] = []string{"/" + string(c) + " "}
	}
	for _, a := range []report.Action{report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionCreate, report.ActionDelete, report.ActionKeep, report.ActionAdopt, report.ActionFail, report.ActionSkip} {
		shown[string(a)] = append(shown[string(a)], ": "+string(a))
	}
	for _, e := range []report.Engine{report.EngineStrategic, report.EngineMerge, report.EngineApply, report.EngineReplace} {
		shown[string(e)] = append(shown[string(e)], " ("+string(e)+")")
	}
	for _, c := range []report.Class{report.ClassAutoscaled, report.ClassOrder} {
		shown[string(c)] = []string{" " + string(c)}
	}
	shown[string(report.ClassVolatile)] = nil // needs a second rendering; desired.md explains it
	for word, forms := range shown {
		if !strings.Contains(doc, "`"+word+"`") {
			t.Errorf("no page explains %q", word)
		}
		for _, form := range forms {
			if !strings.Contains(examples, form) {
				t.Errorf("no example shows %q", form)
			}
		}
	}
	for _, section := range strings.Split(rules, "\n### ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		if !strings.Contains(text, "```yaml") || !strings.Contains(text, "\nSource: ") {
			t.Errorf("%q has no example, or no source", title)
		}
	}
}
