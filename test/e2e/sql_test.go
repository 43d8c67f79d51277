package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/test/postgres"
)

// TestRecordsInSQL keeps records in a real PostgreSQL: Helm 3 and Helm 4 write them as the owner of the database, after their own
// migrations, and helmdrift reads them as a role that may only read.
func TestRecordsInSQL(t *testing.T) {
	server := postgres.Start(t)
	server.Exec("postgres", "CREATE ROLE helmdrift LOGIN PASSWORD '"+postgres.Password+"'")
	for _, by4 := range []bool{false, true} {
		t.Run(fmt.Sprint("helm4=", by4), func(t *testing.T) {
			database := fmt.Sprint("helm4_", by4)
			server.Exec("postgres", "CREATE DATABASE "+database)
			testRecordsInSQL(t, by4, server, database)
		})
	}
}

func testRecordsInSQL(t *testing.T, by4 bool, server *postgres.Server, database string) {
	c := newCase(t, suite.cluster)
	t.Setenv("HELM_DRIVER_SQL_CONNECTION_STRING", server.Connection(database, postgres.Admin)) // of both Helm libraries
	c.env["HELM_DRIVER"] = "sql"
	c.env["HELM_DRIVER_SQL_CONNECTION_STRING"] = fmt.Sprintf("postgres://helmdrift:%s@127.0.0.1:%d/%s?sslmode=disable",
		postgres.Password, server.Port, database)

	// Before Helm's first run there is no table, and helmdrift creates none.
	out, err := c.diff(c.release, "--debug")
	must(t, err)
	if out.exit != 1 || !strings.Contains(out.stderr, "there is no table releases_v1") || strings.Contains(out.stderr, postgres.Password) {
		t.Errorf("exit %d\n%s%s", out.exit, out.stdout, out.stderr)
	}
	if got := server.Tables(database); got != "" {
		t.Errorf("there are tables now: %s", got)
	}

	must(t, c.helm(by4, "install", "web"))
	server.Exec(database, "GRANT SELECT ON releases_v1, custom_labels_v1 TO helmdrift",
		"CREATE POLICY helmdrift ON releases_v1 FOR SELECT TO helmdrift USING (true)",
		"CREATE POLICY helmdrift ON custom_labels_v1 FOR SELECT TO helmdrift USING (true)")
	for _, args := range [][]string{{c.release, "--debug"}, {}} { // the second finds the only release of the namespace
		out, err = c.diff(append(args, "--fail-on", "drift,unmanaged,effect")...)
		must(t, err)
		want(t, out, 0, "")
		if strings.Contains(out.stdout+out.stderr, postgres.Password) {
			t.Errorf("it shows the password\n%s%s", out.stdout, out.stderr)
		}
	}

	// A scan of all namespaces finds the releases of the database, and no others.
	out, err = c.binary("diff", "-A", "-o", "json")
	must(t, err)
	all, err := decodeReport(out.stdout)
	must(t, err)
	if len(all.Releases) != 1 || all.Releases[0].Namespace != c.ns || all.Releases[0].Drifted || out.exit != 0 {
		t.Errorf("exit %d\n%s%s", out.exit, out.stdout, out.stderr)
	}

	must(t, c.scale("deployment/web", "5"))
	out, err = c.diff(c.release)
	must(t, err)
	drift := `Deployment web: update drifted
  overwrite/drift spec.replicas old=2 desired=2 live=5 by:kubectl(scale)`
	fixed := ""
	if by4 { // Helm 4 applies server-side, and does not take a field from somebody else
		drift = `Deployment web: fail drifted
  conflict/drift spec.replicas old=2 desired=2 live=5 blocked by:kubectl(scale)`
		fixed = "warning last-not-old" // the upgrade failed
	}
	want(t, out, 2, drift)
	must(t, c.proves())

	// The upgrade that proved the prediction is in the database, too.
	out, err = c.diff(c.release, "--to-revision", "1")
	must(t, err)
	if old := out.report.Releases[0].Old; old == nil || old.Revision != 2 {
		t.Errorf("old is %+v", old)
	}
	rows := "SELECT key || ' ' || status || ' ' || xmin FROM releases_v1 ORDER BY key"
	before := fmt.Sprint(server.Column(database, rows))
	must(t, c.scale("deployment/web", "7"))
	if _, _, err = c.fix("--yes"); err != nil {
		t.Error(err)
	}
	out, err = c.diff(c.release)
	must(t, err)
	want(t, out, 0, fixed)
	if after := fmt.Sprint(server.Column(database, rows)); after != before {
		t.Errorf("the records are %s, and were %s", after, before)
	}
}
