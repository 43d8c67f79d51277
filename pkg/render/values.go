package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// ValueOptions are the values given for a rendering. Helm's type for them (pkg/cli/values) links its getters, registry
// and command line settings, and its errors quote what was given; so the little that it does stands here.
type ValueOptions struct {
	// Files are the -f files, later ones over earlier ones. The rest goes over all of them, in the order of these fields:
	// --set-json, --set, --set-string, --set-file, --set-literal, one expression each.
	Files, JSON, Set, SetString, SetFile, Literal []string
	// Reuse is what becomes of the old revision's values.
	Reuse Reuse
	// allDocuments of a values file count, as in Helm 4, and not the first alone.
	allDocuments bool
	// known learns the values before Helm's libraries see them, which log them.
	known *secret.Known
	// ReadFile reads one of Files, or a file that a --set-file expression names; os.ReadFile where it is nil. What "-" and
	// URLs mean is up to it.
	ReadFile func(name string) ([]byte, error)
}

// Reuse is what becomes of the old revision's values.
type Reuse int

const (
	// ReuseDefault takes the old revision's own values where none are given.
	ReuseDefault Reuse = iota
	// ReuseReset takes none of them (--reset-values).
	ReuseReset
	// ReuseValues puts the given ones over them, on the defaults of the old chart instead of the new one's (--reuse-values).
	ReuseValues
	// ReuseAfterReset puts the given ones over them, on the defaults of the new chart (--reset-then-reuse-values).
	ReuseAfterReset
)

// Previous is what the old revision's record says of its values. Numbers are float64, as encoding/json decodes them:
// Helm's templates print what they hold, 1e+06 for a million.
type Previous struct {
	// Config are the values that the user gave.
	Config map[string]any
	// Metadata and Values are the old chart's. The record has no subcharts, so Values lacks the defaults that only they have.
	Metadata *chart.Metadata
	Values   map[string]any
}

// Given tells whether any value or value policy was given on the command line.
func (o ValueOptions) Given() bool {
	given := len(o.Files) + len(o.JSON) + len(o.Set) + len(o.SetString) + len(o.SetFile) + len(o.Literal)
	return given > 0 || o.Reuse != ReuseDefault
}

// choose gives the user's values for the templates, and the defaults that --reuse-values puts in the place of the chart's
// own; defaults is nil in all other cases (helm v3.22.0 pkg/action/upgrade.go reuseValues; v4.3.1 does the same). Whether
// values were given is asked of the result: an empty file is nothing. The maps of previous stay as they are.
func (o ValueOptions) choose(previous Previous) (values, defaults map[string]any, err error) {
	o.known.AddGiven(copyValue(previous.Config))
	o.known.AddAnnounced(copyValue(previous.Values))
	if values, err = o.merge(); err != nil {
		return nil, nil, err
	}
	o.known.AddGiven(copyValue(values))
	switch o.Reuse {
	case ReuseReset:
		return values, nil, nil
	case ReuseValues:
		if defaults, err = previous.coalesced(); err != nil {
			return nil, nil, err
		}
		return previous.under(values), defaults, nil
	case ReuseAfterReset:
		return previous.under(values), nil, nil
	}
	if len(values) == 0 {
		return previous.under(values), nil, nil
	}
	return values, nil, nil
}

// coalesced are the values under which the old revision's templates ran, as far as its record tells.
func (p Previous) coalesced() (map[string]any, error) {
	old := &chart.Chart{Metadata: p.Metadata, Values: p.Values}
	if old.Metadata == nil {
		// A record without metadata, which Helm would fall over. It serves only to name keys in warnings.
		old.Metadata = &chart.Metadata{}
	}
	coalesced, err := chartutil.CoalesceValues(old, p.Config)
	if err != nil {
		return nil, errors.New("the values of the old revision cannot be rebuilt")
	}
	return coalesced, nil
}

// under puts values over the old revision's own. A null takes an old value away.
func (p Previous) under(values map[string]any) map[string]any {
	config, _ := copyValue(p.Config).(map[string]any)
	return chartutil.CoalesceTables(values, config)
}

// merge applies all that was given, by kind and not by place on the command line (helm v3.22.0 pkg/cli/values/options.go
// MergeValues). Helm 4.3.1 differs in one respect: it merges all documents of a values file (pkg/chart/v2/loader LoadValues), Helm 3
// reads the first.
func (o ValueOptions) merge() (map[string]any, error) {
	values := map[string]any{}
	for _, name := range o.Files {
		given, err := o.readValues(name)
		if err != nil {
			return nil, err
		}
		values = overlay(values, given)
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
				return nil, expressionFault(kind.flag, i+1, err)
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
	if o.allDocuments {
		if documents, err = splitDocumentsOf(text); err != nil {
			return nil, fmt.Errorf("reading values: file %s: %w", nameOf(name), errSeparator)
		}
	}
	values := map[string]any{}
	for _, document := range documents {
		var given map[string]any
		if err := yaml.Unmarshal(document, &given); err != nil {
			return nil, fmt.Errorf("reading values: file %s %w", nameOf(name), yamlFault(err))
		}
		values = overlay(values, given)
	}
	return values, nil
}

// splitDocumentsOf cuts a text at its separator lines.
func splitDocumentsOf(text []byte) (documents [][]byte, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(append(slices.Clip(text), '\n'))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// nameOf is the name of a values file; of a URL, without the credentials and tokens that it may hold.
func nameOf(name string) string {
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

// applyJSON takes key=json and, as Helm 4 does and Helm 3 does not yet, a whole object.
func applyJSON(expression string, values map[string]any) error {
	trimmed := strings.TrimSpace(expression)
	if !strings.HasPrefix(trimmed, "{") {
		return strvals.ParseJSON(expression, values)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(trimmed), &object); err != nil {
		return err
	}
	maps.Copy(values, overlay(values, object))
	return nil
}

// applyFile takes key=path, and the text of that file as the value.
func (o ValueOptions) applyFile(expression string, values map[string]any) error {
	var unread error
	err := strvals.ParseIntoFile(expression, values, func(name []rune) (any, error) {
		text, err := o.read(string(name))
		if err != nil {
			unread = unreadable{err}
			return nil, unread
		}
		return string(text), nil
	})
	if unread != nil {
		return unread
	}
	return err
}

// unreadable marks an error that is about a file, and may be shown.
type unreadable struct{ error }

// Unwrap gives the cause.
func (u unreadable) Unwrap() error { return u.error }

// expressionError names an expression that does not parse by its place. The parser's own errors quote it, and what was
// meant as a value may stand where the parser sees a key (--set s3cr3t).
type expressionError struct {
	flag   string
	number int
}

func expressionFault(flag string, number int, err error) error {
	place := expressionError{flag, number}
	if file := (unreadable{}); errors.As(err, &file) {
		return fmt.Errorf("reading a file for %s: %w", place.name(), file.error)
	}
	return place
}

func (e expressionError) name() string {
	return fmt.Sprintf("the %s %s expression", ordinal(e.number), e.flag)
}

// Error does not say what the expression is.
func (e expressionError) Error() string { return e.name() + " cannot be parsed" }

// Hint shows what an expression looks like.
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

// ordinal is 1st, 2nd, 3rd, 4th ...
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 && n%10 >= 1 && n%10 <= 3 {
		suffix = []string{"st", "nd", "rd"}[n%10-1]
	}
	return fmt.Sprintf("%d%s", n, suffix)
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
