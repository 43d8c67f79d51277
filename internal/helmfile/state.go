package helmfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// This file reads what helmfile build prints: the state after all templates, one document for each file.

// State is what helmfile build and the records of a run say.
type State struct {
	// Helm is the program that helmfile calls as helm.
	Helm     string
	Releases []Declared
}

// Declared is a release that a helmfile has.
type Declared struct {
	Name, Namespace, Context string
	// File is the helmfile that has the release.
	File string
	// Chart is what the helmfile calls the chart.
	Chart string
	// IsInstalled is not set if helmfile uninstalls the release.
	IsInstalled bool
	// OnlyUpgrade are flags that helmfile gives helm upgrade, and not helm diff.
	OnlyUpgrade []string
}

// document is what is read of a document of helmfile build (helmfile v1.8.0 pkg/state/state.go).
type document struct {
	FilePath   string `json:"filepath"`
	HelmBinary string `json:"helmBinary"`
	Defaults   struct {
		options
		KubeContext string   `json:"kubeContext"`
		SyncArgs    []string `json:"syncArgs"`
	} `json:"helmDefaults"`
	OverrideNamespace string `json:"namespace"`
	Releases          []struct {
		options
		Name        string `json:"name"`
		Namespace   string `json:"namespace"`
		KubeContext string `json:"kubeContext"`
		Chart       string `json:"chart"`
		Installed   *bool  `json:"installed"`
	} `json:"releases"`
}

// options are those that only helm upgrade gets (helmfile v1.8.0 pkg/state/state.go flagsForUpgrade).
type options struct {
	Force             *bool `json:"force"`
	ForceConflicts    *bool `json:"forceConflicts"`
	CreateNamespace   *bool `json:"createNamespace"`
	Atomic            *bool `json:"atomic"`
	RollbackOnFailure *bool `json:"rollbackOnFailure"`
}

// ReadState reads what helmfile build prints.
func ReadState(text []byte) (*State, error) {
	out := &State{}
	for i, part := range documents(text) {
		var d document
		if err := yaml.Unmarshal(part, &d); err != nil {
			return nil, fmt.Errorf("document %d of helmfile build is not read: %w", i+1, errState)
		}
		if d.HelmBinary != "" && out.Helm != "" && d.HelmBinary != out.Helm {
			return nil, fmt.Errorf("the helmfiles call two programs as helm, %s and %s", out.Helm, d.HelmBinary)
		}
		out.Helm = cmp.Or(out.Helm, d.HelmBinary)
		for _, r := range d.Releases {
			if r.Name == "" {
				return nil, errors.New("helmfile build prints a release without a name")
			}
			out.Releases = append(out.Releases, Declared{
				Name: r.Name, Namespace: cmp.Or(r.Namespace, d.OverrideNamespace), Context: cmp.Or(r.KubeContext, d.Defaults.KubeContext),
				File: d.FilePath, Chart: r.Chart, IsInstalled: r.Installed == nil || *r.Installed,
				OnlyUpgrade: append(r.flags(d.Defaults.options),
					strings.Fields(strings.Join(d.Defaults.SyncArgs, " "))...), // helmfile knows no quotes there
			})
		}
	}
	return out, nil
}

// errState is the error of a document. That of the library quotes values.
var errState = errors.New("it is not a state of helmfile as helmdrift knows it")

// documents returns the documents of a text. helmfile begins each of them with a line that only has three hyphens.
func documents(text []byte) (out [][]byte) {
	for part := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---\n")) {
		if len(bytes.TrimSpace(part)) > 0 {
			out = append(out, part)
		}
	}
	return out
}

// flags returns the flags of a release with these options.
func (o options) flags(defaults options) (out []string) {
	for _, flag := range []struct {
		name          string
		own, defaults *bool
		otherwise     bool
	}{
		{"--force", o.Force, defaults.Force, false},
		{"--force-conflicts", o.ForceConflicts, defaults.ForceConflicts, false},
		{"--create-namespace", o.CreateNamespace, defaults.CreateNamespace, true},
		{"--atomic", o.Atomic, defaults.Atomic, false},
		{"--rollback-on-failure", o.RollbackOnFailure, defaults.RollbackOnFailure, false},
	} {
		isSet := flag.otherwise
		if given := cmp.Or(flag.own, flag.defaults); given != nil {
			isSet = *given
		}
		if isSet {
			out = append(out, flag.name)
		}
	}
	return out
}

// Secret is a text that is secret, and the key that has it.
type Secret struct{ Name, Text string }

// Secrets returns the texts of a document that helm-secrets has decrypted. Of a document that is no YAML, they are the lines.
func Secrets(document []byte) (out []Secret) {
	var values any
	if yaml.Unmarshal(document, &values) != nil {
		for line := range bytes.Lines(document) {
			out = append(out, Secret{"secret", string(bytes.TrimSpace(line))})
		}
		return out
	}
	var add func(name string, value any)
	add = func(name string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, below := range v {
				add(key, below)
			}
		case []any:
			for _, below := range v {
				add(name, below)
			}
		case nil, bool:
		default:
			out = append(out, Secret{name, fmt.Sprint(v)})
		}
	}
	add("secret", values)
	return out
}
