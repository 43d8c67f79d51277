package flux

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// A HelmRelease has values of its own, and references to ConfigMaps and Secrets with more. This file composes them as helm-controller does.
// The order of the steps and the maps that results share are part of that: a value that a targetPath sets may change the values of the
// HelmRelease itself, because a merge does not copy the maps of its second argument. TestComposition in test/gitops compares the result
// with that of the function that helm-controller calls.

// composition are the values that helm-controller gives Helm.
type composition struct {
	values map[string]any
	// inputs are the objects that were read, and secrets are the Secrets among them.
	inputs  []object.Ref
	secrets []map[string]any
	// learned are Secrets made of every text in the values that came from a Secret.
	learned []map[string]any
	// absent are optional references that name nothing.
	absent []string
	// unknown says which values are not known. A text, tree.Unknown, stands for each of them in the values. With whole, such a value may have
	// been any part of the values.
	unknown []string
	whole   bool
	// hidden says of Secrets that may not be read what the API server answered.
	hidden map[object.Ref]string
}

// compose reads the references of a HelmRelease and composes its values (fluxcd/pkg chartutil v1.28.0 values.go
// ChartValuesFromReferences). The values of the HelmRelease may change.
func (h *HelmRelease) compose(ctx context.Context, from Reader) (*composition, error) {
	out := &composition{}
	found, err := h.readReferences(ctx, from, out)
	if err != nil {
		return nil, err
	}
	inline := h.Spec.Values
	result := map[string]any{}
	for i, ref := range h.Spec.ValuesFrom {
		title := fmt.Sprintf("spec.valuesFrom[%d] of %s", i, h.title())
		key := ref.key(h.Metadata.Namespace)
		text, isThere, err := ref.text(found[key])
		why, isHidden := out.hidden[key]
		if isHidden {
			text, isThere, why = tree.UnknownAny, true, ": "+why
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", title, err)
		case !isThere && ref.Optional:
			out.absent = append(out.absent, fmt.Sprintf("%s %s, key %s", ref.Kind, ref.Name, ref.valuesKey()))
			continue
		case !isThere:
			return nil, hint.New(fmt.Errorf("%s: there is no %s %s in namespace %s with the key %s", title, ref.Kind, ref.Name,
				h.Metadata.Namespace, ref.valuesKey()), "Flux cannot compose the values either, so it does nothing until the object is there")
		}
		isUnknown := hasUnknown(text)
		if isUnknown {
			out.unknown = append(out.unknown, fmt.Sprintf("%s, key %s%s", titleOf(key.Kind, key.Namespace, key.Name), ref.valuesKey(), why))
		}
		if ref.TargetPath != "" {
			out.learn(ref, text)
			result = merged(result, inline)
			if err := ref.set(result, text); err != nil {
				return nil, fmt.Errorf("%s: the value cannot be put at targetPath %s", title, ref.TargetPath)
			}
			continue
		}
		var values map[string]any
		if err := yaml.Unmarshal([]byte(text), &values); err != nil && isUnknown {
			out.whole = true
			continue
		} else if err != nil {
			return nil, fmt.Errorf("%s: the value is not a YAML document with a table", title)
		}
		out.learn(ref, values)
		result = merged(result, values)
	}
	if hasUnknown(inline) {
		out.unknown = append(out.unknown, "spec.values of "+h.title())
	}
	out.values = merged(result, inline)
	return out, nil
}

// hasUnknown reports whether tree.Unknown or the token of a snapshot without secrets stands for something in a value.
func hasUnknown(value any) bool {
	text, err := json.Marshal(value)
	return err == nil && (bytes.Contains(text, []byte(tree.Unknown)) || secret.HoldsToken(string(text)))
}

// readReferences reads each object that the references name once.
func (h *HelmRelease) readReferences(ctx context.Context, from Reader, out *composition) (map[object.Ref]map[string]any, error) {
	for i, ref := range h.Spec.ValuesFrom {
		if ref.Kind != "ConfigMap" && ref.Kind != "Secret" {
			return nil, fmt.Errorf("spec.valuesFrom[%d] of %s: values are in a ConfigMap or a Secret, and not in a %s", i, h.title(), ref.Kind)
		}
		if key := ref.key(h.Metadata.Namespace); !slices.Contains(out.inputs, key) {
			out.inputs = append(out.inputs, key)
		}
	}
	found := map[object.Ref]map[string]any{}
	out.hidden = map[object.Ref]string{}
	for ref, live := range from.Read(ctx, out.inputs) {
		switch {
		case live.Err != nil && ref.Kind == "Secret" && live.Err.Code == cluster.CodeForbidden:
			out.hidden[ref] = live.Err.Message
		case live.Err != nil:
			return nil, hint.New(fmt.Errorf("reading %s for the values: %s", titleOf(ref.Kind, ref.Namespace, ref.Name), live.Err.Message),
				"without it the values of the upgrade are not known; helmdrift diff RELEASE shows the drift without them")
		}
		if found[ref] = live.Object; ref.Kind == "Secret" && live.Object != nil {
			out.secrets = append(out.secrets, live.Object)
		}
	}
	return found, nil
}

// key returns the object that a reference names.
func (r valuesReference) key(namespace string) object.Ref {
	return object.Ref{Key: object.Key{Kind: r.Kind, Namespace: namespace, Name: r.Name}, Version: "v1"}
}

// valuesKey returns the key of the value in the object (fluxcd/pkg apis/meta v1.31.0 GetValuesKey).
func (r valuesReference) valuesKey() string {
	if r.ValuesKey == "" {
		return "values.yaml"
	}
	return r.ValuesKey
}

// text returns the value of the reference in an object, which is nil if there is none.
func (r valuesReference) text(from map[string]any) (text string, found bool, err error) {
	data, _ := from["data"].(map[string]any)
	text, found = data[r.valuesKey()].(string)
	if !found || r.Kind != "Secret" {
		return text, found, nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", false, errors.New("the Secret is not encoded as the API encodes it")
	}
	return string(raw), true, nil
}

// set puts a value at the targetPath of the reference (fluxcd/pkg chartutil v1.28.0 values.go ReplacePathValue, ReplacePathLiteralValue).
func (r valuesReference) set(values map[string]any, text string) error {
	switch quoted := func(mark string) bool { return strings.HasPrefix(text, mark) && strings.HasSuffix(text, mark) }; {
	case r.Literal:
		plain := strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(text)
		return strvals.ParseIntoString(r.TargetPath+"="+plain, values)
	case quoted(`'`), quoted(`"`):
		return strvals.ParseIntoString(r.TargetPath+"="+strings.Trim(text, `'"`), values)
	}
	return strvals.ParseInto(r.TargetPath+"="+text, values)
}

// merged returns a with b merged into it. Maps that only one of them has are shared, not copied (fluxcd/pkg chartutil v1.28.0 merge.go
// MergeMaps).
func merged(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a))
	maps.Copy(out, a)
	for key, value := range b {
		below, isMap := value.(map[string]any)
		if have, both := out[key].(map[string]any); both && isMap {
			out[key] = merged(have, below)
			continue
		}
		out[key] = value
	}
	return out
}

// learn makes Secrets of the texts of a value that came from a Secret, under the names that they have in the values.
func (c *composition) learn(ref valuesReference, value any) {
	if ref.Kind != "Secret" {
		return
	}
	name := ref.TargetPath
	if name == "" {
		name = ref.valuesKey()
	}
	eachText(name, value, func(name, text string) {
		c.learned = append(c.learned, map[string]any{
			"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{name: text},
		})
	})
}

// eachText calls found with every text of a value, and with the name of the innermost key above it.
func eachText(name string, value any, found func(name, text string)) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			eachText(key, below, found)
		}
	case []any:
		for _, below := range v {
			eachText(name, below, found)
		}
	case string:
		found(name, v)
	}
}

// digest returns the digest of values in the form of helm-controller's status. Empty values have the digest of nothing (fluxcd/pkg
// chartutil v1.28.0 digest.go DigestValues, encode.go Encode, sort.go SortMapSlice).
func digest(values map[string]any) string {
	var text bytes.Buffer
	if len(values) > 0 {
		ordered := yaml.JSONObjectToYAMLObject(values)
		sortByKey(ordered)
		if err := yaml2.NewEncoder(&text).Encode(ordered); err != nil {
			return ""
		}
	}
	sum := sha256.Sum256(text.Bytes())
	return "sha256:" + hex.EncodeToString(sum[:])
}

// sortByKey sorts the keys of a value at every level.
func sortByKey(value any) {
	switch v := value.(type) {
	case yaml2.MapSlice:
		slices.SortFunc(v, func(a, b yaml2.MapItem) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
		for _, item := range v {
			sortByKey(item.Value)
		}
	case []any:
		for _, below := range v {
			sortByKey(below)
		}
	}
}

// Values returns the values that helm-controller gives Helm, and their digest as its status has it.
func (h *HelmRelease) Values(ctx context.Context, from Reader) (values map[string]any, sum string, err error) {
	c, err := h.compose(ctx, from)
	if err != nil {
		return nil, "", err
	}
	return c.values, digest(c.values), nil
}
