package report

import (
	"slices"
	"testing"
	"time"
)

// TestState checks the state of a release with one object.
func TestState(t *testing.T) {
	rule := &IgnoreRule{Rule: "r"}
	drifted := Finding{Verdict: Overwrite, Cause: CauseDrift, Managed: true}
	unmanaged := Finding{Verdict: Ignore, Cause: CauseDrift}
	ignored := Finding{Verdict: Overwrite, Cause: CauseDrift, Managed: true, IgnoredBy: rule}
	change := Finding{Verdict: Add, Cause: CauseChange, Managed: true}
	for name, c := range map[string]struct {
		object Object
		want   State
	}{
		"nothing was found":                     {Object{Action: ActionNone, Controllers: 3, Forgotten: 2}, StateClean},
		"a field drifted":                       {Object{Action: ActionUpdate, Fields: []Finding{unmanaged, drifted}}, StateDrifted},
		"a rule ignores what drifted":           {Object{Action: ActionUpdate, Fields: []Finding{ignored}}, StateClean},
		"it is missing":                         {Object{Action: ActionCreate, Missing: true}, StateDrifted},
		"a rule ignores that it is missing":     {Object{Action: ActionCreate, Missing: true, IgnoredBy: rule}, StateClean},
		"no manifest names a field":             {Object{Action: ActionNone, Fields: []Finding{ignored, unmanaged}}, StateChanged},
		"the chart changes a field":             {Object{Action: ActionUpdate, Fields: []Finding{change}}, StateChanged},
		"the upgrade fails":                     {Object{Action: ActionFail}, StateBlocked},
		"the baseline knows of the failure":     {Object{Action: ActionFail, Known: true}, StateClean},
		"a rule ignores the failure":            {Object{Action: ActionFail, IgnoredBy: rule}, StateClean},
		"the chart has a new object":            {Object{Action: ActionCreate}, StateChanged},
		"the operation adopts it":               {Object{Action: ActionAdopt}, StateChanged},
		"the API server disagrees":              {Object{Action: ActionNone, DryRun: &DryRun{Result: DryRunDisagrees}}, StateChanged},
		"the API server agrees":                 {Object{Action: ActionNone, DryRun: &DryRun{Result: DryRunAgrees}}, StateClean},
		"it could not be compared":              {Object{Action: ActionNone, Error: &ObjectError{}}, StateError},
		"it drifted, and could not be read":     {Object{Action: ActionNone, Error: &ObjectError{}, Fields: []Finding{drifted}}, StateError},
		"another object keeps Helm from it":     {Object{Action: ActionSkip}, StateClean},
		"the chart drops it, but it is to stay": {Object{Action: ActionKeep}, StateClean},
	} {
		c.object.Drifted = c.object.HasDrifted()
		r := Release{Objects: []Object{c.object}}
		r.Drifted = r.HasDrifted()
		if got := r.State(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := (Release{Errors: []Message{{Code: "x"}}, Drifted: true}).State(); got != StateError {
		t.Errorf("a release with an error is %s", got)
	}
	for action, want := range map[DeployerAction]State{
		DeployerUninstall: StateUninstall, DeployerReinstall: StateUninstall, DeployerUpgrade: StateClean, DeployerBlocked: StateClean,
	} {
		r := Release{Deployer: &Deployer{Action: action}}
		if got := r.State(); got != want {
			t.Errorf("a release whose controller does %s is %s, want %s", action, got, want)
		}
		if r.Drifted = true; r.State() != StateDrifted {
			t.Errorf("a drifted release whose controller does %s is %s", action, r.State())
		}
	}
	if got := (Release{Terminating: true, Drifted: true}).State(); got != StateDrifted {
		t.Errorf("a release whose namespace is being deleted is %s", got)
	}
}

// TestEdits checks that Editors, OldestEdit and NewestEdit are about what drifted, and about the rest only if nothing drifted.
func TestEdits(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	owner := func(name string, group ManagerGroup, ago time.Duration) Owner {
		at := now.Add(-ago)
		return Owner{Manager: name, Group: group, Time: &at}
	}
	person, stranger := owner("kubectl-edit", ManagerPerson, time.Hour), owner("k9s", ManagerUnknown, 3*time.Hour)
	controller, helm := owner("vpa", ManagerController, 5*time.Hour), Owner{Manager: "helm", Group: ManagerDeployer}
	field := func(managed bool, owners ...Owner) Finding {
		return Finding{Verdict: Overwrite, Cause: CauseDrift, Managed: managed, Owners: owners}
	}
	changed := Finding{Verdict: Overwrite, Cause: CauseChange, Managed: true, Owners: []Owner{controller}}
	byAll := []Finding{field(true, helm, controller), field(true, stranger), field(true, person)}
	byOne := []Finding{field(false, stranger), field(true, person), changed}
	byTwo := []Finding{field(true, person), field(true, owner("a", ManagerPerson, 0)), field(true, person)}
	for name, c := range map[string]struct {
		fields         []Finding
		oldest, newest time.Duration
		want           []string
	}{
		"nobody":                      {[]Finding{changed}, 0, 0, nil},
		"people first":                {byAll, 5 * time.Hour, time.Hour, []string{"kubectl-edit", "k9s", "vpa", "helm"}},
		"whoever wrote most":          {byTwo, time.Hour, 0, []string{"kubectl-edit", "a"}},
		"only of what drifted":        {byOne, time.Hour, time.Hour, []string{"kubectl-edit"}},
		"of the rest without a drift": {[]Finding{field(false, stranger), changed}, 3 * time.Hour, 3 * time.Hour, []string{"k9s"}},
		"without a time":              {[]Finding{field(true, helm)}, 0, 0, []string{"helm"}},
	} {
		r := Release{Objects: []Object{{Fields: c.fields}}}
		if got := r.Editors(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if at, known := r.OldestEdit(); known != (c.oldest > 0) || known && now.Sub(at) != c.oldest {
			t.Errorf("%s: oldest is %v, %t, want %v before %v", name, at, known, c.oldest, now)
		}
		if at, known := r.NewestEdit(); known != (c.oldest > 0) || known && now.Sub(at) != c.newest {
			t.Errorf("%s: newest is %v, %t, want %v before %v", name, at, known, c.newest, now)
		}
	}
}
