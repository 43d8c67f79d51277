package helmfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// This file reads what helmfile build prints: the state after all templates, one document for each file.

// State is what helmfile build and the records of a run say.
type State struct {
	// Helm is the program that helmfile calls as helm.
	Helm     string
	Releases []Declared
	// Disabled are the releases that helmfile leaves alone because of their conditions.
	Disabled []Declared
	// CleansUp is set if a hook runs after a call of helm, so that charts may be gone afterwards.
	CleansUp bool
	// Reads are the files with values of environments and of nested helmfiles. Environments are the names of all environments.
	Reads        []Entry
	Environments []string
}

// Entry is an item of a list of values or secrets.
type Entry struct {
	// Text is the file or the address as the helmfile has it. It is empty if the helmfile has the values themselves.
	Text string
	// Path is the absolute path of the file, which may be a pattern. It is empty if the entry is none on this machine.
	Path     string
	IsSecret bool
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
	// MayReinstall is set if helmfile installs the release anew when the API server forbids an update.
	MayReinstall bool
	// Values are its values and then its secrets, in the order of the values files that Helm gets. Reads are the files of set.
	Values, Reads []Entry
	// ChartFolder is the absolute path of the chart if it can be a folder.
	ChartFolder string
}

// document is what is read of a document of helmfile build (helmfile v1.8.0 pkg/state/state.go).
type document struct {
	FilePath   string `json:"filepath"`
	HelmBinary string `json:"helmBinary"`
	Defaults   struct {
		options
		download
		KubeContext string   `json:"kubeContext"`
		SyncArgs    []string `json:"syncArgs"`
	} `json:"helmDefaults"`
	Hooks             hooks        `json:"hooks"`
	Repositories      []repository `json:"repositories"`
	OverrideNamespace string       `json:"namespace"`
	Environments      map[string]struct {
		KubeContext string `json:"kubeContext"`
		Values      []any  `json:"values"`
		Secrets     []any  `json:"secrets"`
	} `json:"environments"`
	// Rendered are the values of templates and conditions.
	Rendered  map[string]any `json:"renderedvalues"`
	Values    []any          `json:"values"`
	Helmfiles []struct {
		Values []any `json:"values"`
	} `json:"helmfiles"`
	Releases []struct {
		options
		download
		Hooks       hooks  `json:"hooks"`
		Name        string `json:"name"`
		Namespace   string `json:"namespace"`
		KubeContext string `json:"kubeContext"`
		Chart       string `json:"chart"`
		Installed   *bool  `json:"installed"`
		Condition   string `json:"condition"`
		Values      []any  `json:"values"`
		Secrets     []any  `json:"secrets"`
		Prefix      string `json:"valuesPathPrefix"`
		Strategy    string `json:"updateStrategy"`
		Set         []struct {
			File string `json:"file"`
		} `json:"set"`
	} `json:"releases"`
}

// hooks are programs that helmfile runs at its events.
type hooks []struct {
	Events []string `json:"events"`
}

// cleanUp reports whether one of the hooks runs after helm diff (helmfile v1.8.0 pkg/state/state.go DiffReleases).
func (h hooks) cleanUp() bool {
	for _, hook := range h {
		if slices.Contains(hook.Events, "cleanup") {
			return true
		}
	}
	return false
}

// options are those that only helm upgrade gets (helmfile v1.8.0 pkg/state/state.go flagsForUpgrade).
type options struct {
	Force             *bool `json:"force"`
	ForceConflicts    *bool `json:"forceConflicts"`
	CreateNamespace   *bool `json:"createNamespace"`
	Atomic            *bool `json:"atomic"`
	RollbackOnFailure *bool `json:"rollbackOnFailure"`
	SkipCRDs          *bool `json:"skipCRDs"`
	RecreatePods      *bool `json:"recreatePods"`
}

// download says how helm upgrade gets a chart (appendVerifyFlags, appendKeyringFlags and needsPlainHttp, there).
type download struct {
	Verify    *bool  `json:"verify"`
	Keyring   string `json:"keyring"`
	PlainHTTP bool   `json:"plainHttp"`
}

// repository is a repository that a helmfile names. A chart in it is called NAME/CHART.
type repository struct {
	download
	Name string `json:"name"`
	OCI  bool   `json:"oci"`
}

// DefaultEnvironment is the environment of helmfile if nobody chooses one.
const DefaultEnvironment = "default"

// ReadState reads what helmfile build prints for an environment.
func ReadState(text []byte, environment string) (*State, error) {
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
		at := folderOf(part, d.FilePath)
		out.Reads = append(out.Reads, at.entries("", d.Values, false)...)
		for _, nested := range d.Helmfiles {
			out.Reads = append(out.Reads, at.entries("", nested.Values, false)...)
		}
		for _, name := range slices.Sorted(maps.Keys(d.Environments)) {
			e := d.Environments[name]
			out.Reads = slices.Concat(out.Reads, at.entries("", e.Values, false), at.entries("", e.Secrets, true))
			if !slices.Contains(out.Environments, name) {
				out.Environments = append(out.Environments, name)
			}
		}
		// helmfile build prints what a flag or helmDefaults give a release as its own kubeContext, and helmfile asks the environment after that
		// (helmfile v1.8.0 pkg/state/state.go getKubeContext, ApplyOverrides, pkg/state/state_exec_tmpl.go ExecuteTemplates).
		kubeContext := cmp.Or(d.Environments[environment].KubeContext, d.Defaults.KubeContext)
		out.CleansUp = out.CleansUp || d.Hooks.cleanUp()
		for _, r := range d.Releases {
			if r.Name == "" {
				return nil, errors.New("helmfile build prints a release without a name")
			}
			out.CleansUp = out.CleansUp || r.Hooks.cleanUp()
			var reads []any
			for _, set := range r.Set {
				reads = append(reads, set.File)
			}
			to := &out.Releases
			if !isEnabled(r.Condition, d.Rendered) {
				to = &out.Disabled
			}
			*to = append(*to, Declared{
				Values: append(at.entries(r.Prefix, r.Values, false), at.entries(r.Prefix, r.Secrets, true)...),
				Reads:  at.entries("", reads, false), ChartFolder: at.entries("", []any{r.Chart}, false)[0].Path,
				Name: r.Name, Namespace: cmp.Or(r.Namespace, d.OverrideNamespace), Context: cmp.Or(r.KubeContext, kubeContext),
				File: d.FilePath, Chart: r.Chart, IsInstalled: r.Installed == nil || *r.Installed,
				MayReinstall: r.Strategy == "reinstallIfForbidden",
				OnlyUpgrade: slices.Concat(r.flags(d.Defaults.options), r.downloadFlags(d.repositoryOf(r.Chart), r.Chart, d.Defaults.download),
					strings.Fields(strings.Join(d.Defaults.SyncArgs, " "))), // helmfile knows no quotes there
			})
		}
	}
	return out, nil
}

// errState is the error of a document. That of the library quotes values.
var errState = errors.New("it is not a state of helmfile as helmdrift knows it")

// isEnabled reports whether the condition of a release holds, such as web.enabled (helmfile v1.8.0 pkg/state/state.go ConditionEnabled). If
// helmfile cannot tell, it fails by itself.
func isEnabled(condition string, values map[string]any) bool {
	switch strings.ToLower(condition) {
	case "", "true":
		return true
	case "false":
		return false
	}
	keys := strings.Split(condition, ".")
	for _, key := range keys[:len(keys)-1] {
		below, isMap := values[key].(map[string]any)
		if !isMap {
			return true
		}
		values = below
	}
	enabled, _ := values["enabled"].(bool)
	return enabled || keys[len(keys)-1] != "enabled"
}

// folder is the absolute path of the folder of a helmfile, or "" if it is not known.
type folder string

// folderOf returns the folder of the helmfile that a document was made of. helmfile prints its path in the comment in front, and in
// filepath from the folder where it loaded the file, unless that is absolute.
func folderOf(document []byte, file string) folder {
	if filepath.IsAbs(file) {
		return folder(filepath.Dir(file))
	}
	for line := range bytes.Lines(document) {
		source, isSource := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#  Source: "))
		if isSource && filepath.IsAbs(string(source)) {
			return folder(filepath.Dir(string(source)))
		}
	}
	return ""
}

// entries returns the entries of a list. Prefix stands in front of each name of a file.
func (f folder) entries(prefix string, items []any, areSecret bool) []Entry {
	out := make([]Entry, len(items))
	for i, item := range items {
		text, isText := item.(string)
		if out[i].IsSecret = areSecret; !isText {
			continue
		}
		switch out[i].Text = prefix + text; {
		case strings.Contains(out[i].Text, "://") || strings.HasPrefix(text, "ref+"):
		case filepath.IsAbs(out[i].Text):
			out[i].Path = filepath.Clean(out[i].Text)
		case f != "":
			out[i].Path = filepath.Join(string(f), out[i].Text)
		}
	}
	return out
}

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
		{"--skip-crds", o.SkipCRDs, defaults.SkipCRDs, false},
		{"--recreate-pods", o.RecreatePods, defaults.RecreatePods, false},
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

// repositoryOf returns the repository that a chart is in, or the zero value.
func (d *document) repositoryOf(chart string) repository {
	name, _, isInside := strings.Cut(chart, "/")
	for _, r := range d.Repositories {
		if isInside && r.Name == name {
			return r
		}
	}
	return repository{}
}

// downloadFlags returns the flags for the chart of a release with these options. helmfile itself downloads and verifies charts of
// registries.
func (o download) downloadFlags(from repository, chart string, defaults download) (out []string) {
	if !from.OCI && !strings.HasPrefix(chart, "oci://") {
		isOn := func(on *bool) bool { return on != nil && *on }
		if isOn(o.Verify) || o.Verify == nil && (isOn(from.Verify) || isOn(defaults.Verify)) {
			out = append(out, "--verify")
		}
		if keyring := cmp.Or(o.Keyring, from.Keyring, defaults.Keyring); keyring != "" {
			out = append(out, "--keyring", keyring)
		}
	}
	if o.PlainHTTP || from.PlainHTTP || defaults.PlainHTTP {
		out = append(out, "--plain-http")
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
