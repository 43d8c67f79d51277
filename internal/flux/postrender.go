package flux

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// RenderOrder is a manifest and what helm-controller does to it after the rendering. A child process does it.
type RenderOrder struct {
	Manifest []byte
	// Steps are spec.postRenderers and Common is spec.commonMetadata, both as JSON.
	Steps, Common []byte
	// Name and Namespace are those of the HelmRelease.
	Name, Namespace string
}

// renderOrder returns the order for a manifest.
func renderOrder(h *api.HelmRelease, manifest []byte) RenderOrder {
	out := RenderOrder{Manifest: manifest, Name: h.Metadata.Name, Namespace: h.Metadata.Namespace}
	out.Steps, _ = json.Marshal(h.Spec.PostRenderers)
	out.Common, _ = json.Marshal(h.Spec.CommonMetadata)
	return out
}

// patches reports whether a post-renderer of the HelmRelease changes more than metadata.
func patches(h *api.HelmRelease) bool {
	return slices.ContainsFunc(h.Spec.PostRenderers, func(r api.PostRenderer) bool {
		return r.Kustomize != nil && len(r.Kustomize.Patches)+len(r.Kustomize.Images) > 0
	})
}

// running lets only one post-renderer run at a time, because kustomize keeps its schema in package variables.
var running sync.Mutex

// PostRender carries out an order (fluxcd/helm-controller v1.6.0 internal/postrender/build.go BuildPostRenderers).
func PostRender(_ context.Context, o RenderOrder) ([]byte, error) {
	running.Lock()
	defer running.Unlock()
	var steps []api.PostRenderer
	common := api.CommonMetadata{}
	if err := errors.Join(json.Unmarshal(o.Steps, &steps), json.Unmarshal(o.Common, &common)); err != nil {
		return nil, errors.New("the post-renderers of the HelmRelease cannot be read")
	}
	manifest := o.Manifest
	for i, step := range steps {
		if step.Kustomize == nil {
			continue
		}
		var err error
		if manifest, err = kustomized(step.Kustomize, manifest); err != nil {
			return nil, fmt.Errorf("spec.postRenderers[%d]: %w", i, err)
		}
	}
	origin := map[string]string{api.HelmGroup + "/name": o.Name, api.HelmGroup + "/namespace": o.Namespace}
	return addMetadata(manifest, common, origin)
}

// addMetadata adds labels and annotations to the metadata of every object; those of the origin win (fluxcd/helm-controller v1.6.0
// internal/postrender/transformer.go transform, labelTransformer, common_renderer.go). The manifest then has the objects as kustomize
// writes them, as JSON.
func addMetadata(manifest []byte, common api.CommonMetadata, origin map[string]string) ([]byte, error) {
	objects, err := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes(manifest)
	if err != nil {
		return nil, fmt.Errorf("kustomize cannot read the manifest: %w", kustomize.WithoutContent(err))
	}
	out := bytes.Buffer{}
	for _, o := range objects.Resources() {
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		maps.Copy(labels, common.Labels)
		maps.Copy(labels, origin)
		if err := o.SetLabels(labels); err != nil {
			return nil, fmt.Errorf("kustomize: %w", kustomize.WithoutContent(err))
		}
		if maps.Copy(annotations, common.Annotations); len(common.Annotations) > 0 {
			if err := o.SetAnnotations(annotations); err != nil {
				return nil, fmt.Errorf("kustomize: %w", kustomize.WithoutContent(err))
			}
		}
		text, err := kustomize.JSONOf(o)
		if err != nil {
			return nil, fmt.Errorf("kustomize: %w", kustomize.WithoutContent(err))
		}
		fmt.Fprintf(&out, "---\n%s\n", text)
	}
	return out.Bytes(), nil
}

// kustomized passes a manifest through patches and images (fluxcd/helm-controller v1.6.0 internal/postrender/kustomize.go Run,
// buildKustomization).
func kustomized(k *api.Kustomize, manifest []byte) ([]byte, error) {
	const input = "helm-output.yaml"
	config := kustomizetypes.Kustomization{Resources: []string{input}}
	config.APIVersion, config.Kind = kustomizetypes.KustomizationVersion, kustomizetypes.KustomizationKind
	for _, i := range k.Images {
		config.Images = append(config.Images, kustomizetypes.Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest})
	}
	for _, p := range k.Patches {
		config.Patches = append(config.Patches, kustomizetypes.Patch{Patch: p.Patch, Target: selectorOf(p.Target)})
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	memory := filesys.MakeFsInMemory()
	if err := errors.Join(memory.WriteFile(input, manifest), memory.WriteFile("kustomization.yaml", text)); err != nil {
		return nil, err
	}
	// Nothing outside the file system in memory is read, and no plugin runs.
	objects, err := krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: kustomizetypes.LoadRestrictionsNone, PluginConfig: kustomizetypes.DisabledPluginConfig(),
	}).Run(memory, ".")
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", kustomize.WithoutContent(err))
	}
	return objects.AsYaml()
}

// selectorOf returns a selector in kustomize's own type.
func selectorOf(s *api.Selector) *kustomizetypes.Selector {
	if s == nil {
		return nil
	}
	out := &kustomizetypes.Selector{LabelSelector: s.LabelSelector, AnnotationSelector: s.AnnotationSelector}
	out.Group, out.Version, out.Kind, out.Name, out.Namespace = s.Group, s.Version, s.Kind, s.Name, s.Namespace
	return out
}
