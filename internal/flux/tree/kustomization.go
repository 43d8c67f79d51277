package tree

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
)

// kustomization is a Kustomization of Flux: the fields that decide what kustomize-controller builds
// (fluxcd/kustomize-controller v1.9.4 api/v1/kustomization_types.go).
type kustomization struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Path                    string                 `json:"path"`
		SourceRef               sourceRef              `json:"sourceRef"`
		TargetNamespace         string                 `json:"targetNamespace"`
		NamePrefix              string                 `json:"namePrefix"`
		NameSuffix              string                 `json:"nameSuffix"`
		Patches                 []kustomizetypes.Patch `json:"patches"`
		Images                  []kustomizetypes.Image `json:"images"`
		Components              []string               `json:"components"`
		IgnoreMissingComponents bool                   `json:"ignoreMissingComponents"`
		BuildMetadata           []string               `json:"buildMetadata"`
		CommonMetadata          struct {
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"commonMetadata"`
		PostBuild  *postBuild `json:"postBuild"`
		Decryption struct {
			Provider string `json:"provider"`
		} `json:"decryption"`
		DependsOn  []sourceRef `json:"dependsOn"`
		KubeConfig *struct{}   `json:"kubeConfig"`
		Suspend    bool        `json:"suspend"`
	} `json:"spec"`

	maker Maker
	depth int
}

// sourceRef names a source or a Kustomization.
type sourceRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// postBuild says which variables are replaced.
type postBuild struct {
	Strategy   string            `json:"substituteStrategy"`
	Substitute map[string]string `json:"substitute"`
	From       []substituteFrom  `json:"substituteFrom"`
}

// substituteFrom names a ConfigMap or a Secret with variables.
type substituteFrom struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Optional bool   `json:"optional"`
}

// folder returns spec.path as a path of the artifact. It cannot leave it (kustomization_controller.go: securejoin.SecureJoin).
func (k *kustomization) folder() string {
	return path.Clean(CleanPath(k.Spec.Path))
}

// write writes the kustomization.yaml that kustomize-controller builds for a Kustomization of Flux, which may be nil
// (fluxcd/pkg/kustomize v1.41.0 kustomize_generator.go GenerateManifest, findOrGenerateKustomization).
func (f *files) write(folder string, by *kustomization) error {
	config := kustomizetypes.Kustomization{}
	config.APIVersion, config.Kind = kustomizetypes.KustomizationVersion, kustomizetypes.KustomizationKind
	name := f.KustomizationOf(folder)
	if name == "" {
		name = path.Join(folder, konfig.DefaultKustomizationFileName())
		if err := f.collect(folder, folder, &config.Resources); err != nil {
			return err
		}
		if len(config.Resources) == 0 {
			config.Namespace = "_placeholder" // kustomize refuses an empty file
		}
	} else {
		text, err := f.Read(name)
		if err == nil {
			err = kustomize.CheckAliases(text)
		}
		if err == nil {
			err = yamlerror.WithoutValues(yaml.Unmarshal(text, &config))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(config.Resources) == 0 {
			config.BuildMetadata = []string{kustomizetypes.OriginAnnotations}
		}
	}
	if by != nil {
		if err := by.rewrite(f, folder, &config); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(config)
	f.Written = map[string][]byte{name: text}
	return err
}

// collect adds all YAML files below a folder to resources. A folder with a kustomization of its own is added as it is (scanManifests).
func (f *files) collect(root, folder string, resources *[]string) error {
	for _, base := range f.Names(folder) {
		name := path.Join(folder, base)
		_, isFolder := f.Kind(name)
		extension := path.Ext(base)
		switch {
		case isFolder && f.IsAbsent(name):
			return f.Why(name)
		case isFolder && f.KustomizationOf(name) == "":
			if err := f.collect(root, name, resources); err != nil {
				return err
			}
			continue
		case !isFolder && extension != ".yaml" && extension != ".yml":
			continue
		}
		if len(*resources) == kustomize.MaxObjects {
			return fmt.Errorf("there are more than %d YAML files without a kustomization.yaml", kustomize.MaxObjects)
		}
		if root != "." {
			name = strings.TrimPrefix(name, root+"/")
		}
		*resources = append(*resources, "./"+name)
	}
	return nil
}

// rewrite puts the fields of the Kustomization into a kustomization.
func (k *kustomization) rewrite(f *files, folder string, config *kustomizetypes.Kustomization) error {
	set := func(field *string, value string) {
		if value != "" {
			*field = value
		}
	}
	set(&config.Namespace, k.Spec.TargetNamespace)
	set(&config.NamePrefix, k.Spec.NamePrefix)
	set(&config.NameSuffix, k.Spec.NameSuffix)
	for _, p := range k.Spec.Patches {
		config.Patches = append(config.Patches, kustomizetypes.Patch{Patch: p.Patch, Target: p.Target})
	}
	for _, c := range k.Spec.Components {
		if filepath.IsAbs(c) || kustomize.IsRemote(c) {
			return fmt.Errorf("spec.components has %q, which is no path relative to %s", c, folder)
		}
		if k.Spec.IgnoreMissingComponents && !f.Exists(filepath.Join(f.Dir, filepath.FromSlash(folder), filepath.FromSlash(c))) {
			continue
		}
		config.Components = append(config.Components, c)
	}
	for _, image := range k.Spec.Images {
		i := slices.IndexFunc(config.Images, func(have kustomizetypes.Image) bool { return have.Name == image.Name })
		if i < 0 {
			i, config.Images = len(config.Images), append(config.Images, kustomizetypes.Image{Name: image.Name})
		}
		set(&config.Images[i].NewName, image.NewName)
		if image.NewTag != "" || image.Digest != "" {
			config.Images[i].NewTag, config.Images[i].Digest = image.NewTag, image.Digest
		}
	}
	if len(k.Spec.BuildMetadata) > 0 {
		config.BuildMetadata = k.Spec.BuildMetadata
	}
	return nil
}
