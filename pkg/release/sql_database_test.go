package release

import (
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helm4common "helm.sh/helm/v4/pkg/release/common"
	helm4 "helm.sh/helm/v4/pkg/release/v1"
	driver4 "helm.sh/helm/v4/pkg/storage/driver"

	"github.com/helmdrift/helmdrift/test/postgres"
)

// sqlDatabase is one database of the server.
type sqlDatabase struct {
	t      *testing.T
	server *postgres.Server
	name   string
}

func (d sqlDatabase) exec(statements ...string) {
	d.t.Helper()
	d.server.Exec(d.name, statements...)
}

// helm3 and helm4 return Helm's own drivers, which run Helm's migrations.
func (d sqlDatabase) helm3() *driver.SQL {
	d.t.Helper()
	s, err := driver.NewSQL(d.server.Connection(d.name, postgres.Admin), func(string, ...any) {}, "")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d sqlDatabase) helm4() *driver4.SQL {
	d.t.Helper()
	s, err := driver4.NewSQL(d.server.Connection(d.name, postgres.Admin), "")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// admit lets the reader read the tables.
func (d sqlDatabase) admit() {
	d.t.Helper()
	d.exec("REVOKE ALL ON releases_v1, custom_labels_v1 FROM PUBLIC", "GRANT SELECT ON releases_v1, custom_labels_v1 TO "+reader,
		"CREATE POLICY helmdrift ON releases_v1 FOR SELECT TO "+reader+" USING (true)",
		"CREATE POLICY helmdrift ON custom_labels_v1 FOR SELECT TO "+reader+" USING (true)")
}

// storage opens the database as a role.
func (d sqlDatabase) storage(role string) *Storage {
	d.t.Helper()
	return openSQL(d.t, Driver{Name: "sql", Connection: d.server.Connection(d.name, role), Timeout: time.Minute})
}

// store opens the namespace prod.
func (d sqlDatabase) store(role string) *Store {
	d.t.Helper()
	s, err := d.storage(role).Namespace("prod")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func openSQL(t *testing.T, d Driver) *Storage {
	t.Helper()
	s, err := Open(d, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// create stores records of Helm 3.
func (d sqlDatabase) create(releases ...*helm.Release) {
	d.t.Helper()
	s := d.helm3()
	for _, r := range releases {
		if err := s.Create(objectName(r.Name, r.Version), r); err != nil {
			d.t.Fatal(err)
		}
	}
}

// create4 stores a record of Helm 4.
func (d sqlDatabase) create4(namespace, name string, revision int, own map[string]string) {
	d.t.Helper()
	r := &helm4.Release{Name: name, Namespace: namespace, Version: revision, ApplyMethod: ApplyServerSide, Manifest: manifest,
		Info: &helm4.Info{Status: helm4common.StatusDeployed}, Labels: own}
	if err := d.helm4().Create(objectName(name, revision), r); err != nil {
		d.t.Fatal(err)
	}
}

func inNamespaceOf(r *helm.Release, namespace string, own map[string]string) *helm.Release {
	r.Namespace, r.Labels = namespace, own
	return r
}
