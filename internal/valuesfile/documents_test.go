package valuesfile

import (
	"strings"
	"testing"
)

// TestLineBreaks edits texts with the line breaks of Windows, and with a byte order mark. Only the edited line changes.
func TestLineBreaks(t *testing.T) {
	const text = byteOrderMark + "kind: A\r\n---\r\ndata:\r\n  values.yaml: |\r\n    a: 1 # one\r\n   \r\n    b: 2\r\n---\r\nkind: C\r\n"
	d := Documents("x.yaml", []byte(text))
	if len(d) != 3 || d[0].Err != nil || d[1].Err != nil || d[2].Err != nil {
		t.Fatalf("%+v", d)
	}
	for _, tt := range []struct {
		name, old, new string
		edit           Edit
	}{
		{"set", "    b: 2\r\n", "    b: 3\r\n", Edit{Path: []any{"b"}, Value: 3}},
		{"first", "a: 1 #", "a: 4 #", Edit{Path: []any{"a"}, Value: 4}},
		{"add", "    b: 2\r\n", "    b: 2\r\n    c: 3\r\n", Edit{Path: []any{"c"}, Value: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := d[1].ApplyNested([]any{"data", "values.yaml"}, tt.edit)
			if want := strings.Replace(text, tt.old, tt.new, 1); err != nil || string(got) != want {
				t.Errorf("%q, %v\nwant %q", got, err, want)
			}
		})
	}
	got, err := d[0].Apply(Edit{Path: []any{"kind"}, Value: "B"})
	if want := strings.Replace(text, "kind: A", "kind: B", 1); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// TestEmptyJSON adds a value to a file of JSON without any.
func TestEmptyJSON(t *testing.T) {
	f, err := Parse("values.json", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Apply(Edit{Path: []any{"a", "b"}, Value: 1})
	if want := `{"a": {"b": 1}}`; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}
