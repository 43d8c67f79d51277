package valuesfile

import (
	"strings"
	"testing"
)

// TestConceal hides scalars of every style that consist of several lines, and nothing else.
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
		if got := f.Conceal("*", func(value string) bool { return strings.HasPrefix(value, "hidden") }); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}
