package render

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Error says what is wrong with a chart, with the values it was given, or with what a post-renderer made of it. Its message
// is freed of what is known to be secret.
type Error struct {
	// File is the file of the chart, as Helm names it: beginning with the chart's name. It is empty where no file is to blame.
	File string
	// Line is the line in it, 0 where that is not known.
	Line int
	// Message says what is wrong. What a chart itself says may have several lines.
	Message string
	// Advice says what to try. It is empty where the message says all.
	Advice string
}

// Error gives file and line before the message, as compilers do.
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Message
	case e.Line == 0:
		return e.File + ": " + e.Message
	}
	return e.File + ":" + strconv.Itoa(e.Line) + ": " + e.Message
}

// Hint is the advice.
func (e *Error) Hint() string { return e.Advice }

const (
	hintNoChart      = "give the path of a chart directory or of a packaged chart (.tgz)"
	hintDependencies = "helm dependency build fetches them into the chart's charts/ directory"
	hintKubeVersion  = "--kube-version renders for another version of Kubernetes"
	hintSchema       = "correct the values, or leave them unchecked with --skip-schema-validation, as helm upgrade can"
	hintHelm4        = "Helm 4 has this function, Helm 3 does not: --helm-version 4"
	hintLookup       = "the chart reads the cluster while it renders (lookup), as it would in helm upgrade; --no-lookup lets it find nothing"
	hintPasswords    = "helm upgrade would fail here too: give the passwords that are in use, with --set, -f or --reuse-values"
	hintNoLookup     = "charts that keep their passwords read them from the cluster: leave out --no-lookup"
)

// fault gives every error of a rendering its form: an *Error, or the reason for which ctx ended.
func (r renderer) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("rendering chart %s: %w", r.Path, context.Cause(ctx))
	}
	var e *Error
	if !errors.As(err, &e) {
		e = templateFault(err.Error())
		var advice interface{ Hint() string }
		if errors.As(err, &advice) {
			e.Advice = advice.Hint()
		}
	}
	e.Message = tidy(r.Known.Scrub(e.Message))
	if e.Advice == "" {
		e.Advice = r.hintFor(e.Message)
	}
	return e
}

// undefined matches what the template parser says of a function that it does not know.
var undefined = regexp.MustCompile(`^function "(\w+)" not defined`)

func (r renderer) hintFor(message string) string {
	switch {
	case !r.Helm4 && namesHelm4(message):
		return hintHelm4
	case strings.Contains(message, "PASSWORDS ERROR") && r.Lookup == nil:
		return hintNoLookup
	case strings.Contains(message, "PASSWORDS ERROR"):
		return hintPasswords
	case strings.Contains(message, "<lookup "):
		return hintLookup
	}
	return ""
}

// namesHelm4 tells whether the parser stumbled over a function that only Helm 4 has.
func namesHelm4(message string) bool {
	function := undefined.FindStringSubmatch(message)
	return function != nil && slices.Contains(onlyHelm4(), function[1])
}

// onlyHelm4 lists the functions that helm v4.3.1 pkg/engine/funcs.go has and v3.22.0 lacks.
func onlyHelm4() []string {
	return []string{
		"mustToYaml", "mustToToml", "mustToDuration", "durationSeconds", "durationMilliseconds", "durationMicroseconds",
		"durationNanoseconds", "durationMinutes", "durationHours", "durationDays", "durationWeeks", "durationRoundTo", "durationTruncateTo",
	}
}

// How Helm words the errors of templates: v3.22.0 pkg/engine/engine.go cleanupParseError and cleanupExecError, v4.3.1
// reformatExecErrorMsg, and the errors of text/template itself.
var (
	// stated matches what Helm took out of an error: the place, and what the chart said by fail or required.
	stated = regexp.MustCompile(`(?s)^(?:parse|execution) error at \(([^\n]+?):(\d+)(?::\d+)?\): (.*)$`)
	// frame4 matches a frame of the trace that Helm 4 prints.
	frame4 = regexp.MustCompile(`(?m)^([^\n]+:\d+:\d+)\n  executing ([^\n]+):\n    `)
	// frame matches a frame of the trace that text/template prints, up to what it was doing there.
	frame = regexp.MustCompile(`template: ([^\n:]+):(\d+)(?::\d+)?: `)
	// doing matches the rest of a frame.
	doing = regexp.MustCompile(`(?s)^executing "(?:[^"\\]|\\.)*" at (<.*?>): (.*)$`)
	// calling is how text/template introduces the error of a function.
	calling = regexp.MustCompile(`^error calling \w+:\s+`)
	// notIterable is the one error of text/template that prints a value.
	notIterable = regexp.MustCompile(`(?s)(range can't iterate over) .*`)
)

// textOfTpl is the file that text/template names for a text that was given to the function tpl.
const textOfTpl = "gotpl"

// templateFault finds the place and the cause in the error of a template. A trace goes from the file that was rendered to
// the template where it failed; that one is named as the place.
func templateFault(text string) *Error {
	if match := stated.FindStringSubmatch(text); match != nil {
		return &Error{File: match[1], Line: atoi(match[2]), Message: match[3]}
	}
	text = frame4.ReplaceAllString(text, "template: $1: executing $2: ")
	frames := frame.FindAllStringSubmatchIndex(text, -1)
	if frames == nil {
		return &Error{Message: text}
	}
	cause := text[frames[len(frames)-1][1]:]
	var at []string
	if match := doing.FindStringSubmatch(cause); match != nil {
		at, cause = append(at, "at "+match[1]), match[2]
	}
	e := &Error{Message: notIterable.ReplaceAllString(calling.ReplaceAllString(cause, ""), "$1 this value")}
	e.Message = strings.TrimPrefix(e.Message, "template: ")
	place := func(i int) (string, int) {
		return text[frames[i][2]:frames[i][3]], atoi(text[frames[i][4]:frames[i][5]])
	}
	inTpl := false
	for i := len(frames) - 1; i >= 0; i-- {
		if e.File, e.Line = place(i); e.File != textOfTpl {
			break
		}
		inTpl = true
	}
	if inTpl {
		if at == nil && !namesHelm4(e.Message) { // the text does not parse; the parser quotes it, and it is one of the values
			e.Message = "it is no template"
		}
		at = append(at, "in a text given to tpl")
	}
	if file, line := place(0); file != e.File {
		at = append(at, fmt.Sprintf("included from %s:%d", file, line))
	}
	if at != nil {
		e.Message += " (" + strings.Join(at, ", ") + ")"
	}
	return e
}

// atoi reads a number that a regular expression found.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// maxMessage bounds a message: charts can print all they have.
const maxMessage = 4000

// tidy takes off blank lines around a message and blanks at the ends of its lines, and keeps its length in bounds.
func tidy(message string) string {
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

// mismatch matches what Helm says of a value that stands where a subchart's values should (pkg/chartutil/coalesce.go), with the value.
var mismatch = regexp.MustCompile(`(?s)(type mismatch on [^:]+): .*`)

// quotedValue matches the lines of a schema violation that quote the value (jsonschema v6.0.3 kind Pattern, Format).
var quotedValue = regexp.MustCompile(`(?m)^(\s*- at '.*?': )'.*' (does not match pattern|is not valid)`)

// inputFault words what is wrong with the values. Violations of a schema are listed without the values.
func inputFault(chart string, err error) *Error {
	const violation = "values don't meet the specifications of the schema"
	text := err.Error()
	if !strings.HasPrefix(text, violation) {
		return &Error{Message: "chart " + chart + ": " + mismatch.ReplaceAllString(text, "$1: the value is not a map")}
	}
	return &Error{File: chart + "/values.schema.json", Advice: hintSchema,
		Message: inOrder(quotedValue.ReplaceAllString(text, "${1}the value $2"))}
}

// inOrder sorts the violations of a schema, which the validator finds in random order. Each begins with a dash; deeper lines belong to it.
func inOrder(text string) string {
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

// sortFault keeps the file that SortManifests names ("YAML parse error on FILE: …") and says the rest without quoting the
// rendered text. The line is not the template's, but that of the text.
func sortFault(err error) *Error {
	place, _, _ := strings.Cut(err.Error(), ": ")
	e := &Error{File: strings.TrimPrefix(place, "YAML parse error on ")}
	fault := yamlFault(err)
	if errors.Is(fault, errNotYAML) {
		e.Message = fmt.Sprintf("the rendered text %v", fault)
	} else {
		e.Message = fmt.Sprintf("in the rendered text, %v", fault)
	}
	return e
}
