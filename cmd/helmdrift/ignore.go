package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/homedir"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// ignoreOptions are the flags that say what is left out of account, and who field managers are.
type ignoreOptions struct {
	config          string
	paths, managers []string
	fromFlux        bool
	noDefaults      bool
	showControllers bool
}

// addFlags adds the flags that diff and fix share.
func (o *ignoreOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.config, "config", "",
		"configuration with rules (default: the nearest "+configName+" from the working directory up to the root of the repository)")
	fs.StringArrayVar(&o.paths, "ignore", nil, "ignore a path in all objects, such as /spec/replicas; may be repeated")
	fs.StringArrayVar(&o.managers, "ignore-manager", nil, "ignore fields owned only by this field manager; may be repeated")
	fs.BoolVar(&o.fromFlux, "from-flux", false, "also use the rules of spec.driftDetection.ignore in the HelmRelease that owns the release")
	fs.BoolVar(&o.noDefaults, "no-default-ignores", false, "switch the built-in rules off; --show-ignored shows what they silence")
}

// ignoreFlags are the names of addFlags.
func ignoreFlags() []string { return namesOf((&ignoreOptions{}).addFlags) }

// namesOf lists the flags that a function adds.
func namesOf(add func(*pflag.FlagSet)) (names []string) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(fs)
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// ignored is what those flags and the configuration come to.
type ignored struct {
	rules    []threeway.Rule
	managers threeway.Managers
	warnings []report.Message
}

// read reads the configuration and the flags. A path of a flag that cannot be read is an error; in a file that many commands share it
// is a warning.
func (o *ignoreOptions) read(s streams, now time.Time) (out ignored, err error) {
	path, err := o.configPath(s)
	if err != nil {
		return out, err
	}
	if path != "" {
		config, err := readConfig(path)
		if err != nil {
			return out, err
		}
		out.rules, out.warnings = threeway.ReadRules(filepath.Base(path), config.Ignore, now)
		out.managers = config.Managers
	}
	for _, path := range o.paths {
		if path == "" {
			return out, errors.New("--ignore needs a path, such as /spec/replicas")
		}
		pattern, err := threeway.ParsePattern(path)
		if err != nil {
			return out, fmt.Errorf("--ignore: %w", err)
		}
		out.rules = append(out.rules, threeway.Rule{Name: "--ignore " + path, Paths: []threeway.Pattern{pattern}})
	}
	for _, manager := range o.managers {
		if manager == "" {
			return out, errors.New("--ignore-manager needs a name")
		}
		out.rules = append(out.rules, threeway.Rule{Name: "--ignore-manager " + manager, Managers: []string{manager}})
	}
	for _, rule := range out.rules {
		if rule.SelectsEverything() {
			return out, fmt.Errorf("%s: %w", rule.Name, threeway.ErrSelectsEverything)
		}
	}
	if !o.noDefaults {
		out.rules = append(out.rules, threeway.BuiltInRules()...)
	}
	return out, nil
}

// configPath is the configuration that --config names, or else the one that is found, which is said on stderr: whoever reads the report
// must be able to see what decided what counts. It is empty where there is none.
func (o *ignoreOptions) configPath(s streams) (string, error) {
	if o.config != "" {
		return o.config, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
	path, err := configFinder{home: homedir.HomeDir(), env: s.env}.find(dir)
	if err == nil && path != "" {
		s.print("using ", path)
	}
	return path, err
}

// heed puts what is left out of account into an input; what the release's own HelmRelease says of it is read for that.
func (d diff) heed(ctx context.Context, in *threeway.Input) error {
	in.Rules, in.Managers, in.ShowControllers = d.ignored.rules, d.ignored.managers, d.options.showControllers
	in.Warnings = append(in.Warnings, d.ignored.warnings...)
	if !d.options.fromFlux {
		return nil
	}
	rules, warnings, err := d.fluxRules(ctx, in)
	in.Rules, in.Warnings = append(rules, in.Rules...), append(in.Warnings, warnings...)
	return err
}

// Flux puts the name of the HelmRelease on every object that it deploys (fluxcd/helm-controller v1.6
// internal/postrender/origin_labels.go).
const (
	fluxGroup          = "helm.toolkit.fluxcd.io"
	fluxNameLabel      = fluxGroup + "/name"
	fluxNamespaceLabel = fluxGroup + "/namespace"
)

// fluxRules reads the rules of the HelmRelease that the objects of the release name.
func (d diff) fluxRules(ctx context.Context, in *threeway.Input) ([]threeway.Rule, []report.Message, error) {
	name, namespace := fluxOwner(in.OldObjects)
	if name == "" {
		return nil, nil, hinted{error: fmt.Errorf("--from-flux: release %q was not deployed by Flux: none of its objects has the label %s", in.Name, fluxNameLabel),
			hint: "without --from-flux, rules come from " + configName + " and --ignore"}
	}
	owner, err := d.cluster.Get(ctx, fluxRef(name, namespace))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("--from-flux: HelmRelease %s/%s: %w", namespace, name, err)
	case owner == nil:
		return nil, nil, hinted{error: fmt.Errorf("--from-flux: HelmRelease %s/%s is not there", namespace, name),
			hint: "it may have been deleted, or live in another cluster than what it deploys"}
	}
	detection, _, err := unstructured.NestedMap(owner, "spec", "driftDetection")
	var spec struct {
		Ignore []report.RuleText `json:"ignore,omitempty"`
	}
	if err == nil && detection != nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(detection, &spec)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--from-flux: HelmRelease %s/%s: spec.driftDetection: %w", namespace, name, err)
	}
	rules, warnings := threeway.ReadRules("HelmRelease "+namespace+"/"+name, spec.Ignore, time.Now())
	return rules, warnings, nil
}

func fluxRef(name, namespace string) object.Ref {
	return object.Ref{Key: object.Key{Group: fluxGroup, Kind: "HelmRelease", Namespace: namespace, Name: name}, Version: "v2"}
}

// fluxOwner names the HelmRelease that objects were deployed by; empty where there is none.
func fluxOwner(objects []object.Object) (name, namespace string) {
	for _, o := range objects {
		labels, _, _ := unstructured.NestedStringMap(o.Content, "metadata", "labels")
		if labels[fluxNameLabel] != "" {
			return labels[fluxNameLabel], labels[fluxNamespaceLabel]
		}
	}
	return "", ""
}
