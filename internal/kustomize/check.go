package kustomize

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// check refuses a kustomization with something that kustomize would fetch. Kustomize's loader runs git and HTTP requests itself, whatever
// its file system says, so nothing of that kind may reach it (sigs.k8s.io/kustomize/api v0.21.1 internal/loader/fileloader.go New, Load).
func (f *Files) check(folder string, text []byte) error {
	var k kustomizetypes.Kustomization
	if err := k.Unmarshal(text); err != nil {
		return nil //nolint:nilerr // kustomize reads it in the same way, and says what is wrong
	}
	if len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0 || k.HelmGlobals != nil {
		return fmt.Errorf("it has helmCharts, and %s", f.noHelm)
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
func (f *Files) checkPlugin(folder, plugin string) error {
	if err := checkTexts([]byte(plugin)); err != nil {
		return err
	}
	inside, err := f.Relative(filepath.Join(f.Dir, filepath.FromSlash(folder), filepath.FromSlash(plugin)))
	if filepath.IsAbs(plugin) {
		inside, err = f.Relative(plugin)
	}
	if err != nil {
		return nil //nolint:nilerr // no file of the tree: kustomize finds none either
	}
	isFile, isFolder := f.Kind(inside)
	if isFolder {
		return fmt.Errorf("%s is a folder of generators, transformers or validators, and helmdrift reads only files of them", inside)
	}
	if !isFile {
		return nil
	}
	text, err := f.Read(inside)
	if err != nil {
		return err
	}
	if err := checkTexts(text); err != nil {
		return fmt.Errorf("%s: %w", inside, err)
	}
	return nil
}

// checkTexts refuses a YAML text if kustomize could fetch something that it names.
func checkTexts(text []byte) error {
	documents, err := nodesOf(text)
	if err != nil {
		return fmt.Errorf("it is not YAML: %w", err)
	}
	for _, d := range documents {
		if err := checkNode(d); err != nil {
			return err
		}
	}
	return nil
}

// checkNode checks a node and what is below it. An alias names a node that is checked where it is.
func checkNode(n *yaml3.Node) error {
	text := n.Value
	if n.Kind == yaml3.ScalarNode && n.ShortTag() == "!!binary" { // kustomize reads what it stands for
		if err := n.Decode(&text); err != nil {
			return fmt.Errorf("it has a binary text that cannot be read: %w", err)
		}
	}
	// A source of a generator may have the form KEY=FILE.
	for text != "" {
		if IsRemote(text) {
			return fmt.Errorf("it needs %q, which is not in the tree: --allow-remote-bases fetches resources and components, and nothing else "+
				"is fetched", text)
		}
		_, text, _ = strings.Cut(text, "=")
	}
	for _, below := range n.Content {
		if err := checkNode(below); err != nil {
			return err
		}
	}
	return nil
}

// user matches an address like git@host:path.
var user = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@.*[:/]`)

// IsRemote reports whether kustomize could take a text for an address. It says yes to more than kustomize does
// (sigs.k8s.io/kustomize/api v0.21.1 internal/git/repospec.go NewRepoSpecFromURL, internal/loader/fileloader.go IsRemoteFile).
func IsRemote(text string) bool {
	lower := strings.ToLower(text)
	for _, prefix := range []string{"git::", "gh:", "ssh:", "https:", "http:", "file:", "github.com/", "github.com:"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	address, err := url.Parse(text)
	return user.MatchString(text) || err == nil && (address.Scheme == "http" || address.Scheme == "https")
}
