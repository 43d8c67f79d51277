package valuesfile

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBytes edits files whose bytes a case in testdata cannot show.
func TestBytes(t *testing.T) {
	for _, test := range []struct{ name, in, edits, want string }{
		{"line breaks of Windows", "a: 1\r\nb: # c\r\n  c: 1\r\n", `set ["b","d"] {"e":"one\ntwo\n"}`,
			"a: 1\r\nb: # c\r\n  c: 1\r\n  d:\r\n    e: |\r\n      one\r\n      two\r\n"},
		{"line breaks of Windows, removed", "a: 1\r\n# b\r\nb:\r\n- 1\r\n- 2\r\n",
			"remove [\"a\"]\nremove [\"b\",0]", "# b\r\nb:\r\n- 2\r\n"},
		{"both line breaks", "a: 1\r\nb: 2\n\r\nc: 3\n", `set ["c"] {"d":1}`, "a: 1\r\nb: 2\n\r\nc:\n  d: 1\n"},
		{"byte order mark", "\ufeffa: 1\n", `set ["a"] 2`, "\ufeffa: 2\n"},
		{"byte order mark alone", "\ufeff", `set ["a"] 2`, "\ufeffa: 2\n"},
		{"byte order mark, in the first column", "\ufeffa: {b: 1}\n", `set ["a","c"] 2`, "\ufeffa: {b: 1, c: 2}\n"},
		{"no end", "a: 1", `set ["b"] 2`, "a: 1\nb: 2"},
		{"no end, in a block", "a: {}", `set ["a","b","c"] [1]`, "a:\n  b:\n    c:\n      - 1"},
		{"no end, last key removed", "a: 1\nb: 2", `remove ["b"]`, "a: 1"},
		{"no end, block scalar", "a: |\n  x", `set ["b"] 2`, "a: |-\n  x\nb: 2"},
		{"no end, block scalar in a block", "a:\n  - b: |+ # c\n     x\n", `set ["b"] 2`, "a:\n  - b: |+ # c\n     x\nb: 2\n"},
		{"no end, lines", "a: x", `set ["a"] "one\ntwo\n"`, `a: "one\ntwo\n"`},
		{"no end, comment", "# values", `set ["a"] 1`, "# values\na: 1"},
		{"blanks at the ends of lines", "a: 1  \nb:  \n  c: 2 \n", `set ["b","c"] 3`, "a: 1  \nb:  \n  c: 3 \n"},
		{"carriage returns", "a: 1\rb: 2\r", `set ["b"] 3`, "a: 1\rb: 3\r"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := Parse("values.yaml", []byte(test.in))
			if err != nil {
				t.Fatal(err)
			}
			edits, err := parseEdits(test.edits)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Apply(edits...)
			if diff := cmp.Diff(test.want, string(got)); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestRefused checks that what cannot be written or read is an error that quotes no value.
func TestRefused(t *testing.T) {
	for _, value := range []any{
		math.NaN(), math.Inf(1), "secret\xff", map[string]any{"secret\xff": 1}, make(chan int), json.Number("99999999999999999999"),
	} {
		f, err := Parse("values.yaml", []byte("a: secret\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Apply(Edit{Path: []any{"a"}, Value: value}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q, %v", got, err)
		}
	}
	f, err := Parse("values.yaml", []byte("a: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Edit{
		{Path: []any{"a", 0}, Remove: true, Insert: true}, {Path: []any{"a", -1}}, {Path: []any{1.5}}, {Path: []any{"a"}, Insert: true},
		{Path: []any{"a", 1}, Remove: true}, {Path: []any{"a", 2}, Insert: true}, {Path: []any{"b\xff"}},
	} {
		if got, err := f.Apply(e); err == nil {
			t.Errorf("%+v: %q", e, got)
		}
	}
	for _, data := range []string{"\xff\xfea\x00:\x00", "a: \xff\n", "a: \x00\n", "a: .nan\n", "\ufeff\ufeffa: 1\n"} {
		if _, err := Parse("values.yaml", []byte(data)); err == nil {
			t.Errorf("%q is read", data)
		}
	}
}

// TestNothingHalfDone checks that neither an error nor Apply changes the File.
func TestNothingHalfDone(t *testing.T) {
	f, err := Parse("values.yaml", []byte("a: 1\nb: {c: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Apply(Edit{Path: []any{"b", "c"}, Value: 2}, Edit{Path: []any{"a", "x"}, Value: 1}); err == nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
	for range 2 {
		got, err := f.Apply(Edit{Path: []any{"b", "c"}, Value: 3})
		if want := "a: 1\nb: {c: 3}\n"; string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// service is a part of a long file. Its first line is empty.
const service = `
# service%d
service%d:
    <<: *defaults
    port:   %d # http
    args: [ "--a=%d", '--b' ]
    script: |

        #!/bin/sh
        	echo %d
    env:
    - name: A
      value: >-
        folded
        text

    # - name: B`

// TestLongFile edits a file of 5,000 lines that has every form of YAML, and checks that exactly the proposed lines differ.
func TestLongFile(t *testing.T) {
	lines := []string{"# values", "defaults: &defaults", "  cpu: 100m", "  memory: \"1Gi\" # enough"}
	for i := len(lines); len(lines) < 5000; i++ {
		lines = append(lines, strings.Split(fmt.Sprintf(service, i, i, 8000+i%1000, i, i), "\n")...)
	}
	text := strings.Join(lines, "\r\n") + "\r\n"
	f, err := Parse("values.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var edits []Edit
	want := strings.SplitAfter(text, "\r\n")
	for i, line := range want {
		var service int
		if n, _ := fmt.Sscanf(line, "service%d:", &service); n == 0 || service%50 != 7 {
			continue
		}
		name := fmt.Sprintf("service%d", service)
		edits = append(edits, Edit{Path: []any{name, "port"}, Value: 80}, Edit{Path: []any{name, "args", 1}, Value: "--c"},
			Edit{Path: []any{name, "cpu"}, Value: "1"}, Edit{Path: []any{name, "env", 0, "value"}, Value: "x"})
		want[i+2] = "    port:   80 # http\r\n"
		want[i+3] = strings.Replace(want[i+3], "--b", "--c", 1)
		want[i+10] = "      value: x\r\n"
		want[i+11], want[i+12] = "    cpu: \"1\"\r\n", ""
	}
	got, err := f.Apply(edits...)
	if err != nil || strings.Join(want, "") != string(got) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, strings.SplitAfter(string(got), "\r\n")))
	}
	t.Logf("%d lines, %d edits", len(lines), len(edits))
}
