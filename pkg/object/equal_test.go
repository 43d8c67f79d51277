package object

import "testing"

// TestEqual checks Equal, EqualLists and EqualSets.
func TestEqual(t *testing.T) {
	list := func(items ...any) []any { return items }
	for _, tt := range []struct {
		a, b       any
		equal, set bool
	}{
		{int64(1), 1.0, true, false},
		{1.0, int64(1), true, false},
		{int64(1), 1.5, false, false},
		{int64(1), "1", false, false},
		{nil, nil, true, false},
		{nil, map[string]any{}, false, false},
		{map[string]any{"a": int64(1)}, map[string]any{"a": 1.0}, true, false},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false, false},
		{list("a", int64(1)), list("a", 1.0), true, true},
		{list("a", "b"), list("b", "a"), false, true},
		{list("a"), list("a", "a"), false, false},
		{list(), list(), true, true},
		{list(), nil, false, false},
		{list("a"), "a", false, false},
	} {
		if Equal(tt.a, tt.b) != tt.equal || Equal(tt.b, tt.a) != tt.equal {
			t.Errorf("%v equals %v: %t", tt.a, tt.b, !tt.equal)
		}
		if EqualSets(tt.a, tt.b) != tt.set {
			t.Errorf("%v is the same set as %v: %t", tt.a, tt.b, !tt.set)
		}
	}
}

// TestCopyNulls checks that each kind of null becomes nil in a copy.
func TestCopyNulls(t *testing.T) {
	in := map[string]any{"a": Null{}, "b": []any{NullKey{Zero: ""}}, "c": CustomNull{}}
	if want := (map[string]any{"a": nil, "b": []any{nil}, "c": nil}); !Equal(want, Copy(in)) {
		t.Errorf("the copy is %v", Copy(in))
	}
}

// TestMatchName checks that only a * at the end of a pattern matches more than itself.
func TestMatchName(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"web", "web", true}, {"web", "web-1", false}, {"web*", "web-1", true}, {"*", "", true}, {"*web", "a-web", false}, {"w*b*", "w*bx", true},
	} {
		if MatchName(tt.pattern, tt.name) != tt.want {
			t.Errorf("%s matches %s: %t", tt.pattern, tt.name, !tt.want)
		}
	}
}

// TestKey checks the text of keys and their order.
func TestKey(t *testing.T) {
	keys := []Key{
		{Kind: "Pod", Namespace: "n", Name: "a"}, {Kind: "Service", Namespace: "a", Name: "a"}, {Group: "apps", Kind: "Deployment", Name: "a"},
	}
	for i, want := range []string{"Pod n/a", "Service a/a", "Deployment.apps a"} {
		if got := keys[i].String(); got != want {
			t.Errorf("String is %s, want %s", got, want)
		}
		if i > 0 && keys[i].Compare(keys[i-1]) <= 0 {
			t.Errorf("%s does not come after %s", keys[i], keys[i-1])
		}
	}
	ref := Ref{Key: keys[2], Version: "v1"}
	if ref.APIVersion() != "apps/v1" || ref.GVK().String() != "apps/v1, Kind=Deployment" || (Ref{Version: "v1"}).APIVersion() != "v1" {
		t.Errorf("the version is %s, %s", ref.APIVersion(), ref.GVK())
	}
}

// TestRefOf checks what objects say of themselves.
func TestRefOf(t *testing.T) {
	metadata := map[string]any{"namespace": "n", "name": "a"}
	for _, test := range []struct {
		object map[string]any
		want   Ref
	}{
		{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}, Ref{Key{"apps", "Deployment", "n", "a"}, "v1"}},
		{map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, Ref{Key{"", "Pod", "n", "a"}, "v1"}},
		{map[string]any{"apiVersion": 1, "kind": nil, "metadata": "a"}, Ref{}},
		{nil, Ref{}},
	} {
		if got := RefOf(test.object); got != test.want {
			t.Errorf("%v: got %v", test.object, got)
		}
	}
}
