package render

import (
	"fmt"
	"maps"
	"os"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// ValueOptions are the values given for a rendering. Helm's type for them (pkg/cli/values) links its getters, registry
// and command line settings, so the little that it does stands here.
type ValueOptions struct {
	// Files are the -f files, later ones over earlier ones.
	Files []string
	// Set are the --set expressions, over all files.
	Set []string
	// ReadFile reads one of Files; os.ReadFile where it is nil.
	ReadFile func(name string) ([]byte, error)
}

// choose gives the values for the templates: what the options say or, if that comes to nothing, the values of the old
// revision (helm v3.22.0 pkg/action/upgrade.go reuseValues, without any of the reset and reuse flags). An empty file
// counts as nothing.
func (o ValueOptions) choose(config map[string]any) (map[string]any, error) {
	values, err := o.merge()
	if err != nil {
		return nil, err
	}
	if len(values) == 0 && len(config) > 0 {
		return config, nil
	}
	return values, nil
}

// merge applies files first and expressions after, whatever their order on the command line
// (pkg/cli/values/options.go MergeValues).
func (o ValueOptions) merge() (map[string]any, error) {
	values := map[string]any{}
	for _, name := range o.Files {
		given, err := o.readValues(name)
		if err != nil {
			return nil, err
		}
		values = overlay(values, given)
	}
	for _, expression := range o.Set {
		if err := strvals.ParseInto(expression, values); err != nil {
			return nil, fmt.Errorf("parsing a --set expression: %w", err)
		}
	}
	return values, nil
}

// readValues decodes a file as Helm does, with float64 for numbers. Its errors do not quote the file.
func (o ValueOptions) readValues(name string) (map[string]any, error) {
	read := o.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	text, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("reading values: file %s %w", name, yamlFault(err))
	}
	return values, nil
}

// overlay puts over on top of base: maps are merged, everything else is replaced, null included. The result may share
// maps with both.
func overlay(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	for key, value := range over {
		below, isMap := merged[key].(map[string]any)
		above, overIsMap := value.(map[string]any)
		if isMap && overIsMap {
			value = overlay(below, above)
		}
		merged[key] = value
	}
	return merged
}
