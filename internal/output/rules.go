package output

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// writeRules gives the rules that silence what a report says, as the configuration takes them: who puts them there accepts what is. A
// rule names one object and the places of it, or the object as a whole where that is missing or the operation fails on it.
func writeRules(r *threeway.Report, _ Options) ([]byte, error) {
	var config struct {
		Ignore []threeway.RuleText `json:"ignore"`
	}
	config.Ignore = []threeway.RuleText{}
	unseen := 0
	for _, release := range r.Releases {
		unseen += len(release.Errors)
		for _, o := range release.Objects {
			unseen += one(o.Error != nil)
			if rule, needed := ruleFor(release, o); needed {
				rule.Reason = "accepted on " + r.Time.Format(time.DateOnly)
				config.Ignore = append(config.Ignore, rule)
			}
		}
	}
	doc, err := encodeYAML(config)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if unseen > 0 {
		fmt.Fprintf(&out, "# Incomplete: %s could not be seen.\n", plural(unseen, "part"))
	}
	out.Write(doc)
	return out.Bytes(), nil
}

// ruleFor makes the rule for one object; false where nothing of it counts.
func ruleFor(release threeway.ReleaseReport, o threeway.ObjectReport) (threeway.RuleText, bool) {
	group, version, grouped := bytes.Cut([]byte(o.APIVersion), []byte("/"))
	if !grouped {
		group, version = nil, group
	}
	rule := threeway.RuleText{Releases: []string{release.Name}, Target: &threeway.TargetText{
		Group: regexp.QuoteMeta(string(group)), Kind: regexp.QuoteMeta(o.Kind), Name: regexp.QuoteMeta(o.Name), Namespace: regexp.QuoteMeta(o.Namespace),
	}}
	if !grouped {
		rule.Target.Version = regexp.QuoteMeta(string(version)) // an empty group would be any
	}
	if o.IgnoredBy == nil && (o.Missing || o.Action == threeway.ActionFail) {
		return rule, true
	}
	for _, f := range o.Fields {
		if !f.Silenced() {
			rule.Paths = append(rule.Paths, f.Pattern)
		}
	}
	return rule, len(rule.Paths) > 0
}

// writeFixRules refuses: what a fix did is nothing to be ignored.
func writeFixRules(*threeway.FixResult, Options) ([]byte, error) {
	return nil, errors.New("the rules that would silence a report are an answer of diff")
}
