// Package corpus reads and writes the cases of testdata/conformance: one object of a release before an operation of Helm, and what a real
// API server has after it.
//
//	{old, desired, live} + how Helm writes ─► a differ ─► prediction ─► Judge ◄─ {after, error} by the server
//
// The README of testdata/conformance describes the files for programs in any language.
package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Case is one file.
type Case struct {
	Name string `json:"name"`
	// Helm and Kubernetes are the versions that wrote the truth.
	Helm       string `json:"helm"`
	Kubernetes string `json:"kubernetes"`
	// Operation is upgrade, rollback or install. Flags are the flags of helm that decide how it writes.
	Operation string   `json:"operation"`
	Flags     []string `json:"flags,omitempty"`
	// Apply is how Helm writes: client-side or server-side. Earlier is how the last revision was written. It is empty before an
	// installation.
	Apply   string  `json:"apply"`
	Earlier string  `json:"earlier,omitempty"`
	Release Release `json:"release"`
	// Namespace is the namespace of the object. It is empty if the kind has none.
	Namespace string `json:"namespace"`
	// Definition is the CustomResourceDefinition of a custom kind.
	Definition map[string]any `json:"definition,omitempty"`
	// Old and Desired are the object in the manifests of the deployed and of the next revision, and Live is the object on the server
	// before the operation. They are nil if the object is not there.
	Old     map[string]any `json:"old"`
	Desired map[string]any `json:"desired"`
	Live    map[string]any `json:"live"`
	Truth
}

// Release is where the release is.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Truth is what the operation did. A prediction has the same form.
type Truth struct {
	// After is the object after the operation. It is nil if there is none, or if it is being deleted.
	After map[string]any `json:"after"`
	// Error is Helm's error; empty if the operation succeeded.
	Error string `json:"error,omitempty"`
}

// Outcome returns what happened to the object, in a word.
func (c *Case) Outcome() string {
	switch {
	case c.Error != "":
		return "failed"
	case c.Live == nil && c.After == nil:
		return "absent"
	case c.Live == nil:
		return "created"
	case c.After == nil:
		return "deleted"
	case identity(c.Live, "uid") != identity(c.After, "uid"):
		return "replaced"
	case reflect.DeepEqual(c.Live, c.After) || identity(c.Live, "resourceVersion") == identity(c.After, "resourceVersion"):
		return "unchanged"
	}
	return "updated"
}

func identity(obj map[string]any, name string) any {
	metadata, _ := obj["metadata"].(map[string]any)
	return metadata[name]
}

// truth are the keys that a differ is not told.
var truth = []string{"after", "error"}

// question are the keys that a differ is told.
var question = []string{"name", "helm", "kubernetes", "operation", "flags", "apply", "earlier", "release", "namespace", "definition", "old",
	"desired", "live"}

// Question writes the case without the truth.
func (c *Case) Question() ([]byte, error) { return c.marshal(question) }

// Marshal writes the case: a key on each line, and each object on one line.
func (c *Case) Marshal() ([]byte, error) { return c.marshal(slices.Concat(question, truth)) }

func (c *Case) marshal(names []string) ([]byte, error) {
	whole, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(whole, &keys); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	separator := "{\n"
	for _, key := range names {
		if value, has := keys[key]; has {
			fmt.Fprintf(&out, "%s%q: %s", separator, key, value)
			separator = ",\n"
		}
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// Read reads all cases of a folder, by name.
func Read(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	out := make([]Case, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if out[i], err = parse(text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return out, nil
}

// parse reads a case. Integers in objects are int64, as the libraries of Kubernetes need them.
func parse(text []byte) (Case, error) {
	var c Case
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, err
	}
	for _, obj := range []*map[string]any{&c.Definition, &c.Old, &c.Desired, &c.Live, &c.After} {
		if err := convertIntegers(obj); err != nil {
			return c, err
		}
	}
	return c, nil
}

// ParseTruth reads a prediction.
func ParseTruth(text []byte) (Truth, error) {
	var out Truth
	if err := json.Unmarshal(text, &out); err != nil {
		return out, err
	}
	return out, convertIntegers(&out.After)
}

func convertIntegers(obj *map[string]any) error {
	if *obj == nil {
		return nil
	}
	text, err := json.Marshal(*obj)
	if err != nil {
		return err
	}
	*obj = nil
	return utiljson.Unmarshal(text, obj)
}
