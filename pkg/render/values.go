package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// ValueOptions are the values for a rendering. Helm's own type (pkg/cli/values) links its getters, registry and
// command line settings, and its errors quote the values. It does little, so that is repeated here.
type ValueOptions struct {
	// Files are the -f files; later ones override earlier ones. The other flags override all files, in the order of
	// these fields: --set-json, --set, --set-string, --set-file, --set-literal, with one expression each.
	Files, JSON, Set, SetString, SetFile, Literal []string
	// Reuse says how the old revision's values are used.
	Reuse Reuse
	// helm4 merges the values as Helm 4 does, instead of Helm 3.
	helm4 bool
	// known learns the values before Helm's libraries see them, because these log values.
	known *secret.Known
	// ReadFile reads one of Files, or a file that a --set-file expression names; nil means os.ReadFile. It decides
	// what "-" and URLs mean.
	ReadFile func(name string) ([]byte, error)
}

// Reuse says how the old revision's values are used.
type Reuse int

const (
	// ReuseDefault uses the old revision's own values if no values are given.
	ReuseDefault Reuse = iota
	// ReuseReset uses none of them (--reset-values).
	ReuseReset
	// ReuseValues merges the given values into them, over the defaults of the old chart (--reuse-values).
	ReuseValues
	// ReuseAfterReset merges the given values into them, over the defaults of the new chart
	// (--reset-then-reuse-values).
	ReuseAfterReset
)

// Previous is what the old revision's record has about its values. Numbers are float64, as encoding/json decodes
// them: Helm's templates print a million as 1e+06.
type Previous struct {
	// Config are the values that the user gave.
	Config map[string]any
	// Metadata and Values come from the old chart. The record has no subcharts, so Values lacks their defaults.
	Metadata *chart.Metadata
	Values   map[string]any
}

// chooseValues returns the user's values for the templates. With --reuse-values it also returns the defaults that
// replace the chart's own; otherwise defaults is nil (helm v3.22.0 and v4.3.1 pkg/action/upgrade.go reuseValues). An
// empty values file does not count as given. The maps of previous are not changed.
func (o ValueOptions) chooseValues(previous Previous) (values, defaults map[string]any, err error) {
	o.known.AddGiven(copyValue(previous.Config))
	o.known.AddAnnounced(copyValue(previous.Values))
	if values, err = o.merge(); err != nil {
		return nil, nil, err
	}
	o.known.AddGiven(copyValue(values))
	switch {
	case o.Reuse == ReuseReset, o.Reuse == ReuseDefault && len(values) > 0:
		return values, nil, nil
	case o.Reuse == ReuseValues:
		if defaults, err = previous.coalesced(o.helm4); err != nil {
			return nil, nil, err
		}
	}
	return previous.overlaidBy(values), defaults, nil
}

// coalesced returns the values that rendered the old revision's templates, as far as its record has them. Helm 4 drops the nulls of the
// old chart's defaults (helm v4.3.1 pkg/chart/common/util/coalesce.go cleanNilValues). Helm 3 keeps them, and such a null removes a default
// of a subchart.
func (p Previous) coalesced(helm4 bool) (map[string]any, error) {
	coalesce, name := coalesceHelm3, ""
	if helm4 {
		coalesce = coalesceHelm4
	}
	if p.Metadata != nil { // Helm would crash on a record without metadata
		name = p.Metadata.Name
	}
	coalesced, err := coalesce(name, p.Values, p.Config)
	if err != nil {
		return nil, errors.New("the values of the old revision cannot be merged with the defaults of its chart")
	}
	return coalesced, nil
}

// overlaidBy merges values into the old revision's own. A null removes an old value.
func (p Previous) overlaidBy(values map[string]any) map[string]any {
	config, _ := copyValue(p.Config).(map[string]any)
	return chartutil.CoalesceTables(values, config)
}

// Merged returns all values of the command line as one map, as Helm 4 or Helm 3 merges them. The values of the old revision are not in it.
func (o ValueOptions) Merged(helm4 bool) (map[string]any, error) {
	o.helm4 = helm4
	return o.merge()
}

// merge merges all values of the command line, by kind and not by their order (helm v3.22.0 pkg/cli/values/options.go
// MergeValues). Helm 4.3.1 differs in one respect: it merges all documents of a values file (pkg/chart/v2/loader
// LoadValues), while Helm 3 reads the first.
func (o ValueOptions) merge() (map[string]any, error) {
	values := map[string]any{}
	for _, name := range o.Files {
		given, err := o.readValues(name)
		if err != nil {
			return nil, err
		}
		values = loader.MergeMaps(values, given)
	}
	kinds := []struct {
		flag        string
		expressions []string
		apply       func(string, map[string]any) error
	}{
		{"--set-json", o.JSON, applyJSON},
		{"--set", o.Set, strvals.ParseInto},
		{"--set-string", o.SetString, strvals.ParseIntoString},
		{"--set-file", o.SetFile, o.applyFile},
		{"--set-literal", o.Literal, strvals.ParseLiteralInto},
	}
	for _, kind := range kinds {
		for i, expression := range kind.expressions {
			if err := kind.apply(expression, values); err != nil {
				return nil, newExpressionError(kind.flag, i+1, err)
			}
		}
	}
	return values, nil
}

// readValues decodes a file as Helm does, with float64 for numbers. Its errors do not quote the file.
func (o ValueOptions) readValues(name string) (map[string]any, error) {
	text, err := o.read(name)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	documents := [][]byte{text}
	if o.helm4 {
		if documents, err = splitValues(text); err != nil {
			return nil, fmt.Errorf("reading values: file %s %w", shownName(name), err)
		}
	}
	values := map[string]any{}
	for _, document := range documents {
		var given map[string]any
		if err := yaml.Unmarshal(document, &given); err != nil {
			return nil, fmt.Errorf("reading values: file %s %w", shownName(name), valuesFileError(err))
		}
		values = loader.MergeMaps(values, given)
	}
	return values, nil
}

// splitValues splits a values file at its separator lines.
func splitValues(text []byte) (documents [][]byte, err error) {
	for document, err := range yamlChunks(bytes.NewReader(append(slices.Clip(text), '\n'))) {
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// shownName returns the name of a values file, without the credentials and tokens that a URL may contain.
func shownName(name string) string {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host + u.Path
	}
	return name
}

func (o ValueOptions) read(name string) ([]byte, error) {
	if o.ReadFile == nil {
		return os.ReadFile(name)
	}
	return o.ReadFile(name)
}

// applyJSON applies key=json and, as Helm 4 but not Helm 3 does, a whole object.
func applyJSON(expression string, values map[string]any) error {
	trimmed := strings.TrimSpace(expression)
	if !strings.HasPrefix(trimmed, "{") {
		return strvals.ParseJSON(expression, values)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(trimmed), &object); err != nil {
		return err
	}
	maps.Copy(values, loader.MergeMaps(values, object))
	return nil
}

// applyFile applies key=path with the text of the file as the value.
func (o ValueOptions) applyFile(expression string, values map[string]any) error {
	return strvals.ParseIntoFile(expression, values, func(name []rune) (any, error) {
		text, err := o.read(string(name))
		if err != nil {
			return nil, fileError{err}
		}
		return string(text), nil
	})
}

// SetFileNames returns the names of the files that SetFile reads, or the error of an expression that cannot be parsed.
// It opens none of them.
func (o ValueOptions) SetFileNames() (names []string, err error) {
	for i, expression := range o.SetFile {
		err := strvals.ParseIntoFile(expression, map[string]any{}, func(name []rune) (any, error) {
			names = append(names, string(name))
			return "", nil
		})
		if err != nil {
			return nil, newExpressionError("--set-file", i+1, err)
		}
	}
	return names, nil
}

// fileError marks an error about a file that quotes no value.
type fileError struct{ error }

// Unwrap returns the cause.
func (u fileError) Unwrap() error { return u.error }

// expressionError is about an expression that cannot be parsed. It names the expression by its position. The
// parser's own errors quote it, and a value may stand where the parser expects a key (--set s3cr3t).
type expressionError struct {
	flag   string
	number int
}

func newExpressionError(flag string, number int, err error) error {
	place := expressionError{flag, number}
	if file, isFile := errors.AsType[fileError](err); isFile {
		return fmt.Errorf("reading a file for %s: %w", place.name(), file.error)
	}
	return place
}

func (e expressionError) name() string {
	return fmt.Sprintf("the %s %s expression", ordinal(e.number), e.flag)
}

// Error names the expression without quoting it.
func (e expressionError) Error() string { return e.name() + " cannot be parsed" }

// Hint shows the form of the flag's expressions.
func (e expressionError) Hint() string {
	switch e.flag {
	case "--set-json":
		return `--set-json takes key=JSON, such as 'ports=[80,443]', or one whole object, such as '{"ports":[80,443]}'`
	case "--set-file":
		return "--set-file takes key=path"
	case "--set-literal":
		return "--set-literal takes key=value, one for each flag"
	}
	return e.flag + ` takes key=value, with a backslash before a comma that belongs to the value`
}

// ordinal returns 1st, 2nd, 3rd, 4th ...
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 && n%10 >= 1 && n%10 <= 3 {
		suffix = []string{"st", "nd", "rd"}[n%10-1]
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
