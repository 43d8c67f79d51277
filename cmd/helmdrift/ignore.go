package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/util/homedir"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// ignoreOptions are the flags that say what to ignore, and who field managers are.
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
		"configuration `file` with ignore rules (default: the nearest "+configName+" between the working directory and the repository root)")
	fs.StringArrayVar(&o.paths, "ignore", nil, "ignore this `path` in all objects, such as /spec/replicas; may be repeated")
	fs.StringArrayVar(&o.managers, "ignore-manager", nil, "ignore fields that only the field manager `name` owns; may be repeated")
	fs.BoolVar(&o.fromFlux, "from-flux", false, "also use the rules in spec.driftDetection.ignore of the HelmRelease that owns the release")
	fs.BoolVar(&o.noDefaults, "no-default-ignores", false, "turn the built-in ignore rules off; diff --show-ignored lists what they ignore")
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

// addRules reads the configuration and the flags into the options of a comparison. A path of a flag that cannot be read is an error; in a
// file that many commands share it is a warning.
func (o *ignoreOptions) addRules(out *drift.Options, s streams, now time.Time) error {
	path, err := o.configPath(s)
	if err != nil {
		return err
	}
	if path != "" {
		config, err := readConfig(path)
		if err != nil {
			return err
		}
		out.Rules, out.Warnings = ignore.ReadRules(filepath.Base(path), config.Ignore, now)
		out.Managers = config.Managers
	}
	given, err := o.rules()
	if err != nil {
		return err
	}
	out.Rules = append(out.Rules, given...)
	for _, rule := range out.Rules {
		if rule.SelectsEverything() {
			return fmt.Errorf("%s: %w", rule.Name, ignore.ErrSelectsEverything)
		}
	}
	out.NoBuiltInRules, out.FromFlux, out.ShowControllers = o.noDefaults, o.fromFlux, o.showControllers
	return nil
}

// rules are those of the flags.
func (o *ignoreOptions) rules() (out []ignore.Rule, err error) {
	for _, path := range o.paths {
		if path == "" {
			return nil, errors.New("--ignore needs a path, such as /spec/replicas")
		}
		pattern, err := ignore.ParsePattern(path)
		if err != nil {
			return nil, fmt.Errorf("--ignore: %w", err)
		}
		out = append(out, ignore.Rule{Name: "--ignore " + path, Paths: []ignore.Pattern{pattern}})
	}
	for _, manager := range o.managers {
		if manager == "" {
			return nil, errors.New("--ignore-manager needs a name")
		}
		out = append(out, ignore.Rule{Name: "--ignore-manager " + manager, Managers: []string{manager}})
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
