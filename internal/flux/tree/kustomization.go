package tree

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
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
		PostBuild  *postBuild  `json:"postBuild"`
		Decryption *decryption `json:"decryption"`
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

// decryption says who decrypts.
type decryption struct {
	Provider string `json:"provider"`
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
	return path.Clean(strings.TrimPrefix(path.Clean("/"+k.Spec.Path), "/"))
}

// isKustomizationFile reports whether kustomize takes a file of this name for a kustomization.
func isKustomizationFile(base string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), base)
}

// kustomizationOf returns the path of the kustomization file in a folder, or "".
func (a *Artifact) kustomizationOf(folder string) string {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		name := path.Join(folder, base)
		if isFile, _ := a.kind(name); isFile {
			return name
		}
	}
	return ""
}

// write writes the kustomization.yaml that kustomize-controller builds for a Kustomization of Flux, which may be nil
// (fluxcd/pkg/kustomize v1.41.0 kustomize_generator.go GenerateManifest, findOrGenerateKustomization).
func (f *files) write(folder string, by *kustomization) error {
	config := kustomizetypes.Kustomization{}
	config.APIVersion, config.Kind = kustomizetypes.KustomizationVersion, kustomizetypes.KustomizationKind
	name := f.kustomizationOf(folder)
	if name == "" {
		name = path.Join(folder, konfig.DefaultKustomizationFileName())
		if err := f.collect(folder, folder, &config.Resources); err != nil {
			return err
		}
		if len(config.Resources) == 0 {
			config.Namespace = "_placeholder" // kustomize refuses an empty file
		}
	} else {
		text, err := f.readFile(name)
		if err == nil {
			err = checkAliases(text)
		}
		if err == nil {
			err = yaml.Unmarshal(text, &config)
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
	f.written = map[string][]byte{name: text}
	return err
}

// collect adds all YAML files below a folder to resources. A folder with a kustomization of its own is added as it is (scanManifests).
func (f *files) collect(root, folder string, resources *[]string) error {
	for _, base := range f.names(folder) {
		name := path.Join(folder, base)
		_, isFolder := f.kind(name)
		extension := path.Ext(base)
		switch {
		case isFolder && f.absent[name] != "":
			return f.why(name)
		case isFolder && f.kustomizationOf(name) == "":
			if err := f.collect(root, name, resources); err != nil {
				return err
			}
			continue
		case !isFolder && extension != ".yaml" && extension != ".yml":
			continue
		}
		if len(*resources) == maxBuilt {
			return fmt.Errorf("there are more than %d YAML files without a kustomization.yaml", maxBuilt)
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
		if filepath.IsAbs(c) || isRemote(c) {
			return fmt.Errorf("spec.components has %q, which is no path relative to %s", c, folder)
		}
		if k.Spec.IgnoreMissingComponents && !f.Exists(filepath.Join(f.dir, filepath.FromSlash(folder), filepath.FromSlash(c))) {
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

// check refuses a kustomization with something that kustomize would fetch. Kustomize's loader runs git and HTTP requests itself, whatever
// its file system says, so nothing of that kind may reach it (sigs.k8s.io/kustomize/api v0.21.1 internal/loader/fileloader.go New, Load).
func (f *files) check(folder string, text []byte) error {
	var k kustomizetypes.Kustomization
	if err := k.Unmarshal(text); err != nil {
		return nil //nolint:nilerr // kustomize reads it in the same way, and says what is wrong
	}
	if len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0 || k.HelmGlobals != nil {
		return errors.New("it has helmCharts, and Flux's kustomize runs no helm")
	}
	f.hasSchema = f.hasSchema || len(k.OpenAPI) > 0
	for _, list := range [][]string{k.Generators, k.Transformers, k.Validators} {
		for _, one := range list {
			if err := f.checkPlugin(folder, one); err != nil {
				return err
			}
		}
	}
	// Every other text counts but those that are data. A field that kustomize gains is checked too.
	fields := map[string]any{}
	text, err := yaml.Marshal(k)
	if err == nil {
		err = yaml.Unmarshal(text, &fields)
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"generators", "transformers", "validators", "metadata", "labels", "commonLabels", "commonAnnotations",
		"images", "imageTags", "vars", "generatorOptions"} {
		delete(fields, name)
	}
	for _, name := range []string{"configMapGenerator", "secretGenerator", "patches", "patchesJson6902", "replacements"} {
		items, _ := fields[name].([]any)
		for _, item := range items {
			item, _ := item.(map[string]any)
			for _, data := range []string{"literals", "options", "patch", "sourceValue"} {
				delete(item, data)
			}
		}
	}
	rest, err := yaml.Marshal(fields)
	if err != nil {
		return err
	}
	return checkTexts(rest)
}

// checkPlugin refuses a generator, transformer or validator that fetches something. It is a text with its settings, or a file with them.
// Kustomize would also build a folder for them, and its result cannot be checked before it is used.
func (f *files) checkPlugin(folder, plugin string) error {
	if err := checkTexts([]byte(plugin)); err != nil {
		return err
	}
	inside, err := f.relative(filepath.Join(f.dir, filepath.FromSlash(folder), filepath.FromSlash(plugin)))
	if filepath.IsAbs(plugin) {
		inside, err = f.relative(plugin)
	}
	if err != nil {
		return nil //nolint:nilerr // no file of the tree: kustomize finds none either
	}
	isFile, isFolder := f.kind(inside)
	if isFolder {
		return fmt.Errorf("%s is a folder of generators, transformers or validators, and helmdrift reads only files of them", inside)
	}
	if !isFile {
		return nil
	}
	text, err := f.readFile(inside)
	if err != nil {
		return err
	}
	if err := checkTexts(text); err != nil {
		return fmt.Errorf("%s: %w", inside, err)
	}
	return nil
}
