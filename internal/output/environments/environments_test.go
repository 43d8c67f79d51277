package environments

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// in returns a release in a namespace of a cluster.
func in(cluster, namespace, chart string, revision int, objects ...report.Object) report.Release {
	r := report.Release{
		Name: "web", Namespace: namespace, StorageNamespace: namespace, Cluster: cluster, Operation: report.OperationDrift, Compared: 4,
		Old: &report.Revision{Revision: revision, Chart: chart}, Objects: objects,
	}
	r.Drifted = r.HasDrifted()
	return r
}

// scaled is a Deployment whose replicas somebody changed. The secret of its environment is masked.
func scaled(live int64) report.Object {
	return report.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Action: report.ActionUpdate, Drifted: true, Fields: []report.Finding{
		{Path: "spec.replicas", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Certain: true, Old: int64(2), Desired: int64(2), Live: live},
		{Path: "spec.token", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Masked: true, Pointer: "/spec/token", Live: "canary"},
	}}
}

// ignoredOf is an object whose rules ignore everything that is said of it.
func ignoredOf(o report.Object) report.Object {
	rule := &report.IgnoreRule{}
	o.IgnoredBy, o.Drifted, o.Fields = rule, false, slices.Clone(o.Fields)
	for i := range o.Fields {
		o.Fields[i].IgnoredBy = rule
	}
	return o
}

func TestWrite(t *testing.T) {
	missing := report.Object{APIVersion: "v1", Kind: "Service", Name: "web", Action: report.ActionCreate, Missing: true, Drifted: true}
	gone := report.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Action: report.ActionCreate, Missing: true, Drifted: true}
	unknown := report.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Error: &report.ObjectError{Message: "no"}}
	unknownAndIgnored := unknown
	unknownAndIgnored.IgnoredBy = &report.IgnoreRule{}
	changed := ignoredOf(scaled(2))
	for i := range changed.Fields {
		changed.Fields[i].Cause = report.CauseChange
	}
	unread := in("eu", "prod", "web-1.2.0", 1)
	unread.Old, unread.Compared, unread.Errors = nil, 0, []report.Message{{Message: "no"}}
	for name, c := range map[string]struct {
		releases []report.Release
		want     string
	}{
		"namespaces": {
			[]report.Release{in("eu", "dev", "web-1.3.0", 4), in("eu", "stage", "web-1.2.0", 7, scaled(5), missing), in("eu", "prod", "web-1.2.0", 12, scaled(3))},
			`
release web                   dev          stage          prod
state                         clean        drifted        drifted
chart                         web-1.3.0    web-1.2.0      web-1.2.0
revision                      4            7              12
Deployment web spec.replicas  as deployed  2 → 5          2 → 3
Deployment web spec.token     as deployed  ••• → ••• changed  ••• → ••• changed
Service web                   as deployed  missing        as deployed
`,
		},
		"an object that is missing, or not compared": {
			[]report.Release{in("eu", "dev", "web-1.2.0", 4, gone), in("eu", "stage", "web-1.2.0", 7, unknown), in("eu", "prod", "web-1.2.0", 12, scaled(3))},
			`
release web                   dev        stage         prod
state                         drifted    error         drifted
chart                         web-1.2.0  web-1.2.0     web-1.2.0
revision                      4          7             12
Deployment web                missing    not compared  as deployed
Deployment web spec.replicas  missing    not compared  2 → 3
Deployment web spec.token     missing    not compared  ••• → ••• changed
`,
		},
		"what is ignored elsewhere": {
			[]report.Release{in("eu", "dev", "web-1.2.0", 4, ignoredOf(scaled(5)), ignoredOf(missing)), in("eu", "prod", "web-1.2.0", 12, scaled(3), missing)},
			`
release web                   dev        prod
state                         clean      drifted
chart                         web-1.2.0  web-1.2.0
revision                      4          12
Deployment web spec.replicas  ignored    2 → 3
Deployment web spec.token     ignored    ••• → ••• changed
Service web                   ignored    missing
`,
		},
		"what is ignored elsewhere and cannot be read, or is changed by the chart alone": {
			[]report.Release{
				in("eu", "dev", "web-1.2.0", 4, unknownAndIgnored), in("eu", "stage", "web-1.2.0", 7, changed), in("eu", "prod", "web-1.2.0", 12, scaled(3)),
			},
			`
release web                   dev           stage        prod
state                         error         clean        drifted
chart                         web-1.2.0     web-1.2.0    web-1.2.0
revision                      4             7            12
Deployment web spec.replicas  not compared  as deployed  2 → 3
Deployment web spec.token     not compared  as deployed  ••• → ••• changed
`,
		},
		"clusters": {
			[]report.Release{in("eu", "prod", "web-1.2.0", 4, missing), unread, in("us", "prod", "web-1.2.0", 4)},
			`
release web  eu         eu            us
state        drifted    error         clean
chart        web-1.2.0                web-1.2.0
revision     4                        4
Service web  missing    not compared  as deployed
`,
		},
		"both": {
			[]report.Release{in("eu", "dev", "web-1.2.0", 4), in("us", "prod", "web-1.2.0", 4)},
			`
release web  dev/eu     prod/us
state        clean      clean
chart        web-1.2.0  web-1.2.0
revision     4          4
`,
		},
	} {
		text := layout.New(layout.Options{Unicode: true}, time.Time{})
		Write(text, c.releases)
		blanks := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		if diff := cmp.Diff(blanks(c.want), blanks(text.Out.String())); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, text.Out.String())
		}
	}
}

// TestValues: a line has each value that is not the same in all environments that were read. Secrets differ only if one is not set.
func TestValues(t *testing.T) {
	with := func(namespace string, values ...report.GivenValue) report.Release {
		r := in("eu", namespace, "web-1.2.0", 1)
		r.Values = values
		return r
	}
	value := func(path string, v any) report.GivenValue { return report.GivenValue{Path: path, Value: v} }
	secret := func(path string) report.GivenValue { return report.GivenValue{Path: path, Masked: true} }
	unread := with("test")
	unread.Old, unread.Compared = nil, 0
	text := layout.New(layout.Options{Unicode: true}, time.Time{})
	Write(text, []report.Release{
		with("dev", value("replicas", 1.0), value("same", "x"), secret("db.password"), secret("token"), value("conf", "a\nb\n"), value("hosts", []any{"a"})),
		with("prod", value("replicas", 3.0), value("same", "x"), secret("db.password"), value("conf", "a\nc\n"), value("hosts", []any{"a", "b"}), value("off", nil)),
		unread,
	})
	_, got, _ := strings.Cut(text.Out.String(), "revision")
	_, got, _ = strings.Cut(got, "\n")
	want := `
value conf      (2 lines)  (2 lines)  not compared
value hosts     ["a"]      ["a","b"]  not compared
value off       not set    null       not compared
value replicas  1          3          not compared
value token     •••        not set    not compared
`
	blanks := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if diff := cmp.Diff(blanks(want), blanks(got)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, text.Out.String())
	}
}

// TestAre: a table has one release in at most six environments.
func TestAre(t *testing.T) {
	other := in("eu", "dev", "web-1.2.0", 1)
	other.Name = "db"
	one := in("eu", "dev", "web-1.2.0", 1)
	for name, c := range map[string]struct {
		releases []report.Release
		want     bool
	}{
		"none":      {nil, false},
		"one":       {[]report.Release{one}, false},
		"two":       {[]report.Release{one, one}, true},
		"two names": {[]report.Release{one, other}, false},
		"seven":     {[]report.Release{one, one, one, one, one, one, one}, false},
	} {
		if got := Are(c.releases); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
