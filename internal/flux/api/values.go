package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"
	"helm.sh/helm/v3/pkg/strvals"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// A HelmRelease has values of its own, and references to ConfigMaps and Secrets with more. This file composes them as helm-controller does.
// The order of the steps and the maps that results share are part of that: a value that a targetPath sets may change the values of the
// HelmRelease itself, because a merge does not copy the maps of its second argument. TestComposition in test/gitops compares the result
// with that of the function that helm-controller calls.

// Composition are the values that helm-controller gives Helm.
type Composition struct {
	Values map[string]any
	// Inputs are the objects that were read, and secrets are the Secrets among them.
	Inputs  []object.Ref
	Secrets []map[string]any
	// Learned are Secrets made of every text in the values that came from a Secret.
	Learned []map[string]any
	// Absent are optional references that name nothing.
	Absent []string
	// Unknown says which values are not known. A text, unknown.Text, stands for each of them in the values. With whole, such a value may have
	// been any part of the values.
	Unknown []string
	Whole   bool
	// hidden says of Secrets that may not be read what the API server answered.
	hidden map[object.Ref]string
}

// Compose reads the references of a HelmRelease and composes its values (fluxcd/pkg chartutil v1.28.0 values.go
// ChartValuesFromReferences, merge.go MergeMaps, which does what Helm's function does). The values of the HelmRelease may change.
func (h *HelmRelease) Compose(ctx context.Context, from deployer.Reader) (*Composition, error) {
	out := &Composition{}
	found, err := h.readReferences(ctx, from, out)
	if err != nil {
		return nil, err
	}
	inline := h.Spec.Values
	result := map[string]any{}
	for i, ref := range h.Spec.ValuesFrom {
		title := fmt.Sprintf("spec.valuesFrom[%d] of %s", i, h.Title())
		key := ref.Object(h.Metadata.Namespace)
		text, isThere, err := ref.TextIn(found[key])
		why, isHidden := out.hidden[key]
		if isHidden {
			text, isThere, why = unknown.Any, true, ": "+why
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", title, err)
		case !isThere && ref.Optional:
			out.Absent = append(out.Absent, fmt.Sprintf("%s %s, key %s", ref.Kind, ref.Name, ref.KeyOrDefault()))
			continue
		case !isThere:
			return nil, hint.New(fmt.Errorf("%s: there is no %s %s in namespace %s with the key %s", title, ref.Kind, ref.Name,
				h.Metadata.Namespace, ref.KeyOrDefault()), "Flux cannot compose the values either, so it does nothing until the object is there")
		}
		isUnknown := HasUnknown(text)
		if isUnknown {
			out.Unknown = append(out.Unknown, fmt.Sprintf("%s, key %s%s",
				deployer.TitleOf(key.Kind, key.Namespace, key.Name), ref.KeyOrDefault(), why))
		}
		if ref.TargetPath != "" {
			out.learn(ref, text)
			result = loader.MergeMaps(result, inline)
			if err := ref.SetIn(result, text); err != nil {
				return nil, fmt.Errorf("%s: the value cannot be put at targetPath %s", title, ref.TargetPath)
			}
			set := map[string]any{} // what the chart gets, without quotes, backslashes and braces
			_ = ref.SetIn(set, text)
			out.learn(ref, set)
			continue
		}
		var values map[string]any
		if err := yaml.Unmarshal([]byte(text), &values); err != nil && isUnknown {
			out.Whole = true
			continue
		} else if err != nil {
			return nil, fmt.Errorf("%s: the value is not a YAML document with a table", title)
		}
		out.learn(ref, values)
		result = loader.MergeMaps(result, values)
	}
	if HasUnknown(inline) {
		out.Unknown = append(out.Unknown, "spec.values of "+h.Title())
	}
	out.Values = loader.MergeMaps(result, inline)
	return out, nil
}

// HasUnknown reports whether unknown.Text or the token of a snapshot without secrets stands for something in a value.
func HasUnknown(value any) bool {
	text, err := json.Marshal(value)
	return err == nil && (bytes.Contains(text, []byte(unknown.Text)) || secret.HoldsToken(string(text)))
}

// readReferences reads each object that the references name once.
func (h *HelmRelease) readReferences(ctx context.Context, from deployer.Reader, out *Composition) (map[object.Ref]map[string]any, error) {
	for i, ref := range h.Spec.ValuesFrom {
		if ref.Kind != "ConfigMap" && ref.Kind != "Secret" {
			return nil, fmt.Errorf("spec.valuesFrom[%d] of %s: values are in a ConfigMap or a Secret, and not in a %s", i, h.Title(), ref.Kind)
		}
		if key := ref.Object(h.Metadata.Namespace); !slices.Contains(out.Inputs, key) {
			out.Inputs = append(out.Inputs, key)
		}
	}
	found := map[object.Ref]map[string]any{}
	out.hidden = map[object.Ref]string{}
	for ref, live := range from.Read(ctx, out.Inputs) {
		switch {
		case live.Err != nil && ref.Kind == "Secret" && live.Err.Code == cluster.CodeForbidden:
			out.hidden[ref] = live.Err.Message
		case live.Err != nil:
			return nil, hint.New(fmt.Errorf("reading %s for the values: %s", deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name), live.Err.Message),
				"without it the values of the upgrade are not known; helmdrift diff RELEASE shows the drift without them")
		}
		if found[ref] = live.Object; ref.Kind == "Secret" && live.Object != nil {
			out.Secrets = append(out.Secrets, live.Object)
		}
	}
	return found, nil
}

// Object returns the object that a reference names.
func (r ValuesReference) Object(namespace string) object.Ref {
	return object.Ref{Key: object.Key{Kind: r.Kind, Namespace: namespace, Name: r.Name}, Version: "v1"}
}

// KeyOrDefault returns the key of the value in the object (fluxcd/pkg apis/meta v1.31.0 GetValuesKey).
func (r ValuesReference) KeyOrDefault() string {
	return cmp.Or(r.ValuesKey, "values.yaml")
}

// TextIn returns the value of the reference in an object, which is nil if there is none.
func (r ValuesReference) TextIn(from map[string]any) (text string, found bool, err error) {
	data, _ := from["data"].(map[string]any)
	text, found = data[r.KeyOrDefault()].(string)
	if !found || r.Kind != "Secret" {
		return text, found, nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", false, errors.New("the Secret is not encoded as the API encodes it")
	}
	return string(raw), true, nil
}

// SetIn puts a value at the targetPath of the reference (fluxcd/pkg chartutil v1.28.0 values.go ReplacePathValue, ReplacePathLiteralValue).
func (r ValuesReference) SetIn(values map[string]any, text string) error {
	switch quoted := func(mark string) bool { return strings.HasPrefix(text, mark) && strings.HasSuffix(text, mark) }; {
	case r.Literal:
		plain := strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(text)
		return strvals.ParseIntoString(r.TargetPath+"="+plain, values)
	case quoted(`'`), quoted(`"`):
		return strvals.ParseIntoString(r.TargetPath+"="+strings.Trim(text, `'"`), values)
	}
	return strvals.ParseInto(r.TargetPath+"="+text, values)
}

// learn makes Secrets of the texts of a value that came from a Secret, under the names that they have in the values.
func (c *Composition) learn(ref ValuesReference, value any) {
	if ref.Kind == "Secret" {
		c.learnTexts(cmp.Or(ref.TargetPath, ref.KeyOrDefault()), value)
	}
}

// learnTexts makes a Secret of every text of a value, under the name of the innermost key above it.
func (c *Composition) learnTexts(name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			c.learnTexts(key, below)
		}
	case []any:
		for _, below := range v {
			c.learnTexts(name, below)
		}
	case string:
		c.Learned = append(c.Learned, map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{name: v}})
	}
}

// Digest returns the digest of values in the form of helm-controller's status. Empty values have the digest of nothing (fluxcd/pkg
// chartutil v1.28.0 digest.go DigestValues, encode.go Encode, sort.go SortMapSlice).
func Digest(values map[string]any) string {
	var text bytes.Buffer
	if len(values) > 0 {
		ordered := yaml.JSONObjectToYAMLObject(values)
		sortByKey(ordered)
		if err := yaml2.NewEncoder(&text).Encode(ordered); err != nil {
			return ""
		}
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text.Bytes()))
}

// sortByKey sorts the keys of a value at every level.
func sortByKey(value any) {
	switch v := value.(type) {
	case yaml2.MapSlice:
		order.Sort(v, func(a, b yaml2.MapItem) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
		for _, item := range v {
			sortByKey(item.Value)
		}
	case []any:
		for _, below := range v {
			sortByKey(below)
		}
	}
}
