package lookalike

import (
	"slices"
	"testing"
)

// TestLookAlikesAreDistinguished: values that look the same and differ are shown with code points where they differ. Values that look
// different stay as they are in any script.
func TestLookAlikesAreDistinguished(t *testing.T) {
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	for name, c := range map[string]struct{ shown, want []string }{
		"one character or two":       {[]string{nfc, nfd}, []string{`"caf\u00e9"`, `"cafe\u0301"`}},
		"in the middle":              {[]string{nfc + " au lait", nfd + " au lait"}, []string{`"caf\u00e9 au lait"`, `"cafe\u0301 au lait"`}},
		"a Cyrillic letter":          {[]string{"admin", "\u0430dmin"}, []string{"admin", `"\u0430dmin"`}},
		"three sides":                {[]string{"admin", "admin", "adm\u0456n"}, []string{"admin", "admin", `"adm\u0456n"`}},
		"all three differ":           {[]string{"ao", "\u0430o", "a\u03bf"}, []string{"ao", `"\u0430o"`, `"a` + `\u03bf"`}},
		"Greek and Cyrillic":         {[]string{"\u03bf", "\u043e"}, []string{`"\u03bf"`, `"\u043e"`}},
		"full width":                 {[]string{"a1", "\uff411"}, []string{"a1", `"\uff411"`}},
		"a dash":                     {[]string{"--flag", "\u2013flag"}, []string{"--flag", "\u2013flag"}},
		"a dash for a hyphen":        {[]string{"a-b", "a\u2010b"}, []string{"a-b", `"a\u2010b"`}},
		"in quotes":                  {[]string{`" \\o"`, "\" \\\\\u043e\""}, []string{`" \\o"`, `" \\\u043e"`}},
		"a backslash beside":         {[]string{`a\o`, "a\\\u043e"}, []string{`a\o`, `"a\\\u043e"`}},
		"in JSON":                    {[]string{`{"k":"a"}`, "{\"k\":\"\u0430\"}"}, []string{`{"k":"a"}`, `{"k":"\u0430"}`}},
		"a mark on a letter":         {[]string{"e\u0301\u0301", "\u0435\u0301\u0301"}, []string{`"e\u0301\u0301"`, `"\u0435\u0301\u0301"`}},
		"another letter":             {[]string{"caf\u00e9", "caff\u00e8"}, []string{"caf\u00e9", "caff\u00e8"}},
		"an accent that can be seen": {[]string{"na\u00efve", "naive"}, []string{"na\u00efve", "naive"}},
		"two cities":                 {[]string{"\u6771\u4eac", "\u5927\u962a"}, []string{"\u6771\u4eac", "\u5927\u962a"}},
		"two names":                  {[]string{"Иван", "Инна"}, []string{"Иван", "Инна"}},
		"the same":                   {[]string{nfc, nfc, "<absent>"}, []string{nfc, nfc, "<absent>"}},
	} {
		got := Distinguish(c.shown)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
