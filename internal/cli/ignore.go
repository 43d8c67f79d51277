package cli

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
	"github.com/helmdrift/helmdrift/internal/ignore/findings"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file turns the configuration and the flags into ignore rules. A mistake here hides drift without a trace, so this code guesses
// nothing: an unreadable flag, an unknown word in the configuration and a rule for everything are errors, and reports name the rule of
// each finding.

// IgnoreOptions are the flags that say what to ignore. docs/ignore.md describes rules, and how rules of several sources add up.
type IgnoreOptions struct {
	// config is the file that --config names. If it is empty, the program searches for one.
	config          string
	paths, managers []string
	fromFlux        bool
	noDefaults      bool
	// ShowControllers is a flag of diff alone: fix removes nothing that a controller wrote.
	ShowControllers bool
}

// AddFlags adds the flags that diff and fix share, in the order of the help.
func (o *IgnoreOptions) AddFlags(fs *pflag.FlagSet) {
	o.addRuleFlags(fs)
	fs.StringVar(&o.config, "config", "",
		"configuration `file` with ignore rules (default: the nearest "+config.FileName+", up to the repository root)")
	fs.BoolVar(&o.fromFlux, "from-flux", false, "also use the rules in spec.driftDetection.ignore of the HelmRelease that deploys the release")
	fs.BoolVar(&o.noDefaults, "no-default-ignores", false, "do not use the built-in ignore rules; diff --show-ignored lists what they ignore")
}

// addRuleFlags adds the flags that are rules.
func (o *IgnoreOptions) addRuleFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.paths, "ignore", nil, "ignore this `path` in all objects, such as /spec/replicas; may be repeated")
	fs.StringArrayVar(&o.managers, "ignore-manager", nil, "ignore fields that only the field manager `name` owns; may be repeated")
}

// AddSavedFlags adds the flags of report. The command report does not search for a configuration, because the comparison
// behind a report has used it.
func (o *IgnoreOptions) AddSavedFlags(fs *pflag.FlagSet) {
	o.addRuleFlags(fs)
	fs.StringVar(&o.config, "config", "", "configuration `file` whose ignore rules apply too")
}

// SavedIgnoreFlags returns the names of the flags of AddSavedFlags.
func SavedIgnoreFlags() []string { return NamesOf((&IgnoreOptions{}).AddSavedFlags) }

// IgnoreFlags returns the names of the flags of AddFlags.
func IgnoreFlags() []string { return NamesOf((&IgnoreOptions{}).AddFlags) }

// addRules adds the rules of the configuration and of the flags to the options of a comparison.
func (o *IgnoreOptions) addRules(out *drift.Options, s Streams) error {
	path, err := o.configPath(s)
	if err != nil {
		return err
	}
	out.Ignore, out.Managers, err = o.rules(path)
	out.NoBuiltInRules, out.FromFlux, out.ShowControllers = o.noDefaults, o.fromFlux, o.ShowControllers
	return err
}

// rules returns the rules of a configuration and of the flags, and the field managers that the configuration names. The path is empty if
// there is no configuration. A rule that cannot be read is an error if a flag has it. In the configuration, which many commands share, it
// becomes a warning of the report.
func (o *IgnoreOptions) rules(path string) (rules []report.RuleText, managers owners.Managers, err error) {
	if path != "" {
		file, err := config.Read(path)
		if err != nil {
			return nil, nil, err
		}
		for i, rule := range file.Ignore {
			rule.Name = fmt.Sprintf("%s ignore[%d]", filepath.Base(path), i)
			rules = append(rules, rule)
		}
		managers = file.Managers
	}
	flagRules, err := o.flagRules()
	return append(rules, flagRules...), managers, err
}

// Apply silences what the rules name in a saved report. The configuration's groups of field managers have no effect: the report
// already has the groups of its owners.
func (o *IgnoreOptions) Apply(r *report.Report, now time.Time) error {
	texts, _, err := o.rules(o.config)
	if err != nil || len(texts) == 0 {
		return err
	}
	rules, warnings := ignore.ReadRules(o.config, texts, now)
	for i := range r.Releases {
		r.Releases[i].Warnings = append(r.Releases[i].Warnings, warnings...)
	}
	return findings.Apply(rules, r)
}

// flagRules returns the rules of --ignore and --ignore-manager. Reports name such a rule by its flag.
func (o *IgnoreOptions) flagRules() (out []report.RuleText, err error) {
	for _, path := range o.paths {
		if path == "" {
			return nil, errors.New("--ignore needs a path, such as /spec/replicas")
		}
		if _, err := ignore.ParsePattern(path); err != nil {
			return nil, fmt.Errorf("--ignore: %w", err)
		}
		out = append(out, report.RuleText{Name: "--ignore " + path, Paths: []string{path}})
	}
	for _, manager := range o.managers {
		if manager == "" {
			return nil, errors.New("--ignore-manager needs a name")
		}
		out = append(out, report.RuleText{Name: "--ignore-manager " + manager, Managers: []string{manager}})
	}
	// config.Read has checked those of the configuration.
	for _, rule := range out {
		if ignore.TextSelectsEverything(rule) {
			return nil, fmt.Errorf("%s: %w", rule.Name, ignore.ErrSelectsEverything)
		}
	}
	return out, nil
}

// configPath returns the configuration that --config names, or else the one that is found, or "" if there is none. It names a found file
// on stderr, so that readers of the report can see what decided which drift counts.
func (o *IgnoreOptions) configPath(s Streams) (string, error) {
	if o.config != "" {
		return o.config, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
	path, err := config.Finder{Home: homedir.HomeDir(), Env: s.Env}.Find(dir)
	if err == nil && path != "" {
		fmt.Fprintln(s.Err, "using "+s.Terminal().File(path))
	}
	return path, err
}
