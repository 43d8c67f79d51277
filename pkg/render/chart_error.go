package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Error is a problem with a chart, with its values, or with the output of a post-renderer. Its message contains no known
// secret.
type Error struct {
	// File is the file of the chart, as Helm names it: beginning with the chart's name. It is empty if the problem is not in
	// a file.
	File string
	// Line is the line in File, or 0 if it is not known.
	Line int
	// Message describes the problem. A message that comes from the chart itself may have several lines.
	Message string
	// Advice says what to try. It is empty if there is nothing to add to the message.
	Advice string
}

// Error returns the message with file and line in front, as compilers print it.
func (e *Error) Error() string {
	return report.Message{File: e.File, Line: e.Line, Message: e.Message}.String()
}

// Hint returns the advice.
func (e *Error) Hint() string { return e.Advice }

const (
	hintNoChart      = "give the path of a chart directory or of a packaged chart (.tgz)"
	hintDependencies = "helm dependency build fetches them into the chart's charts/ directory"
	hintOutsideLinks = "--allow-outside-links follows it, for a chart whose authors you trust with your files"
	hintKubeVersion  = "--kube-version renders for another version of Kubernetes"
	hintSchema       = "correct the values, or skip the check with --skip-schema-validation, as helm upgrade can"
	hintHelm4        = "Helm 4 has this function, Helm 3 does not: --helm-version 4"
	hintLookup       = "the chart reads the cluster while it renders (lookup), as in helm upgrade; with --no-lookup its lookups find nothing"
	hintPasswords    = "helm upgrade would fail too: give the current passwords with --set, -f or --reuse-values"
	hintNoLookup     = "the chart reads its current passwords from the cluster: leave out --no-lookup"
)

// asError turns every error of a rendering into an *Error, or into the reason why ctx ended.
func (r renderer) asError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("rendering chart %s: %w", r.Path, context.Cause(ctx))
	}
	e, isKnown := errors.AsType[*Error](err)
	if !isKnown {
		failure := parseTemplateError(err.Error())
		e = failure.asError()
		e.Advice = cmp.Or(hint.Of(err), r.hintFor(failure))
	}
	e.Message = cleanMessage(r.Known.Scrub(e.Message))
	return e
}

// passwordsError begins the error of charts whose upgrade needs the current passwords
// (github.com/bitnami/charts bitnami/common/templates/_errors.tpl, common.errors.upgrade.passwords.empty).
const passwordsError = "PASSWORDS ERROR"

// hintFor returns what the user can try after a template failed.
func (r renderer) hintFor(failure templateError) string {
	switch {
	case !r.Helm4 && needsHelm4(failure.cause):
		return hintHelm4
	case strings.Contains(failure.cause, passwordsError) && r.Lookup == nil:
		return hintNoLookup
	case strings.Contains(failure.cause, passwordsError):
		return hintPasswords
	case strings.HasPrefix(failure.action, "<lookup "):
		return hintLookup
	}
	return ""
}

// undefinedFunction matches the error of an unknown function (go1.26 text/template/parse/parse.go, Tree.term).
var undefinedFunction = regexp.MustCompile(`^function "(\w+)" not defined`)

// needsHelm4 reports whether a template failed because it calls a function that only Helm 4 has.
func needsHelm4(cause string) bool {
	function := undefinedFunction.FindStringSubmatch(cause)
	return function != nil && slices.Contains(onlyHelm4(), function[1])
}

// onlyHelm4 returns the functions that helm v4.3.1 pkg/engine/funcs.go has and v3.22.0 lacks.
func onlyHelm4() []string {
	return []string{
		"mustToYaml", "mustToToml", "mustToDuration", "durationSeconds", "durationMilliseconds", "durationMicroseconds",
		"durationNanoseconds", "durationMinutes", "durationHours", "durationDays", "durationWeeks", "durationRoundTo", "durationTruncateTo",
	}
}

// These expressions match the errors of templates in Helm (v3.22.0 pkg/engine/engine.go cleanupParseError and
// cleanupExecError, v4.3.1 reformatExecErrorMsg), and in text/template itself.
var (
	// placedError matches an error that Helm has reduced to its place and the message of fail or required.
	placedError = regexp.MustCompile(`(?s)^(?:parse|execution) error at \(([^\n]+?):(\d+)(?::\d+)?\): (.*)$`)
	// helm4Frame matches a frame of the trace that Helm 4 prints.
	helm4Frame = regexp.MustCompile(`(?m)^([^\n]+:\d+:\d+)\n  executing ([^\n]+):\n    `)
	// frame matches the place in a frame of the trace that text/template prints.
	frame = regexp.MustCompile(`template: ([^\n:]+):(\d+)(?::\d+)?: `)
	// frameAction matches the rest of a frame: the action that was executed, and its error.
	frameAction = regexp.MustCompile(`(?s)^executing "(?:[^"\\]|\\.)*" at (<.*?>): (.*)$`)
	// callPrefix matches what text/template puts in front of the error of a function.
	callPrefix = regexp.MustCompile(`^error calling \w+:\s+`)
	// rangeError matches the one error of text/template that prints a value.
	rangeError = regexp.MustCompile(`(?s)(range can't iterate over) .*`)
)

// tplFile is the file that text/template names for a text that was given to the function tpl.
const tplFile = "gotpl"

// templateError has the parts of a template's error.
type templateError struct {
	// place is where the template failed, or its caller if it failed in a text given to tpl.
	place
	// cause is the error in the words of the chart or of the template engine, without any value that the engine prints.
	cause string
	// action is the action that failed, such as <.Values.a>. It is empty if the template does not parse.
	action string
	// inTpl is set if the template failed in a text given to tpl.
	inTpl bool
	// root is the file that was rendered.
	root place
}

type place struct {
	file string
	line int
}

// parseTemplateError reads the text of a template error. A trace begins with the file that was rendered and ends with the
// template that failed.
func parseTemplateError(text string) templateError {
	if match := placedError.FindStringSubmatch(text); match != nil {
		at := place{match[1], atoi(match[2])}
		return templateError{place: at, root: at, cause: match[3]}
	}
	text = helm4Frame.ReplaceAllString(text, "template: $1: executing $2: ")
	frames := frame.FindAllStringSubmatchIndex(text, -1)
	if frames == nil {
		return templateError{cause: text}
	}
	places := make([]place, len(frames))
	for i, f := range frames {
		places[i] = place{text[f[2]:f[3]], atoi(text[f[4]:f[5]])}
	}
	e := templateError{root: places[0], cause: text[frames[len(frames)-1][1]:]}
	if match := frameAction.FindStringSubmatch(e.cause); match != nil {
		e.action, e.cause = match[1], match[2]
	}
	e.cause = rangeError.ReplaceAllString(callPrefix.ReplaceAllString(e.cause, ""), "$1 this value")
	e.cause = strings.TrimPrefix(e.cause, "template: ")
	for _, p := range slices.Backward(places) {
		e.place = p
		if p.file != tplFile {
			break
		}
		e.inTpl = true
	}
	return e
}

// asError returns the error for the user. If a text given to tpl does not parse, the parser's message quotes it. The text
// comes from the values, so asError replaces that message.
func (e templateError) asError() *Error {
	message := e.cause
	var context []string
	if e.action != "" {
		context = append(context, "at "+e.action)
	}
	if e.inTpl {
		if e.action == "" && !needsHelm4(e.cause) {
			message = "it is not a valid template"
		}
		context = append(context, "in a text given to tpl")
	}
	if e.root.file != e.file {
		context = append(context, fmt.Sprintf("included from %s:%d", e.root.file, e.root.line))
	}
	if context != nil {
		message += " (" + strings.Join(context, ", ") + ")"
	}
	return &Error{File: e.file, Line: e.line, Message: message}
}

// atoi converts digits that a regular expression has matched.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// maxMessage bounds the length of a message, because a chart can print all its values in one.
const maxMessage = 4000

// cleanMessage removes surrounding blank lines and trailing blanks from a message, and cuts it to maxMessage bytes.
func cleanMessage(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	message = strings.Join(lines, "\n")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " …"
	}
	return message
}

// tableMismatch matches Helm's error for a plain value in the place of a subchart's values; the error prints that value
// (helm v3.22.0 pkg/chartutil/coalesce.go coalesceDeps).
var tableMismatch = regexp.MustCompile(`(?s)(type mismatch on [^:]+): .*`)

// valuesError describes a problem with the values without quoting them.
func valuesError(chart string, err error) *Error {
	text := err.Error()
	if !strings.HasPrefix(text, schemaViolation) {
		return &Error{Message: "chart " + chart + ": " + tableMismatch.ReplaceAllString(text, "$1: the value is not a map")}
	}
	return &Error{File: chart + "/values.schema.json", Advice: hintSchema, Message: sortViolations(text)}
}

// sortViolations sorts the violations of a schema, which the validator returns in random order. Each begins with a dash, and
// the indented lines after it belong to it.
func sortViolations(text string) string {
	var lines, violations []string
	flush := func() {
		slices.Sort(violations)
		lines, violations = append(lines, violations...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "- "):
			violations = append(violations, line)
		case strings.HasPrefix(line, " ") && violations != nil:
			violations[len(violations)-1] += "\n" + line
		default:
			flush()
			lines = append(lines, line)
		}
	}
	flush()
	return strings.Join(lines, "\n")
}

// sortError keeps the file that Helm's SortManifests names ("YAML parse error on FILE: …", helm v3.22.0
// pkg/releaseutil/manifest_sorter.go) and describes the problem without quoting the rendered text. The line number counts
// lines of the rendered text, not of the template.
func sortError(err error) *Error {
	file, _, _ := strings.Cut(err.Error(), ": ")
	e := &Error{File: strings.TrimPrefix(file, "YAML parse error on ")}
	problem := yamlError(err)
	if errors.Is(problem, errNotYAML) {
		e.Message = fmt.Sprintf("the rendered text %v", problem)
	} else {
		e.Message = fmt.Sprintf("in the rendered text, %v", problem)
	}
	return e
}

// The errors of this file do not wrap their causes: decoders quote what they cannot decode, up to the whole document
// (runtime.NewMissingKindErr), and that may be a Secret.

var (
	errNotYAML   = errors.New("cannot be read as YAML")
	errNoKind    = errors.New("has no kind, or its apiVersion is not valid")
	errNoValues  = errors.New("is not a map of values")
	errNotObject = errors.New("is neither a Kubernetes object nor a list of them")
	errAliases   = fmt.Errorf("its aliases expand it to more than %d MiB, and the API server accepts no object of that size", maxExpanded>>20)
	errNested    = errors.New("contains a list within a list, which helm cannot read")
)

// syntaxError matches the errors of the YAML scanner and parser (go.yaml.in/yaml/v2 v2.4.4 decode.go, parser.fail).
// Their texts are constants of the library. Errors of later stages may quote the document; they never begin with a
// line number.
var syntaxError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// yamlError describes what is wrong with a document without quoting it.
func yamlError(err error) error {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		if match := syntaxError.FindStringSubmatch(cause.Error()); match != nil {
			return fmt.Errorf("%w: line %s: %s", errNotYAML, match[1], match[2])
		}
	}
	if mismatch, isMismatch := errors.AsType[*json.UnmarshalTypeError](err); isMismatch {
		return typeError(mismatch)
	}
	return errNotYAML
}

// valuesFileError describes what is wrong with a values file without quoting it.
func valuesFileError(err error) error {
	if mismatch, isMismatch := errors.AsType[*json.UnmarshalTypeError](err); isMismatch && mismatch.Field == "" {
		return errNoValues
	}
	return yamlError(err)
}

// decodeError describes why a document is not an object.
func decodeError(err error) error {
	if runtime.IsMissingKind(err) {
		return errNoKind
	}
	return errNotObject
}

// metadataError names the part of the metadata that cannot be decoded.
func metadataError(err error) error {
	if mismatch, isMismatch := errors.AsType[*json.UnmarshalTypeError](err); isMismatch {
		return typeError(mismatch)
	}
	return errors.New("metadata cannot be decoded")
}

// typeError names the field and the type that it should have. The error's own text may contain the value.
func typeError(err *json.UnmarshalTypeError) error {
	return fmt.Errorf("%s holds a value that is not %s", cmp.Or(err.Field, "it"), jsonKind(err.Type))
}

// jsonKind returns the JSON type that decodes into a Go type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Map, reflect.Struct:
		return "a map"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		return "a number that fits"
	}
}
