package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file reads the JSON of a plan: which releases it has, and what happens to each.

// MaxSize is how many bytes a plan may have.
const MaxSize = 64 << 20

// Plan is what a plan says about releases. It can cross to another process.
type Plan struct {
	Releases []Release
	// Problems say what the plan lacks.
	Problems []string
}

// Release is a helm_release of a plan.
type Release struct {
	// Address names the resource, and Change is what Terraform does with it. Reason is Terraform's word for why, or empty.
	Address, Reason string
	Change          Change
	// Changed are the arguments that an update changes, and those that only the apply knows.
	Changed []string
	// Fault says why the release cannot be compared, or is empty.
	Fault string
	// Now are the arguments after the apply, or those before it if the resource goes.
	Now Arguments
	// Before has the name and the namespace before the apply, or is empty. Revision is the one that the plan saw, or 0.
	Before   Place
	Revision int
	// Values are the composed values as JSON, and Integers are expressions like those of --set for numbers that templates print as integers.
	Values   []byte
	Integers []string
	// Sets are the names of the values that set, set_list and set_sensitive have.
	Sets []SetName
	// Unknown says which values are not known. With Whole, such a value may be any part of the values.
	Unknown []string
	Whole   bool
	// Lacks says what else is not known, and Notes are warnings.
	Lacks, Notes []string
	// Secrets are the texts that the plan marks as sensitive.
	Secrets []Secret
	// WriteOnly is set if the release may have values of set_wo after the apply. Was are the composed values before it, as JSON, if the
	// release may have values of set_wo beside these, and nil otherwise.
	WriteOnly bool
	Was       []byte
}

// Place is where a release is.
type Place struct{ Namespace, Name string }

// SetName is the name of a value in an entry of set, set_list or set_sensitive, and Title names the entry.
type SetName struct{ Title, Name string }

// Secret is a secret text, and the name that it has in the values.
type Secret struct{ Name, Text string }

// Change is what Terraform does with a resource.
type Change string

// These are the changes. A replacement deletes the resource and creates it, or the other way round with ReplaceLast. Forgets means that
// Terraform no longer manages the release, which stays.
const (
	Creates     Change = "create"
	Updates     Change = "update"
	Deletes     Change = "delete"
	Replaces    Change = "replace"
	ReplaceLast Change = "create-then-delete"
	Forgets     Change = "forget"
	Leaves      Change = "no-op"
)

// planFile is the JSON of a plan, as far as it is read. Fields of other files that people give instead tell these apart.
type planFile struct {
	FormatVersion   string           `json:"format_version"`
	Changes         []resourceChange `json:"resource_changes"`
	Deferred        []deferredChange `json:"deferred_changes"`
	Errored         bool             `json:"errored"`
	PlannedValues   json.RawMessage  `json:"planned_values"`
	StateValues     json.RawMessage  `json:"values"`
	Lineage         string           `json:"lineage"`
	RemoteFormat    int              `json:"remote_plan_format"`
	Encrypted       string           `json:"encrypted_data"`
	Level           string           `json:"@level"`
	ProviderSchemas json.RawMessage  `json:"provider_schemas"`
}

type resourceChange struct {
	Address string          `json:"address"`
	Mode    string          `json:"mode"`
	Type    string          `json:"type"`
	Deposed string          `json:"deposed"`
	Reason  string          `json:"action_reason"`
	Change  json.RawMessage `json:"change"`
}

type deferredChange struct {
	Reason string         `json:"reason"`
	Change resourceChange `json:"resource_change"`
}

// change is the part of a resourceChange that only a helm_release needs.
type change struct {
	Actions         []string       `json:"actions"`
	Before          map[string]any `json:"before"`
	After           map[string]any `json:"after"`
	Unknown         any            `json:"after_unknown"`
	BeforeSensitive any            `json:"before_sensitive"`
	AfterSensitive  any            `json:"after_sensitive"`
}

// resourceType is the type of the resources that this package reads.
const resourceType = "helm_release"

// adviceForJSON says how to make the JSON of a plan.
const adviceForJSON = "make the plan with terraform plan -out tfplan, and its JSON with terraform show -json tfplan > plan.json"

// Read reads the JSON of a plan. No error has a text of the plan except addresses and the names of arguments.
func Read(text []byte) (*Plan, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the mark that some editors write
	if err := checkForm(text); err != nil {
		return nil, err
	}
	var file planFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, notJSON(text, err)
	}
	if err := file.check(); err != nil {
		return nil, err
	}
	out := &Plan{}
	if file.Errored {
		out.Problems = append(out.Problems, "the plan ended with an error, so it lacks what Terraform had not planned yet")
	}
	for _, c := range file.Changes {
		if c.isRelease() {
			out.Releases = append(out.Releases, readRelease(c))
		}
	}
	for _, d := range file.Deferred {
		if d.Change.isRelease() {
			out.Releases = append(out.Releases, Release{Address: d.Change.address(),
				Fault: "Terraform defers it to a later plan, so what it does then is not known"})
		}
	}
	if len(out.Releases) == 0 {
		return nil, hint.New(errors.New("the plan has no helm_release"),
			"a plan with -target has only what it names; releases of other resource types are not read")
	}
	return out, nil
}

// checkForm recognizes files that are no JSON of a plan at all.
func checkForm(text []byte) error {
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		return hint.New(errors.New("it is empty"), adviceForJSON)
	case len(text) > MaxSize:
		return fmt.Errorf("it has more than %d MiB", MaxSize>>20)
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return hint.New(errors.New("it is a plan file and not its JSON"), "terraform show -json FILE > plan.json prints the JSON")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return hint.New(errors.New("it is encoded as UTF-16, as PowerShell writes files"),
			"terraform show -json tfplan | Out-File -Encoding utf8 plan.json")
	case trimmed[0] != '{':
		return hint.New(errors.New("it is not the JSON of a plan"), adviceForJSON)
	}
	return nil
}

// notJSON returns the error of a text that cannot be decoded. The error of the decoder may quote it.
func notJSON(text []byte, err error) error {
	var syntax *json.SyntaxError
	var of *json.UnmarshalTypeError
	switch {
	case errors.As(err, &of):
		return hint.New(fmt.Errorf("its field %s has another type than in the JSON of a plan", strconv.Quote(of.Field)), adviceForJSON)
	case bytes.Contains(text[:min(len(text), longestLogLine)], []byte(`"@level"`)):
		return hint.New(errors.New("it is the log of terraform plan -json, which lacks the arguments of resources"), adviceForJSON)
	case errors.As(err, &syntax):
		return hint.New(fmt.Errorf("it is not JSON: the error is at byte %d", syntax.Offset), adviceForJSON)
	}
	return hint.New(errors.New("it is not JSON"), adviceForJSON)
}

// longestLogLine is how many bytes of a text may be the first line of a log.
const longestLogLine = 4096

// check recognizes JSON files of Terraform that are no plan, and plans in another format.
func (f *planFile) check() error {
	switch {
	case f.RemoteFormat != 0:
		return hint.New(errors.New("it only refers to a plan that HCP Terraform has"), "terraform show -json FILE > plan.json prints its JSON")
	case f.Encrypted != "":
		return hint.New(errors.New("it is an encrypted plan file"), "tofu show -json FILE > plan.json prints its JSON")
	case f.Lineage != "", f.StateValues != nil && f.PlannedValues == nil && f.Changes == nil:
		return hint.New(errors.New("it is a state and not a plan"), adviceForJSON)
	case f.Level != "":
		return hint.New(errors.New("it is the log of terraform plan -json, which lacks the arguments of resources"), adviceForJSON)
	case f.ProviderSchemas != nil:
		return hint.New(errors.New("it has the schemas of providers and no plan"), adviceForJSON)
	case f.FormatVersion == "":
		return hint.New(errors.New("it has no format_version, so it is not the JSON of a plan"), adviceForJSON)
	}
	if major, _, _ := strings.Cut(f.FormatVersion, "."); major != "1" {
		return hint.New(fmt.Errorf("its format_version is %.20q, and helmdrift reads version 1", f.FormatVersion),
			"Terraform 1.1 and later, and OpenTofu, write version 1")
	}
	return nil
}

func (c *resourceChange) isRelease() bool { return c.Type == resourceType && c.Mode != "data" }

// address returns the address of the resource. One that a replacement has left behind has its key too.
func (c *resourceChange) address() string {
	if c.Deposed != "" {
		return c.Address + " (deposed " + c.Deposed + ")"
	}
	return c.Address
}

// readRelease reads one helm_release. Whatever is wrong with it is its fault.
func readRelease(c resourceChange) Release {
	out := Release{Address: c.address(), Reason: c.Reason}
	var of change
	if json.Unmarshal(c.Change, &of) != nil {
		out.Fault = "its change has another form than in the JSON of a plan"
		return out
	}
	if out.Change = changeOf(of.Actions); out.Change == "" {
		out.Fault = fmt.Sprintf("its actions %.60q are not known", of.Actions)
		return out
	}
	before := arguments{now: of.Before, sensitive: of.BeforeSensitive}
	out.addSecrets(before)
	out.Was = before.besideWritten()
	now := arguments{now: of.After, unknown: of.Unknown, sensitive: of.AfterSensitive}
	out.addSecrets(now)
	if of.After == nil {
		now = before
	}
	if out.Change == Updates {
		out.Changed = now.changed(before)
	}
	fault := func(err error) Release {
		out.Fault = hint.Sentence(err)
		return out
	}
	var err error
	if out.Before, out.Revision, err = before.place(); err != nil {
		return fault(err)
	}
	if out.Now, err = now.read(&out); err != nil {
		return fault(err)
	}
	if out.Change == Deletes || out.Change == Forgets {
		return out
	}
	if err := now.checkWriteOnly(&out, before); err != nil {
		return fault(err)
	}
	if err := out.compose(now); err != nil {
		return fault(err)
	}
	return out
}

// changeOf returns what a list of actions means, or "" if it is not known.
func changeOf(actions []string) Change {
	switch strings.Join(actions, ",") {
	case "create", "create,forget": // the second leaves the release that was there before
		return Creates
	case "update":
		return Updates
	case "delete":
		return Deletes
	case "delete,create":
		return Replaces
	case "create,delete":
		return ReplaceLast
	case "forget":
		return Forgets
	case "no-op":
		return Leaves
	}
	return ""
}
