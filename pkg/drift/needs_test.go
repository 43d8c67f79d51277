package drift

import "testing"

// TestParsedOnce checks that a definition is parsed once for all releases, even if it is read again, and again after it has changed.
func TestParsedOnce(t *testing.T) {
	definition := func(version string) map[string]any {
		versions := []any{map[string]any{"name": "v1"}}
		return map[string]any{"metadata": map[string]any{"uid": "u", "resourceVersion": version}, "spec": map[string]any{"versions": versions}}
	}
	var p parsed
	first, err := p.schema(definition("1"))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := p.schema(definition("1")); again != first {
		t.Error("the same definition was parsed again")
	}
	if changed, _ := p.schema(definition("2")); changed == first {
		t.Error("the definition has changed, and was not parsed again")
	}
	document := []byte(`{"openapi": "3.0.0", "components": {"schemas": {}}}`)
	types, err := p.applyTypes(document)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := p.applyTypes(document); again != types {
		t.Error("the same document was parsed again")
	}
}
