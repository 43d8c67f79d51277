package apiserver

import (
	"errors"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Helm sends a server-side apply as JSON (helm v4.3.1 pkg/kube/client.go patchResourceServerSide), and the API server reads it as YAML
// (k8s.io/apiserver v0.37.1 pkg/endpoints/handlers/patch.go applyPatcher.applyPatchToCurrentObject). JSON escapes only the control
// characters below U+0020, and YAML refuses the others unless they are escaped.

// ErrUnreadable is the API server's error for such characters. It does not say where they are.
var ErrUnreadable = errors.New("error decoding YAML: error converting YAML to JSON: yaml: control characters are not allowed")

// isUnreadable reports whether the API server's YAML parser refuses a character of a JSON text (go.yaml.in/yaml/v2 v2.4.4 readerc.go
// yaml_parser_update_buffer). All characters below U+0020 are escaped in JSON.
func isUnreadable(r rune) bool {
	return r >= 0x7F && r <= 0x9F && r != 0x85 || r == 0xFFFE || r == 0xFFFF
}

// Unreadable returns the paths in a manifest whose name or value has such characters.
func Unreadable(v any, path object.Path) []object.Path {
	var out []object.Path
	switch v := v.(type) {
	case string:
		if strings.ContainsFunc(v, isUnreadable) {
			out = append(out, path)
		}
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if strings.ContainsFunc(name, isUnreadable) {
				out = append(out, path.Field(name))
				continue
			}
			out = append(out, Unreadable(v[name], path.Field(name))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, Unreadable(item, path.Index(i))...)
		}
	}
	return out
}
