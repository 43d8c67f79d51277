package terraform

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/casetest"
	"github.com/helmdrift/helmdrift/internal/hint"
)

// TestRead reads the plans of testdata/read. A file has the plan, and in want what Read finds.
func TestRead(t *testing.T) {
	casetest.Run(t, "testdata/read/*.txtar", func(t *testing.T, inputs *txtar.Archive) string {
		casetest.Inputs(t, inputs, "plan.json")
		return describe(Read(inputs.Files[0].Data))
	})
}

// describe returns what a plan says, one line for each thing that is not empty.
func describe(p *Plan, err error) string {
	var out strings.Builder
	line := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "[]" && text != "false" && text != "0" {
			fmt.Fprintf(&out, "%s: %s\n", name, text)
		}
	}
	if err != nil {
		line("error", err)
		line("hint", hint.Of(err))
		return out.String()
	}
	line("problems", p.Problems)
	for _, r := range p.Releases {
		line("release", r.Address)
		line("  fault", r.Fault)
		line("  change", r.Change)
		line("  reason", r.Reason)
		line("  changed", strings.Join(r.Changed, ", "))
		line("  before", strings.TrimPrefix(r.Before.Namespace+"/"+r.Before.Name, "/"))
		line("  revision", r.Revision)
		line("  now", setFields(r.Now))
		line("  values", string(r.Values))
		line("  integers", r.Integers)
		line("  unknown", strings.Join(r.Unknown, "; "))
		line("  whole", r.Whole)
		line("  lacks", strings.Join(r.Lacks, "; "))
		line("  notes", strings.Join(r.Notes, "; "))
		line("  write-only", r.WriteOnly)
		line("  beside set_wo", string(r.Was))
		line("  secrets", r.Secrets)
	}
	return out.String()
}

// setFields returns the fields of arguments that are not zero.
func setFields(a Arguments) (out []string) {
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			out = append(out, fmt.Sprintf("%s=%v", v.Type().Field(i).Name, v.Field(i)))
		}
	}
	return out
}

// TestForms reads plans in the encodings that editors and shells write.
func TestForms(t *testing.T) {
	plan := `{"format_version":"1.2","resource_changes":[{"address":"a","type":"helm_release","change":{"actions":["no-op"],` +
		`"before":{"name":"a"},"after":{"name":"a"}}}]}`
	for _, tt := range []struct{ name, text, want string }{
		{"UTF-8 with a mark", "\xef\xbb\xbf" + plan, ""},
		{"blanks around", "\n " + plan + "\n\n", ""},
		{"UTF-16", "\xff\xfe{\x00", "it is encoded as UTF-16, as PowerShell writes files"},
		{"two plans", plan + plan, "it is not JSON: the error is at byte"},
		{"a list", "[" + plan + "]", "it is not the JSON of a plan"},
		{"only blanks", " \n", "it is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read([]byte(tt.text))
			if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %q", got, tt.want)
			}
		})
	}
}

// TestSensitivePlace checks that where a chart comes from is a secret if the plan marks it, and only then.
func TestSensitivePlace(t *testing.T) {
	for _, mark := range []string{"true", "false"} {
		plan, err := Read([]byte(`{"format_version":"1.2","resource_changes":[{"address":"a","type":"helm_release","change":{"actions":["no-op"],` +
			`"before":{"name":"a"},"after":{"name":"a","chart":"hunter2-chart","repository":"https://hunter2.example.com/charts",` +
			`"version":"1.0.0-hunter2"},"after_sensitive":{"chart":` + mark + `,"repository":` + mark + `,"version":` + mark + `}}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		known := plan.Releases[0].Known()
		for _, text := range []string{"hunter2-chart", "https://hunter2.example.com/charts", "1.0.0-hunter2"} {
			if known.Holds(text) != (mark == "true") || strings.Contains(known.Scrub("from "+text), "hunter2") != (mark == "false") {
				t.Errorf("marked %s, %s becomes %s", mark, text, known.Scrub(text))
			}
		}
	}
}

// TestSensitiveSet checks that a sensitive entry is a secret in the form that the chart gets.
func TestSensitiveSet(t *testing.T) {
	for _, tt := range []struct{ field, entry, want string }{
		{"set_sensitive", `{"name":"db.password","value":"hunter2\\,and\\,more"}`, "[{password hunter2\\,and\\,more} {password hunter2,and,more}]"},
		{"set_sensitive", `{"name":"db.password","value":"hunter2"}`, "[{password hunter2}]"},
		{"set_sensitive", `{"name":"hosts","value":"{hunter2,hunter3}"}`, "[{hosts {hunter2,hunter3}} {hosts hunter2} {hosts hunter3}]"},
		{"set_list", `{"name":"hosts","value":["hunter2\\,x"]}`, "[{hosts hunter2\\,x} {hosts hunter2,x}]"},
		{"set", `{"name":"token","type":"literal","value":"'hunter2''s'"}`, "[{token 'hunter2''s'} {token hunter2's}]"},
		{"set", `{"name":"token[","value":"hunter2"}`, "[{token hunter2}]"},
		{"set_sensitive", `{"name":7,"value":"hunter2"}`, "[{ hunter2}]"},
	} {
		plan, err := Read([]byte(`{"format_version":"1.2","resource_changes":[{"address":"a","type":"helm_release","change":{"actions":["no-op"],` +
			`"before":{"name":"a"},"after":{"name":"a","` + tt.field + `":[` + tt.entry + `]},"after_sensitive":{"` + tt.field + `":true}}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(plan.Releases[0].Secrets); got != tt.want {
			t.Errorf("%s %s: the secrets are %s, want %s", tt.field, tt.entry, got, tt.want)
		}
	}
}

// TestHostile reads plans that are made to harm. None may take much memory, and no error may have a text of theirs.
func TestHostile(t *testing.T) {
	release := func(arguments string) string {
		return `{"format_version":"1.2","resource_changes":[{"address":"helm_release.web","type":"helm_release","change":{"actions":["update"],` +
			`"before":{"name":"web"},"after":{"name":"web",` + arguments + `}}}]}`
	}
	bomb := "a: &a [hunter2,hunter2,hunter2,hunter2,hunter2,hunter2,hunter2,hunter2,hunter2]\\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	for _, tt := range []struct{ name, text string }{
		{"deep lists", strings.Repeat("[", 1<<20)},
		{"deep objects", `{"format_version":"1.2","resource_changes":` + strings.Repeat(`{"hunter2":`, 1<<20)},
		{"deep arguments", release(`"set":` + strings.Repeat("[", 9000) + `"hunter2"` + strings.Repeat("]", 9000))},
		{"deep marks", strings.Replace(release(`"set":[{"name":"a","value":"hunter2"}]`), `"before":{`,
			`"after_sensitive":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`,"before":{`, 1)},
		{"deep document", release(`"values":["` + strings.Repeat("[", 1<<20) + `"]`)},
		{"many aliases", release(`"values":["` + bomb + `"]`)},
		{"a great index", release(`"set":[{"name":"a[99999999]","value":"hunter2"}]`)},
		{"a negative index", release(`"set":[{"name":"a[-1]","value":"hunter2"}]`)},
		{"a deep name", release(`"set":[{"name":"` + strings.Repeat("a.", 1<<16) + `a","value":"hunter2"}]`)},
		{"a name with line breaks", release(`"set":[{"name":"a\n[2m","value":"{hunter2"}]`)},
		{"no text as format_version", `{"format_version":["hunter2"],"resource_changes":[]}`},
		{"a long format_version", `{"format_version":"` + strings.Repeat("9", 1<<20) + `","resource_changes":[]}`},
		{"too large", strings.Repeat(" ", 100<<20) + "{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			plan, err := Read([]byte(tt.text))
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 400<<20 {
				t.Errorf("it allocates %d MiB", took>>20)
			}
			said := describe(plan, err)
			if plan != nil {
				said = plan.Releases[0].Fault
			}
			if strings.Contains(said, "hunter2") || len(said) > 1000 {
				t.Errorf("the error is %.2000s", said)
			}
		})
	}
}

// TestText reads files and streams that are longer than a plan may be, and no more of them than that.
func TestText(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := errors.Join(os.WriteFile(name, []byte("{"), 0o600), os.Truncate(name, 200<<20)); err != nil {
		t.Fatal(err)
	}
	endless := &endless{}
	for name, in := range map[string]io.Reader{name: nil, "-": endless} {
		if text, err := Text(name, in); text != nil || err == nil || !strings.Contains(err.Error(), "has more than 64 MiB") {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	if endless.read > MaxSize+1<<20 {
		t.Errorf("%d bytes are read", endless.read)
	}
	if text, err := Text("-", strings.NewReader("{}")); string(text) != "{}" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// endless is a stream that does not end.
type endless struct{ read int }

// Read implements io.Reader.
func (e *endless) Read(into []byte) (int, error) {
	e.read += len(into)
	return len(into), nil
}

// TestTwice has two changes of one address, which no plan of Terraform has: each is a release, and an address chooses both.
func TestTwice(t *testing.T) {
	const one = `{"address":"helm_release.web","mode":"managed","type":"helm_release","change":{"actions":["%s"],` +
		`"before":{"name":"web","namespace":"shop"},"after":{"name":"web","namespace":"shop","chart":"./web"}}}`
	plan, err := Read(fmt.Appendf(nil, `{"format_version":"1.2","resource_changes":[`+one+`,`+one+`]}`, "no-op", "update"))
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := plan.Choose([]string{"helm_release.web"}, nil)
	if err != nil || len(chosen) != 2 || chosen[0].Change != Leaves || chosen[1].Change != Updates {
		t.Errorf("%+v, %v", chosen, err)
	}
}

// TestPlanCrosses encodes a plan as it crosses from the child process.
func TestPlanCrosses(t *testing.T) {
	want := &Plan{Releases: []Release{{Address: "a", Values: []byte("{}"), Secrets: []Secret{{"a", "b"}}, WriteOnly: true,
		Now: Arguments{Place: Place{Name: "web"}, PostRenderer: []string{"p"}}}}}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(want); err != nil {
		t.Fatal(err)
	}
	got := &Plan{}
	if err := gob.NewDecoder(&text).Decode(got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
