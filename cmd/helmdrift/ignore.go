package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/util/homedir"

	"github.com/helmdrift/helmdrift/internal/config"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file turns the configuration and the flags into ignore rules. A mistake here hides drift without a trace, so nothing is guessed: an
// unreadable flag, an unknown word in the configuration and a rule for everything are errors, and reports name the rule of each finding.

// ignoreOptions are the flags that say what to ignore. docs/ignore.md describes rules, and how those of several sources add up.
type ignoreOptions struct {
	// config is the file that --config names; empty means that one is searched for.
	config          string
	paths, managers []string
	fromFlux        bool
	noDefaults      bool
	// showControllers is a flag of diff alone: fix removes nothing that a controller wrote.
	showControllers bool
}

// addFlags adds the flags that diff and fix share, in the order of the help.
func (o *ignoreOptions) addFlags(fs *pflag.FlagSet) {
	o.addRuleFlags(fs)
	fs.StringVar(&o.config, "config", "",
		"configuration `file` with ignore rules (default: the nearest "+config.FileName+", up to the repository root)")
	fs.BoolVar(&o.fromFlux, "from-flux", false, "also use the rules in spec.driftDetection.ignore of the HelmRelease that deploys the release")
	fs.BoolVar(&o.noDefaults, "no-default-ignores", false, "do not use the built-in ignore rules; diff --show-ignored lists what they ignore")
}

// addRuleFlags adds the flags that are rules.
func (o *ignoreOptions) addRuleFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.paths, "ignore", nil, "ignore this `path` in all objects, such as /spec/replicas; may be repeated")
	fs.StringArrayVar(&o.managers, "ignore-manager", nil, "ignore fields that only the field manager `name` owns; may be repeated")
}

// addSavedFlags adds the flags of report. It searches for no configuration: the comparison that made a report has used it.
func (o *ignoreOptions) addSavedFlags(fs *pflag.FlagSet) {
	o.addRuleFlags(fs)
	fs.StringVar(&o.config, "config", "", "configuration `file` whose ignore rules apply too")
}

// savedIgnoreFlags returns the names of the flags of addSavedFlags.
func savedIgnoreFlags() []string { return namesOf((&ignoreOptions{}).addSavedFlags) }

// ignoreFlags returns the names of the flags of addFlags.
func ignoreFlags() []string { return namesOf((&ignoreOptions{}).addFlags) }

// addRules adds the rules of the configuration and of the flags to the options of a comparison.
func (o *ignoreOptions) addRules(out *drift.Options, s streams, now time.Time) error {
	path, err := o.configPath(s)
	if err != nil {
		return err
	}
	out.Rules, out.Managers, out.Warnings, err = o.rules(path, now)
	out.NoBuiltInRules, out.FromFlux, out.ShowControllers = o.noDefaults, o.fromFlux, o.showControllers
	return err
}

// rules returns the rules of a configuration and of the flags, and the field managers that the configuration names. The path is empty if
// there is no configuration. A rule that cannot be read is an error if a flag has it, and a warning if it is in the configuration, which
// many commands share.
func (o *ignoreOptions) rules(path string, now time.Time) (
	rules []ignore.Rule, managers owners.Managers, warnings []report.Message, err error,
) {
	if path != "" {
		file, err := config.Read(path)
		if err != nil {
			return nil, nil, nil, err
		}
		rules, warnings = ignore.ReadRules(filepath.Base(path), file.Ignore, now)
		managers = file.Managers
	}
	flagRules, err := o.flagRules()
	if err != nil {
		return nil, nil, nil, err
	}
	rules = append(rules, flagRules...)
	// The check comes last, so that it holds for rules of every source. config.Read checks the texts of rules that could not be read, too.
	for _, rule := range rules {
		if rule.SelectsEverything() {
			return nil, nil, nil, fmt.Errorf("%s: %w", rule.Name, ignore.ErrSelectsEverything)
		}
	}
	return rules, managers, warnings, nil
}

// apply silences what the rules name in a saved report. The groups of field managers that the configuration names have no effect: the
// report has the groups of its owners already.
func (o *ignoreOptions) apply(r *report.Report, now time.Time) error {
	rules, _, warnings, err := o.rules(o.config, now)
	if err != nil || len(rules)+len(warnings) == 0 {
		return err
	}
	for i := range r.Releases {
		r.Releases[i].Warnings = append(r.Releases[i].Warnings, warnings...)
	}
	return ignore.Apply(rules, r)
}

// flagRules returns the rules that --ignore and --ignore-manager make. Reports name a rule by its flag.
func (o *ignoreOptions) flagRules() (out []ignore.Rule, err error) {
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

// configPath returns the configuration that --config names, or else the one that is found; empty if there is none. A file that was found is
// named on stderr: whoever reads the report must be able to see what decided which drift counts.
func (o *ignoreOptions) configPath(s streams) (string, error) {
	if o.config != "" {
		return o.config, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
	path, err := config.Finder{Home: homedir.HomeDir(), Env: s.env}.Find(dir)
	if err == nil && path != "" {
		fmt.Fprintln(s.err, "using "+s.terminal().File(path))
	}
	return path, err
}
