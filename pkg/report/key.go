package report

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// ObjectKey identifies an object in a report. In JSON it is the text of [object.Key.String], such as "Deployment.apps prod/web".
type ObjectKey struct{ object.Key }

// MarshalText returns the text of the key.
func (k ObjectKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the text of a key in a saved report. No other code parses keys. The text is unambiguous for every key that the API
// server accepts: a kind has no dot, a group and a namespace have neither blank nor slash, and a name has no slash.
func (k *ObjectKey) UnmarshalText(text []byte) error {
	kind, name, found := strings.Cut(string(text), " ")
	if !found {
		return fmt.Errorf("%q is not the key of an object, such as %q", text, "Deployment.apps prod/web")
	}
	namespace := ""
	if before, after, namespaced := strings.Cut(name, "/"); namespaced {
		namespace, name = before, after
	}
	kind, group, _ := strings.Cut(kind, ".")
	k.Key = object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}
	return nil
}
