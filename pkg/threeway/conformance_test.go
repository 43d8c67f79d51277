package threeway

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/test/conformance/corpus"
)

// TestConformance predicts each case of testdata/conformance, and compares the prediction with what a real server had after the operation.
// There are no exceptions.
func TestConformance(t *testing.T) {
	cases, err := corpus.Read("../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 60 {
		t.Errorf("%d cases, want at least 60", len(cases))
	}
	outcomes := map[string]int{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { judgeConformance(t, c) })
		outcomes[c.Outcome()]++
	}
	for _, outcome := range []string{"created", "deleted", "failed", "unchanged", "updated"} {
		if outcomes[outcome] == 0 {
			t.Errorf("no case has the outcome %s", outcome)
		}
	}
}

func judgeConformance(t *testing.T, c corpus.Case) {
	t.Helper()
	compared := Compare(conformanceInput(t, c))
	if len(compared.Objects) != 1 {
		t.Fatalf("%d objects are compared, not one", len(compared.Objects))
	}
	o := &compared.Objects[0]
	action, outcome := o.Action, c.Outcome()
	answer := cluster.Answer{Object: c.After}
	if c.Error != "" {
		answer = cluster.Answer{Rejected: c.Error}
	}
	o = &compared.Verify(map[object.Ref]cluster.Answer{o.Ref: answer}).Objects[0]
	switch {
	case (action == report.ActionFail) != (c.Error != ""):
		t.Errorf("predicted: %s %s; Helm: %q", action, o.Reason, c.Error)
	case (action == report.ActionDelete) != (outcome == "deleted"):
		t.Errorf("predicted: %s; it is %s", action, outcome)
	case o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees:
		t.Errorf("predicted: %s; %s", action, o.DryRun.Message)
	case !o.isWritten() && outcome != "unchanged" && outcome != "deleted" && outcome != "failed":
		t.Errorf("predicted: %s, nothing is written; it is %s", action, outcome)
	}
}

// conformanceInput makes the input of a comparison of a case.
func conformanceInput(t *testing.T, c corpus.Case) Input {
	t.Helper()
	in := Input{
		Name: c.Release.Name, Namespace: c.Release.Namespace, StorageNamespace: c.Release.Namespace, Records: "secrets",
		Operation: report.Operation(c.Operation), ApplyMethod: report.ApplyMethod(c.Apply), Live: map[object.Ref]cluster.Live{}, Terminating: map[string]bool{},
		Migrates: c.Operation == "rollback" || c.Earlier != "server-side",
		Old:      &report.Revision{Revision: 1, Status: "deployed"}, Last: &report.Revision{Revision: 1, Status: "deployed"},
		Desired: &report.Desired{Source: "chart", Helm: c.Helm[1:2]}, Autoscaled: map[object.Key]object.Autoscaler{},
	}
	for _, flag := range c.Flags {
		switch flag {
		case "--force":
			in.ForceReplace = true
		case "--force-conflicts":
			in.ForceConflicts = true
		case "--take-ownership":
			in.TakeOwnership = true
		}
	}
	in.OldObjects, in.DesiredObjects = conformanceObjects(t, c, c.Old), conformanceObjects(t, c, c.Desired)
	if c.Operation == "install" {
		in.Old, in.Last = nil, nil
	}
	for _, o := range append(in.OldObjects, in.DesiredObjects...) {
		in.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
		if c.Live != nil {
			in.Live[o.Ref] = cluster.Live{Object: c.Live}
		}
	}
	if c.Definition != nil {
		text, err := yaml.Marshal(c.Definition)
		if err != nil {
			t.Fatal(err)
		}
		in.Schemas, in.ApplyTypes = schemasOf(t, string(text)), applyTypesOf(t, string(text))
	}
	return in
}

// conformanceObjects returns the object of a manifest as Helm parses it, in the namespace of the release if the manifest names none.
func conformanceObjects(t *testing.T, c corpus.Case, manifest map[string]any) []object.Object {
	t.Helper()
	if manifest == nil {
		return nil
	}
	if c.Namespace != "" {
		object.Child(manifest, "metadata")["namespace"] = c.Namespace
	}
	o := objectOf(t, manifest)
	o.Namespace = c.Namespace
	return []object.Object{o}
}
