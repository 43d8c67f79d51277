package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// driftReport contains those parts of helmdrift's JSON that stories read.
type driftReport struct {
	Summary  map[string]any  `json:"summary"`
	Releases []releaseReport `json:"releases"`
	// Errors are the errors of a scan: what could not be searched.
	Errors []message `json:"errors"`
}

type releaseReport struct {
	Name             string    `json:"name"`
	Namespace        string    `json:"namespace"`
	StorageNamespace string    `json:"storageNamespace"`
	Old              *revision `json:"old"`
	Last             *revision `json:"last"`
	Operation        string    `json:"operation"`
	ApplyMethod      string    `json:"applyMethod"`
	Drifted          bool      `json:"drifted"`
	Warnings         []message `json:"warnings"`
	Errors           []message `json:"errors"`
	NotCompared      []struct {
		Kind, Name, Reason string
	} `json:"notCompared"`
	Objects []objectReport `json:"objects"`
	// Deployer is what a controller does with the release.
	Deployer *struct {
		Name, Action, Reason, Otherwise, PutsBack string
	} `json:"deployer"`
}

type revision struct {
	Revision int    `json:"revision"`
	Status   string `json:"status"`
}

type message struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Object  string `json:"object"`
	File    string `json:"file"`
	Line    int    `json:"line"`
}

type objectReport struct {
	APIVersion  string        `json:"apiVersion"`
	Kind        string        `json:"kind"`
	Namespace   string        `json:"namespace"`
	Name        string        `json:"name"`
	Generate    string        `json:"generateName"`
	Action      string        `json:"action"`
	Reason      string        `json:"reason"`
	Missing     bool          `json:"missing"`
	Terminating bool          `json:"terminating"`
	Drifted     bool          `json:"drifted"`
	Note        string        `json:"note"`
	Error       *message      `json:"error"`
	Fields      []fieldReport `json:"fields"`
	BlockedBy   []string      `json:"blockedBy"`
	Effect      *effectReport `json:"effect"`
	DryRun      *struct {
		Result  string `json:"result"`
		Message string `json:"message"`
	} `json:"dryRun"`
}

// effectReport predicts what the write of an object means for its pods.
type effectReport struct {
	Text       string   `json:"text"`
	Restarts   int      `json:"restarts"`
	Starts     int      `json:"starts"`
	Stops      int      `json:"stops"`
	LeastReady *int     `json:"leastReady"`
	Downtime   bool     `json:"downtime"`
	Notes      []string `json:"notes"`
	Inexact    string   `json:"inexact"`
}

type fieldReport struct {
	Path           string          `json:"path"`
	Pointer        string          `json:"pointer"`
	DesiredPointer string          `json:"desiredPointer"`
	Verdict        string          `json:"verdict"`
	Cause          string          `json:"cause"`
	Managed        bool            `json:"managed"`
	Certain        bool            `json:"certain"`
	Class          string          `json:"class"`
	Template       string          `json:"template"`
	Masked         bool            `json:"masked"`
	Equivalent     bool            `json:"equivalent"`
	Blocked        bool            `json:"blocked"`
	Old            json.RawMessage `json:"old"`
	Desired        json.RawMessage `json:"desired"`
	Live           json.RawMessage `json:"live"`
	After          json.RawMessage `json:"after"`
	Nulls          []string        `json:"nulls"`
	Note           string          `json:"note"`
	Owners         []struct {
		Manager     string `json:"manager"`
		Operation   string `json:"operation"`
		Subresource string `json:"subresource"`
	} `json:"owners"`
}

// reportSchema is the published schema of the report.
var reportSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "output", "schema", "report.schema.json"))
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("report.json", doc); err != nil {
		return nil, err
	}
	return compiler.Compile("report.json")
})

// decodeReport decodes a report and validates it against the schema.
func decodeReport(text string) (*driftReport, error) {
	schema, err := reportSchema()
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the report is not JSON: %w", err)
	}
	if err := schema.Validate(doc); err != nil {
		return nil, fmt.Errorf("the report violates its schema: %w", err)
	}
	r := &driftReport{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	return r, nil
}

// objects returns the objects of a report's only release.
func (r *driftReport) objects() []objectReport {
	if r == nil || len(r.Releases) == 0 {
		return nil
	}
	return r.Releases[0].Objects
}

// failing returns the objects with a predicted failure.
func (r *driftReport) failing() []objectReport {
	return slices.DeleteFunc(slices.Clone(r.objects()), func(o objectReport) bool { return o.Action != "fail" })
}

// lines returns a report in the notation of stories, one line for each statement.
func (r *driftReport) lines() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, release := range r.Releases {
		if d := release.Deployer; d != nil {
			say("deployer %s: %s; drift goes: %s", d.Action, d.Reason, d.PutsBack)
		}
		for _, w := range release.Warnings {
			say("warning %s %s", w.Code, w.Object)
		}
		for _, e := range release.Errors {
			say("error %s %s", e.Code, e.Object+e.place())
		}
		for _, n := range release.NotCompared {
			say("not compared: %s %s, %s", n.Kind, n.Name, n.Reason)
		}
		for _, o := range release.Objects {
			say("%s", o.line(release.Namespace))
			for _, f := range o.Fields {
				say("  %s", f.line())
			}
		}
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out
}

// place returns the file and the line that a message names.
func (m message) place() string {
	if m.File == "" || m.Line == 0 {
		return m.File
	}
	return fmt.Sprintf("%s:%d", m.File, m.Line)
}

func (o objectReport) line(home string) string {
	name := orElse(o.Name, o.Generate)
	if o.Namespace != "" && o.Namespace != home {
		name = o.Namespace + "/" + name
	}
	words := []string{o.Kind, name + ":", o.Action}
	if o.Missing {
		words = append(words, "missing")
	}
	if o.Terminating {
		words = append(words, "terminating")
	}
	if o.Drifted {
		words = append(words, "drifted")
	}
	if o.Error != nil {
		words = append(words, "error="+o.Error.Code)
	}
	if o.DryRun != nil {
		words = append(words, "dry-run="+o.DryRun.Result)
	}
	return strings.Join(words, " ")
}

// UnmarshalJSON sets the nulls of a finding in place of their values.
func (f *fieldReport) UnmarshalJSON(text []byte) error {
	type plain fieldReport
	if err := json.Unmarshal(text, (*plain)(f)); err != nil {
		return err
	}
	for _, name := range f.Nulls {
		*map[string]*json.RawMessage{"old": &f.Old, "desired": &f.Desired, "live": &f.Live, "after": &f.After}[name] = json.RawMessage("null")
	}
	return nil
}

func (f fieldReport) line() string {
	words := []string{f.Verdict + "/" + f.Cause, f.Path}
	for _, side := range []struct {
		name  string
		value json.RawMessage
	}{{"old", f.Old}, {"desired", f.Desired}, {"live", f.Live}, {"after", f.After}} {
		// Each rendering makes other volatile values.
		if side.value != nil && f.Class != "volatile" {
			words = append(words, side.name+"="+compact(side.value))
		}
	}
	words = append(words, f.flags()...)
	if f.Template != "" {
		words = append(words, "from:"+f.Template)
	}
	for _, o := range f.Owners {
		if o.Subresource != "" {
			o.Manager += "(" + o.Subresource + ")"
		}
		words = append(words, "by:"+o.Manager)
	}
	return strings.Join(words, " ")
}

func compact(value json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return err.Error()
	}
	return out.String()
}

func (f fieldReport) flags() []string {
	var out []string
	for _, flag := range []struct {
		on   bool
		word string
	}{{!f.Managed, "unmanaged"}, {!f.Certain, "uncertain"}, {f.Masked, "masked"}, {f.Equivalent, "equivalent"}, {f.Blocked, "blocked"}, {f.Class != "", "class:" + f.Class}} {
		if flag.on {
			out = append(out, flag.word)
		}
	}
	return out
}
