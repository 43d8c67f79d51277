package flux

import (
	"context"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// rolledBack has the records of a failed upgrade, which applied with another method than revision 2, the one to go back to.
type rolledBack struct {
	drift.Records
	last, target report.ApplyMethod
}

// Load implements drift.Records.
func (r rolledBack) Load(context.Context, string, int, release.Options) (*release.Loaded, error) {
	return &release.Loaded{Last: &release.Record{ApplyMethod: r.last}}, nil
}

// LoadRollback implements drift.Records.
func (r rolledBack) LoadRollback(_ context.Context, _ string, to int, _ release.Options) (*release.Loaded, error) {
	out := &release.Loaded{Last: &release.Record{ApplyMethod: r.last}}
	if to == 2 {
		out.Target = &release.Record{ApplyMethod: r.target}
	}
	return out, nil
}

// TestRollback asks for the options of a rollback, which are those of spec.rollback whatever spec.upgrade has.
func TestRollback(t *testing.T) {
	const client, server = report.ApplyClientSide, report.ApplyServerSide
	for _, tt := range []struct {
		name, upgrade, rollback string
		last, target, want      report.ApplyMethod
		noHooks, replaces       bool
	}{
		{name: "as revision 2 was applied", last: server, target: client, want: client},
		{name: "not as upgrades are applied", upgrade: "serverSideApply: disabled", last: client, target: server, want: server},
		{name: "auto", rollback: "serverSideApply: auto", last: server, target: client, want: client},
		{name: "server-side", rollback: "serverSideApply: enabled", last: client, target: client, want: server},
		{name: "client-side", rollback: "serverSideApply: disabled", last: server, target: server, want: client},
		{name: "options of upgrades", upgrade: "disableHooks: true, force: true", last: client, target: client, want: client},
		{name: "no hooks", rollback: "disableHooks: true", last: client, target: client, want: client, noHooks: true},
		{name: "force", rollback: "force: true", last: client, target: client, want: client, replaces: true},
		{name: "force, as revision 2 was applied", rollback: "force: true", last: server, target: client, want: client, replaces: true},
		{name: "force server-side", rollback: "force: true", last: client, target: server, want: server},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Plan{release: helmRelease(t, "  upgrade: {"+tt.upgrade+"}\n  rollback: {"+tt.rollback+"}"), composed: &api.Composition{},
				decision: decision{action: report.DeployerRollback, revision: 2}}
			if err := p.chooseTarget(t.Context(), rolledBack{last: tt.last, target: tt.target}, Question{}, "", situation{}); err != nil {
				t.Fatal(err)
			}
			o := p.Adapt(drift.Options{})
			if o.ApplyMethod != tt.want || o.ForceConflicts != (tt.want == server) || o.NoHooks != tt.noHooks || o.ForceReplace != tt.replaces {
				t.Errorf("method %q, forces conflicts: %t, no hooks: %t, replaces: %t", o.ApplyMethod, o.ForceConflicts, o.NoHooks, o.ForceReplace)
			}
		})
	}
}
