package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// made is an object that a build makes.
type made struct {
	value map[string]any
	// file is relative to dir, the folder of the source.
	file, dir string
}

// build builds a folder for a Kustomization of Flux, or for nobody if by is nil (fluxcd/kustomize-controller v1.9.4
// internal/controller/kustomization_controller.go build, fluxcd/pkg/kustomize v1.41.0 kustomize_generator.go Build). Problems that do not
// stop it are reported.
func (b *builder) build(a *Artifact, folder string, by *kustomization, vars *variables) (out []made, err error) {
	if _, isFolder := a.Kind(folder); !isFolder {
		return nil, a.Why(folder)
	}
	f := b.files(a, by)
	if err := f.write(folder, by); err != nil {
		return nil, err
	}
	if by.isDecrypted() {
		f.sources(folder, map[string]bool{})
	}
	objects, origins, err := f.Run(folder)
	if err != nil {
		return nil, err
	}
	for i, r := range objects.Resources() {
		if r.GetName() == "" || r.GetKind() == "" || r.GetApiVersion() == "" {
			return nil, errors.New("it makes something without apiVersion, kind or metadata.name")
		}
		title := title(r.GetKind(), r.GetNamespace(), r.GetName())
		if r.GetKind() == "Secret" || len(f.formats) > 0 || !r.Field("sops").IsNilOrEmpty() {
			if err := b.seal(r, by, title); err != nil {
				return nil, fmt.Errorf("%s: %w", title, err)
			}
		}
		if by != nil && by.Spec.PostBuild != nil {
			changed, err := vars.replace(r, title, by.Spec.PostBuild.Strategy == "Always", b.report)
			if err == nil && changed {
				_, err = objects.Replace(r)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", title, err)
			}
		}
		var values []map[string]any
		text, err := kustomize.JSONOf(r)
		if err == nil {
			values, err = objectsOf(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		for _, value := range values {
			by.label(value)
			out = append(out, made{value, origins[i], a.Dir})
		}
	}
	return out, nil
}

// objectsOf decodes an object as the controller reads it from the result: the items of a List are objects of their own, and a kustomization
// of kustomize itself is none (fluxcd/pkg/ssa v0.76.1 utils/object.go ReadObjects).
func objectsOf(text []byte) ([]map[string]any, error) {
	var value map[string]any
	if err := utiljson.Unmarshal(text, &value); err != nil {
		return nil, errors.New("it is not an object")
	}
	kind, _ := value["kind"].(string)
	version, _ := value["apiVersion"].(string)
	if items, isList := value["items"].([]any); isList {
		var out []map[string]any
		for _, item := range items {
			if object, isMap := item.(map[string]any); isMap {
				out = append(out, object)
			}
		}
		return out, nil
	}
	if strings.EqualFold(kind, kustomizetypes.KustomizationKind) && strings.HasPrefix(version, "kustomize.config.k8s.io/") {
		return nil, nil
	}
	return []map[string]any{value}, nil
}

// label adds the labels of the Kustomization and its common metadata (fluxcd/pkg/ssa v0.76.1 manager.go SetOwnerLabels, utils/meta.go
// SetCommonMetadata).
func (k *kustomization) label(value map[string]any) {
	if k == nil {
		return
	}
	metadata, _ := value["metadata"].(map[string]any)
	if metadata == nil {
		return
	}
	add := func(field string, from map[string]string) {
		// The controller reads a map with a value that is no text as if it were empty.
		have, _, _ := unstructured.NestedStringMap(metadata, field)
		if have == nil {
			have = map[string]string{}
		}
		maps.Copy(have, from)
		if len(have) > 0 {
			_ = unstructured.SetNestedStringMap(metadata, have, field) // metadata is a map
		}
	}
	add("labels", map[string]string{fluxGroup + "/name": k.Metadata.Name, fluxGroup + "/namespace": k.Metadata.Namespace})
	add("labels", k.Spec.CommonMetadata.Labels)
	add("annotations", k.Spec.CommonMetadata.Annotations)
}

// decode decodes an object into one of the types of this package.
func decode(value map[string]any, out any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}
