package valuesfile

import (
	"strings"
	"testing"
)

// TestConcealComments checks that comments are hidden, and nothing that looks like a comment.
func TestConcealComments(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"# hidden\na: 1 # hidden\nb: 2 # shown\n# shown\n", "# *\na: 1 # *\nb: 2 # shown\n# shown\n"},
		{"a: x#y # hidden\nb: '# hidden'\nc: \"\\\n  # hidden\" #hidden\n", "a: x#y # *\nb: '# hidden'\nc: \"\\\n  # hidden\" # *\n"},
		{"a: | # hidden\n  # hidden\n\n  x # hidden\n # hidden\nb: >- #hidden\n  # hidden\n", "a: | # *\n  # hidden\n\n  x # hidden\n # *\nb: >- # *\n  # hidden\n"},
		{"a: [ # hidden\n  x, # hidden # two\n  {b: c} ] # hidden\n", "a: [ # *\n  x, # *\n  {b: c} ] # *\n"},
		{"a: # hidden\n- # hidden\n  b: &x y # hidden\n- ? z # hidden\n  : *x # hidden\n", "a: # *\n- # *\n  b: &x y # *\n- ? z # *\n  : *x # *\n"},
		{"# hidden\r\na: two\n  lines #hidden\r\n", "# *\r\na: two\n  lines # *\r\n"},
		{"# hidden", "# *"},
		{"", ""},
	} {
		f, err := Parse("values.yaml", []byte(test.text))
		if err != nil {
			t.Fatalf("%q: %v", test.text, err)
		}
		got := f.ConcealComments("*", func(comment string) bool { return strings.Contains(comment, "hidden") })
		if got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}

// TestConceal checks that scalars of several lines in every style are hidden, and nothing else.
func TestConceal(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a: hidden\nb: x # hidden\n", "a: *\nb: x # hidden\n"},
		{"a: |\n  hidden\n\n  two\nb: x\n", "a: |\n  *\n\n  *\nb: x\n"},
		{"a: >- # folded\n  hidden\n  two\n", "a: >- # folded\n  *\n  *\n"},
		{"a: &p \"hidden\\\n  two\" # x\nb: *p\n", "a: &p *\n  * # x\nb: *p\n"},
		{"a:\n- hidden\n  two\n- {b: 'hidden'}\n", "a:\n- *\n  *\n- {b: *}\n"},
		{"a: hidden\r\nb: x\r\n", "a: *\r\nb: x\r\n"},
		{byteOrderMark + "a: hidden", byteOrderMark + "a: *"},
		{"", ""},
		{"hidden: x\n", "hidden: x\n"},
	} {
		f, err := Parse("values.yaml", []byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Conceal("*", func(_ []any, value string) bool { return strings.HasPrefix(value, "hidden") }); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}
