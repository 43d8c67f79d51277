package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helm4common "helm.sh/helm/v4/pkg/release/common"
	helm4 "helm.sh/helm/v4/pkg/release/v1"
	driver4 "helm.sh/helm/v4/pkg/storage/driver"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/release"
	postgrestest "github.com/helmdrift/helmdrift/test/postgres"
)

// testDatabase is one database of the server.
type testDatabase struct {
	t      *testing.T
	server *postgrestest.Server
	name   string
}

func (d testDatabase) exec(statements ...string) {
	d.t.Helper()
	d.server.Exec(d.name, statements...)
}

// helm3 and helm4 return Helm's own drivers, which run Helm's migrations.
func (d testDatabase) helm3() *driver.SQL {
	d.t.Helper()
	s, err := driver.NewSQL(d.server.Connection(d.name, postgrestest.Admin), func(string, ...any) {}, "")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d testDatabase) helm4() *driver4.SQL {
	d.t.Helper()
	s, err := driver4.NewSQL(d.server.Connection(d.name, postgrestest.Admin), "")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// admit lets the reader read the tables.
func (d testDatabase) admit() {
	d.t.Helper()
	d.exec("REVOKE ALL ON releases_v1, custom_labels_v1 FROM PUBLIC", "GRANT SELECT ON releases_v1, custom_labels_v1 TO "+reader,
		"CREATE POLICY helmdrift ON releases_v1 FOR SELECT TO "+reader+" USING (true)",
		"CREATE POLICY helmdrift ON custom_labels_v1 FOR SELECT TO "+reader+" USING (true)")
}

// storage opens the database as a role.
func (d testDatabase) storage(role string) *release.Storage {
	d.t.Helper()
	return open(d.t, d.server.Connection(d.name, role), time.Minute)
}

// database opens the database as storage does, and returns its backend.
func (d testDatabase) database(role string) database {
	d.t.Helper()
	return connect(d.t, d.server.Connection(d.name, role), time.Minute)
}

// store opens the namespace prod.
func (d testDatabase) store(role string) *release.Store {
	d.t.Helper()
	s, err := d.storage(role).Namespace("prod")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func open(t *testing.T, connection string, timeout time.Duration) *release.Storage {
	t.Helper()
	s, err := Open(connection, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func connect(t *testing.T, connection string, timeout time.Duration) database {
	t.Helper()
	d, err := newDatabase(connection, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// create stores records of Helm 3.
func (d testDatabase) create(releases ...*helm.Release) {
	d.t.Helper()
	s := d.helm3()
	for _, r := range releases {
		if err := s.Create(objectName(r.Name, r.Version), r); err != nil {
			d.t.Fatal(err)
		}
	}
}

// create4 stores a record of Helm 4.
func (d testDatabase) create4(namespace, name string, revision int, own map[string]string) {
	d.t.Helper()
	r := &helm4.Release{Name: name, Namespace: namespace, Version: revision, ApplyMethod: "ssa", Manifest: manifest,
		Info: &helm4.Info{Status: helm4common.StatusDeployed}, Labels: own}
	if err := d.helm4().Create(objectName(name, revision), r); err != nil {
		d.t.Fatal(err)
	}
}

func inNamespaceOf(r *helm.Release, namespace string, own map[string]string) *helm.Release {
	r.Namespace, r.Labels = namespace, own
	return r
}

const manifest = "---\n# Source: web/templates/cm.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"

// helmRelease returns a release as Helm 3 has it before it stores it.
func helmRelease(name string, revision int, status helm.Status) *helm.Release {
	return &helm.Release{Name: name, Namespace: "prod", Version: revision, Info: &helm.Info{Status: status}, Manifest: manifest}
}

// objectName returns the name that Helm stores a revision under.
func objectName(name string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
}

func summary(listed []release.Listed) string {
	var all []string
	for _, l := range listed {
		text := fmt.Sprintf("%s/%s.%d %s", l.Namespace, l.Release, l.Revision, l.Status)
		if l.Problem != nil {
			text += " with a problem"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// wantError checks that an error contains the given pieces of text, and that its hint contains advice; without advice, that it has none.
func wantError(t *testing.T, err error, advice string, pieces ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", pieces)
	}
	for _, p := range pieces {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
	got := hint.Of(err)
	if (got == "") != (advice == "") || !strings.Contains(got, advice) {
		t.Errorf("error %q has the hint %q, want %q", err, got, advice)
	}
	if got != "" && strings.Contains(err.Error(), got) {
		t.Errorf("error %q repeats its hint", err)
	}
}
