package document

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// describe writes a difference of two texts on one line.
func describe(name, old, live string) string {
	d, ok := Compare(name, Sides[*string]{Old: &old, Desired: &old, Live: &live})
	if !ok {
		return "none"
	}
	said := []string{string(d.Format)}
	for _, c := range d.Changes {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%s %s", c.Path, c.Kind)))
		if c.Kind == Changed {
			said[len(said)-1] += fmt.Sprintf(" %v>%v", c.Values[Old], c.Values[Live])
		}
	}
	return strings.Join(said, "; ")
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ about, name, old, live, want string }{
		{"a value", "a.yaml", "a: {b: 1}", "a: {b: 2}", "yaml; a.b changed 1>2"},
		{"keys", "a.yaml", "a: 1\nb: 1", "a: 1\nc: 1", "yaml; b removed; c added"},
		{"another type", "a.yaml", "a: {b: 1}", "a: [1]", "yaml; a changed map[b:1]>[1]"},
		{"a null is a value", "a.yaml", "a: null", "a: 1", "yaml; a changed {}>1"},
		{"an absent key is no null", "a.yaml", "a: 1\nb:", "a: 1", "yaml; b removed"},
		{"JSON in a YAML file", "a.yaml", `{"a": 1}`, "a: 1", "yaml"},
		{"an item by its key", "a.yaml", "l: [{name: a}, {name: b, v: 1}]", "l: [{name: b, v: 2}, {name: c}]",
			"yaml; l[name=a] removed; l[name=b].v changed 1>2; l[name=c] added"},
		{"a key that is not unique", "a.yaml", "l: [{name: a, v: 1}, {name: a, v: 2}]", "l: [{name: a, v: 1}, {name: a, v: 3}]",
			"yaml; l[1].v changed 2>3"},
		{"a key that is unique, where another is not", "a.yaml", "l: [{name: a, id: 1}, {name: a, id: 2}]", "l: [{name: a, id: 2}]",
			"yaml; l[id=1] removed"},
		{"an item in the middle", "a.yaml", "l: [1, 2, 3]", "l: [1, 9, 2, 3]", "yaml; l[1] added"},
		{"an emptied list", "a.yaml", "l: [{name: a}]", "l: []", "yaml; l[name=a] removed"},
		{"order of items", "a.yaml", "l: [{name: a}, {name: b}]", "l: [{name: b}, {name: a}]", "yaml; l reordered"},
		{"order of keys", "a.yaml", "a: 1\nb: 2", "b: 2\na: 1", "yaml"},
		{"several documents", "a.yaml", "a: 1\n---\nb: 1", "a: 1\n---\nb: 2", "yaml; [1].b changed 1>2"},
		{"merge keys", "a.yaml", "b: &b {x: 1, z: 1}\nc: {<<: *b, z: 2}", "b: {x: 1, z: 1}\nc: {x: 1, z: 2}", "yaml"},
		{"a switch", "a.yaml", "a: on", `a: "on"`, "yaml; a changed on (without quotes)>on"},
		{"two switches", "a.yaml", "a: yes", "a: on", "yaml; a changed yes>on"},
		{"a number and a text", "a.yaml", "a: 1", "a: '1'", "yaml; a changed 1>1"},
		{"digits", "a.yaml", "a: 1.10", "a: 1.1", "yaml; a changed 1.10>1.1"},
		{"an octal number", "a.yaml", "a: 010", "a: 8", "yaml; a changed 010>8"},
		{"a date", "a.yaml", "a: 2026-01-01", "a: '2026-01-01'", "yaml; a changed 2026-01-01 (without quotes)>2026-01-01"},
		{"a tag", "a.yaml", "a: !x 1", "a: !y 1", "yaml; a changed !x 1>!y 1"},
		{"a tag on a map", "a.yaml", "a: !x {b: 1}", "a: !x {b: 2}", "none"},
		{"a key of a number", "a.yaml", "{1: a, b: c}", "{'1': a, b: c}", "none"},
		{"a key twice", "a.yaml", "a: 1\na: 2", "a: 1\na: 3", "none"},
		{"a scalar", "a.yaml", "x", "y", "none"},
		{"a map became a list", "a.yaml", "a: 1", "- a", "none"},
		{"a template", "a.yaml", "a: {{ x }}", "a: {{ y }}", "none"},
		{"no text", "a.yaml", "", "a: 1", "none"},
		{"no UTF-8", "a.yaml", "a: \xff", "a: 1", "none"},
		{"equal", "a.yaml", "a: 1", "a: 1", "none"},

		{"JSON", "a.json", `{"a": [1, {"b": "x"}]}`, `{"a": [1, {"b": "y"}]}`, "json; a[1].b changed x>y"},
		{"JSON, indented", "a.json", `{"a":[1]}`, "{\n \"a\": [ 1 ] }\n", "json"},
		{"JSON, escapes", "a.json", `{"a":"\u0078"}`, `{"a":"x"}`, "json"},
		{"JSON, half of a pair", "a.json", `{"a":"\ud800"}`, `{"a":"\ud801"}`, "none"},
		{"JSON, a key twice", "a.json", `{"a":1,"a":2}`, `{"a":1,"a":3}`, "none"},
		{"JSON, something behind it", "a.json", `{"a":1} x`, `{"a":2} x`, "none"},
		{"JSON, a string", "a.json", `"a"`, `"b"`, "none"},
		{"JSON without a name", "config", `{"a":1}`, `{"a":2}`, "json; a changed 1>2"},

		{"YAML without a name", "config", "a: 1\nb: 2", "a: 1\nb: 3", "yaml; b changed 2>3"},
		{"a line", "config", "level: info", "level: warn", "none"},
		{"prose", "config", "Dear all: note\nSee you: soon", "Dear all: note\nSee you: later", "none"},
		{"sentences", "config", "- a\n- b", "- a\n- c", "none"},

		{"TOML", "a.toml", "[a]\nb = 1\n[[l]]\nname = 'x'\n", "[a]\nb = 2\n[[l]]\nname = 'y'\n",
			"toml; a.b changed 1>2; l[name=x] removed; l[name=y] added"},
		{"TOML, notations", "a.toml", "a = 1_000\nb = 'x'", "b = \"x\"\na = 1000 # c", "toml"},
		{"TOML, special values", "a.toml", "a = nan\nb = 2026-01-01\nc = 07:32:00", "a = inf\nb = 2026-01-02\nc = 07:33:00",
			"toml; a changed nan>+inf; b changed 2026-01-01>2026-01-02; c changed 07:32:00>07:33:00"},

		{"INI", "a.ini", "[a]\nb = 1\n", "[a]\nb = 2\n", "none"},
		{"INI in a .conf", "a.conf", "[a]\nb=1", "[a]\nb=2", "none"},
		{"JSON in a .conf", "a.conf", `{"a":1}`, `{"a":2}`, "json; a changed 1>2"},
		{"properties", "a.properties", "a.b: 1\nc: 1", "a.b: 1\nc: 2", "none"},
		{"variables", "a.env", "A=1", "A=2", "none"},
		{"a key", "a.env", "-----BEGIN PRIVATE KEY-----\nMIIEvg==", "-----BEGIN PRIVATE KEY-----\nMIIEvh==", "none"},
	} {
		if got := describe(c.name, c.old, c.live); got != c.want {
			t.Errorf("%s: got %s, want %s", c.about, got, c.want)
		}
	}
}

// TestSides checks that each change says which side it is about, and that absent sides do not count.
func TestSides(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		about         string
		sides         Sides[*string]
		live, desired bool
	}{
		{"live", Sides[*string]{text("a: 1"), text("a: 1"), text("a: 2")}, true, false},
		{"desired", Sides[*string]{text("a: 1"), text("a: 2"), text("a: 1")}, false, true},
		{"both", Sides[*string]{text("a: 1"), text("a: 2"), text("a: 2")}, true, true},
		{"dropped", Sides[*string]{text("a: 1"), nil, text("a: 2")}, true, false},
		{"adopted", Sides[*string]{nil, text("a: 1"), text("a: 2")}, false, true},
	} {
		d, ok := Compare("a.yaml", c.sides)
		if !ok || len(d.Changes) != 1 || d.Changes[0].Live != c.live || d.Changes[0].Desired != c.desired {
			t.Errorf("%s: got %v, %+v", c.about, ok, d)
		}
	}
	if _, ok := Compare("a.yaml", Sides[*string]{Live: text("a: 1")}); ok {
		t.Error("one side differs from nothing")
	}
}

// TestBounds checks that a text that is too large, too deep or grows too much is not a document, and that changes are counted.
func TestBounds(t *testing.T) {
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		laughs += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	for about, text := range map[string]string{
		"large":      "a: " + strings.Repeat("x", maxSize),
		"deep":       strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2),
		"deep block": strings.Repeat("- ", maxDepth+2) + "a",
		"laughs":     laughs,
		"itself":     "a: &a [*a]",
		"dots":       "a" + strings.Repeat(".a", 900) + " = 1\n",
		"merges":     "a: &a {<<: *a, b: 1}",
	} {
		for _, name := range []string{"a.yaml", "a.json", "a.toml"} {
			if got := describe(name, text, text+" "); got != "none" {
				t.Errorf("%s as %s: got %.80s", about, name, got)
			}
		}
	}
	var old, live strings.Builder
	for i := range 3 * maxChanges {
		fmt.Fprintf(&old, "k%d: 1\n", i)
		fmt.Fprintf(&live, "k%d: 2\n", i)
	}
	a, b := old.String(), live.String()
	d, ok := Compare("a.yaml", Sides[*string]{&a, &a, &b})
	if !ok || len(d.Changes) != maxChanges || d.More != 2*maxChanges {
		t.Errorf("got %v, %d changes and %d more", ok, len(d.Changes), d.More)
	}
}

// FuzzCompare checks that comparing any texts does not panic and stays within the bounds, that the two directions agree, and that a
// document does not differ from itself with another blank at its end.
func FuzzCompare(f *testing.F) {
	names := []string{"a.yaml", "a.json", "a.toml", "a.conf", "a"}
	for i, text := range []string{
		"a: &a {b: [1, x]}\nc: {<<: *a}\n", `{"a": [1, {"b": null}]}`, "[a]\nb = 1\n[[c]]\nname = 'x'\n", `{"a": 1}`,
		"- {name: a, v: 1}\n- {name: b}\n---\nx: on\n", "l: [1, 2, 3]\nm: ~\n",
	} {
		f.Add(i, text, strings.ReplaceAll(text, "1", "2"))
	}
	f.Fuzz(func(t *testing.T, which int, a, b string) {
		name := names[uint(which)%uint(len(names))]
		start := time.Now()
		defer func() {
			if took := time.Since(start); took > 5*time.Second {
				t.Fatalf("%q and %q take %s", a, b, took)
			}
		}()
		there, ok := Compare(name, Sides[*string]{&a, nil, &b})
		back, okBack := Compare(name, Sides[*string]{&b, nil, &a})
		if ok != okBack || len(there.Changes) != len(back.Changes) || there.More != back.More || there.Format != back.Format {
			t.Fatalf("%q and %q: %+v, and the other way %+v", a, b, there, back)
		}
		for i, c := range there.Changes {
			mirrored := map[Kind]Kind{Added: Removed, Removed: Added, Changed: Changed, Reordered: Reordered}[back.Changes[i].Kind]
			if !there.has(c) || len(there.Changes) > maxChanges || !slicesHas(back.Changes, c, mirrored, i) {
				t.Fatalf("%q and %q: %+v", a, b, c)
			}
		}
		if ok && len(there.Changes) == 0 && cmp.Diff(there.Roots[Old], there.Roots[Live]) != "" {
			t.Fatalf("%q and %q are equal, but %v and %v are not", a, b, there.Roots[Old], there.Roots[Live])
		}
		longer := a + "\n"
		isExact := strings.HasSuffix(a, "\n") && !strings.Contains(a, "|")
		if same, ok := Compare(name, Sides[*string]{&a, nil, &longer}); ok && isExact && len(same.Changes) > 0 {
			t.Fatalf("%q differs from itself: %+v", a, same.Changes)
		}
	})
}

// has reports whether a change has what its kind says.
func (d Difference) has(c Change) bool {
	from, to := c.Values[Old] != nil, c.Values[Live] != nil
	switch c.Kind {
	case Added:
		return !from && to
	case Removed:
		return from && !to
	case Changed:
		return from && to
	case Reordered:
		return !from && !to
	}
	return false
}

// slicesHas reports whether the changes in the other direction have one at the same place with the mirrored kind. Items of lists are in
// the order of old, so the places may be in another order.
func slicesHas(changes []Change, want Change, kind Kind, at int) bool {
	if changes[at].Path.Equal(want.Path) {
		return want.Kind == kind
	}
	for _, c := range changes {
		if c.Path.Equal(want.Path) {
			return true
		}
	}
	return len(changes) == maxChanges
}
