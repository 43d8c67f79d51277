package output

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/internal/output/schema"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/report/listing"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// definition is as much of one entry of $defs as these tests need.
type definition struct {
	Description string                `json:"description"`
	Required    []string              `json:"required"`
	Properties  map[string]definition `json:"properties"`
	Enum        []string              `json:"enum"`
	Ref         string                `json:"$ref"`
	Items       *definition           `json:"items"`
}

func definitions(t *testing.T) map[string]definition {
	t.Helper()
	var doc struct {
		Defs map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(schema.Report()), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Defs
}

// TestSchemaHasEveryField compares the two halves of the contract: the schema has each key of the Go structs, and requires the keys that
// Go always writes.
func TestSchemaHasEveryField(t *testing.T) {
	defs := definitions(t)
	for name, value := range map[string]any{
		"report": report.Report{}, "summary": report.Summary{}, "release": report.Release{}, "revision": report.Revision{},
		"desired": report.Desired{}, "message": report.Message{}, "notCompared": report.NotCompared{}, "object": report.Object{},
		"objectError": report.ObjectError{}, "ignoreRule": report.IgnoreRule{}, "dryRun": report.DryRun{}, "field": report.Finding{},
		"owner": report.Owner{}, "fixResult": report.FixResult{}, "planned": report.FixPlan{}, "fixRequest": report.FixRequest{},
		"fixOperation": report.FixOperation{}, "outcome": report.FixOutcome{}, "scanError": report.ScanError{},
		"releaseList": listing.List{}, "listedRelease": listing.Release{},
		"history": past.History{}, "historyPoint": past.Point{}, "releaseHistory": past.Release{},
		"findingHistory": past.Finding{}, "historyStep": past.Step{},
		"absorbResult": absorption.Result{}, "absorbField": absorption.Field{}, "absorbPlace": absorption.Place{},
		"kustomization": absorption.Kustomization{}, "kustomizeSort": absorption.KustomizeSort{}, "kustomizePatch": absorption.KustomizePatch{},
		"kustomizeTarget": absorption.KustomizeTarget{}, "absorbCandidate": absorption.Candidate{}, "valueEdit": absorption.ValueEdit{}, "absorbEffect": absorption.Effect{},
	} {
		checkStruct(t, name, defs[name], reflect.TypeOf(value))
	}
	checkStruct(t, "summary.fields", defs["summary"].Properties["fields"], reflect.TypeFor[report.FieldCounts]())
}

func checkStruct(t *testing.T, name string, def definition, typ reflect.Type) {
	t.Helper()
	var keys, required []string
	for f := range typ.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" {
			continue // no part of the contract
		}
		keys = append(keys, key)
		if options == "" {
			required = append(required, key)
		}
	}
	if diff := cmp.Diff(sorted(keys), slices.Sorted(maps.Keys(def.Properties))); diff != "" {
		t.Errorf("keys of %s (-Go +schema):\n%s", name, diff)
	}
	if diff := cmp.Diff(sorted(required), sorted(def.Required)); diff != "" {
		t.Errorf("required keys of %s (-Go +schema):\n%s", name, diff)
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// TestSchemaExplainsEveryKey: each key has a description.
func TestSchemaExplainsEveryKey(t *testing.T) {
	defs := definitions(t)
	for name, def := range defs {
		if def.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for key, p := range def.Properties {
			target := defs[strings.TrimPrefix(p.Ref, "#/$defs/")]
			if p.Description == "" && target.Description == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
}

func TestSchemaHasEveryWord(t *testing.T) {
	defs := definitions(t)
	for where, c := range map[string]struct{ got, want []string }{
		"verdict": {defs["field"].Properties["verdict"].Enum,
			wordsOf(report.Add, report.Remove, report.Overwrite, report.Ignore, report.Conflict)},
		"cause": {defs["field"].Properties["cause"].Enum, wordsOf(report.CauseDrift, report.CauseChange, report.CauseBoth)},
		"class": {defs["field"].Properties["class"].Enum, wordsOf(report.ClassVolatile, report.ClassAutoscaled, report.ClassOrder, report.ClassAllocated,
			report.ClassUnknown)},
		"action": {defs["object"].Properties["action"].Enum, wordsOf(report.ActionNone, report.ActionUpdate, report.ActionReplace,
			report.ActionCreate, report.ActionDelete, report.ActionKeep, report.ActionAdopt, report.ActionFail, report.ActionSkip)},
		"engine": {defs["object"].Properties["engine"].Enum,
			wordsOf(report.EngineStrategic, report.EngineMerge, report.EngineApply, report.EngineReplace)},
		"operation": {defs["release"].Properties["operation"].Enum, wordsOf(report.OperationDrift, report.OperationUpgrade,
			report.OperationRollback, report.OperationInstall, report.OperationSync)},
		"findingState": {defs["findingState"].Enum, wordsOf(past.There, past.Gone, past.Ignored)},
		"absence":      {defs["findingHistory"].Properties["absence"].Enum, wordsOf(past.AbsenceMissing, past.AbsenceTerminating)},
		"status":       {defs["outcome"].Properties["status"].Enum, wordsOf(report.FixFixed, report.FixDeclined, report.FixRefused, report.FixFailed)},
		"reason": {defs["absorbField"].Properties["reason"].Enum, wordsOf(absorption.LeftNoValue, absorption.LeftSecret, absorption.LeftConflict,
			absorption.LeftSideEffects, absorption.LeftVolatile, absorption.LeftNotRendered, absorption.LeftNotChosen)},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-Go +schema):\n%s", where, diff)
		}
	}
}

func wordsOf[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return out
}

// TestSchemaRefuses breaks each promise that readers rely on once, in the report of the contract.
func TestSchemaRefuses(t *testing.T) {
	checkBroken(t, "testdata/contract.json", map[string]replacement{
		"nothing wrong":              {"", "", true},
		"an unknown key":             {`"verdict": "overwrite"`, `"verdict": "overwrite", "later": {}`, true},
		"null for an absent side":    {`"old": "nginx:1.25"`, `"old": null`, false},
		"an absent side":             {`"old": "nginx:1.25", `, ``, true},
		"a masked value":             {`"managed": true`, `"managed": true, "masked": true`, false},
		"an unknown verdict":         {`"overwrite", "cause"`, `"change", "cause"`, false},
		"an unknown action":          {`"action": "update"`, `"action": "patch"`, false},
		"failing without reason":     {`"action": "update"`, `"action": "fail"`, false},
		"uncertain without a note":   {`"certain": true`, `"certain": false`, false},
		"two pointers":               {`"pointer": "/spec`, `"desiredPointer": "/x", "pointer": "/spec`, false},
		"no pointer but a path":      {`"pointer": "/spec`, `"pointer": "spec`, false},
		"no time":                    {`"time": "2026-11-20T10:00:00Z"}]`, `"time": "yesterday"}]`, false},
		"no objects":                 {`"objects": [{`, `"items": [{`, false},
		"another version":            {`helmdrift.io/v1`, `helmdrift.io/v2`, false},
		"a count that is no integer": {`"managed": 1`, `"managed": 1.5`, false},
		"a fix without its results":  {`"kind": "Report"`, `"kind": "FixResult"`, false},
		"an unknown kind":            {`"kind": "Report"`, `"kind": "Other"`, false},
	})
}

// replacement changes a document, which is valid afterwards if ok is set.
type replacement struct {
	old, new string
	ok       bool
}

// checkBroken validates a document after each replacement.
func checkBroken(t *testing.T, file string, all map[string]replacement) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range all {
		broken := strings.Replace(string(doc), c.old, c.new, 1)
		if broken == string(doc) && c.old != "" {
			t.Errorf("%s: %s is not in the document", name, c.old)
		}
		if err := reporttest.Check([]byte(broken)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaRefusesAFixResult does the same with the result of a fix.
func TestSchemaRefusesAFixResult(t *testing.T) {
	checkBroken(t, "testdata/fix/mixed.json", map[string]replacement{
		"nothing wrong":          {"", "", true},
		"an unknown key":         {`"status": "refused"`, `"status": "refused", "later": {}`, true},
		"an unknown status":      {`"status": "refused"`, `"status": "skipped"`, false},
		"an unknown verb":        {`"verb": "create"`, `"verb": "delete"`, false},
		"an unknown operation":   {`"op": "test"`, `"op": "move"`, false},
		"no results":             {`"results": [`, `"outcomes": [`, false},
		"a masked field's value": {`"masked": true`, `"masked": true, "live": "x"`, false},
		"another dry run":        {`"kind": "FixResult"`, `"kind": "FixResult", "dryRun": "both"`, false},
	})
}

// TestSchemaRefusesAReleaseList does the same with a list.
func TestSchemaRefusesAReleaseList(t *testing.T) {
	checkBroken(t, "testdata/list/mixed.json", map[string]replacement{
		"nothing wrong":           {"", "", true},
		"an unknown key":          {`"helm": "3"`, `"helm": "3", "later": {}`, true},
		"an unknown Helm":         {`"helm": "3"`, `"helm": "2"`, false},
		"an unknown apply method": {`"client-side"`, `"csa"`, false},
		"no revision 0":           {`"revision": 3`, `"revision": 0`, false},
		"no time":                 {`"created": "2026-11-17T10:00:00Z"`, `"created": "3 d"`, false},
		"an error without a code": {`"error": {"code": "unreadable", `, `"error": {`, false},
		"no releases":             {`"releases": [`, `"items": [`, false},
	})
}
