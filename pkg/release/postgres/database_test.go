package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	postgrestest "github.com/helmdrift/helmdrift/test/postgres"
)

// reader is the role that helmdrift reads with: it may select, and sees all rows.
const reader = "helmdrift"

// TestDatabase reads what Helm's own drivers wrote to a real PostgreSQL. Each case has a database of its own.
func TestDatabase(t *testing.T) {
	server := postgrestest.Start(t)
	server.Exec("postgres", "CREATE ROLE "+reader+" LOGIN PASSWORD '"+postgrestest.Password+"'")
	for name, test := range map[string]func(*testing.T, testDatabase){
		"list": testList, "load": testLoad, "writes": testWrites, "empty": testEmpty, "old-helm": testOldHelm,
		"newer": testNewer, "roles": testRoles, "answers": testAnswers, "foreign": testForeign, "pool": testPool,
	} {
		t.Run(name, func(t *testing.T) {
			database := "db_" + strings.ReplaceAll(name, "-", "_")
			server.Exec("postgres", "CREATE DATABASE "+database)
			test(t, testDatabase{t, server, database})
		})
	}
}

// testList lists the records of both Helms, as TestList of pkg/release lists records in Secrets.
func testList(t *testing.T, d testDatabase) {
	d.create(inNamespaceOf(helmRelease("web", 10, helm.StatusDeployed), "prod", nil),
		inNamespaceOf(helmRelease("web", 9, helm.StatusSuperseded), "prod", map[string]string{"team": "shop", "a/b": `"x"`}),
		inNamespaceOf(helmRelease("web", 1, helm.StatusFailed), "dev", nil))
	d.create4("dev", "db", 2, map[string]string{"team": "shop"})
	d.exec("UPDATE releases_v1 SET createdAt = 1002, modifiedAt = 1003 WHERE name = 'db'",
		"INSERT INTO releases_v1 SELECT 'other', type, '', 'other', namespace, 1, 'deployed', 'somebody', 0 FROM releases_v1 LIMIT 1")
	d.admit()
	for _, tc := range []struct{ namespace, selector, want string }{
		{"", "", "dev/db.2 deployed, dev/web.1 failed, prod/web.9 superseded, prod/web.10 deployed"},
		{"prod", "", "prod/web.9 superseded, prod/web.10 deployed"},
		{"none", "", ""},
		{"", "team=shop", "dev/db.2 deployed, prod/web.9 superseded"},
		{"", "team,status!=superseded", "dev/db.2 deployed"},
		{"", "name=web,version in (1,10)", "dev/web.1 failed, prod/web.10 deployed"},
		{"", "owner=somebody", ""},
	} {
		selector, err := labels.Parse(tc.selector)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.storage(reader).List(t.Context(), tc.namespace, selector)
		if err != nil {
			t.Fatal(err)
		}
		if summary(got) != tc.want {
			t.Errorf("namespace %q, selector %q:\n got %s\nwant %s", tc.namespace, tc.selector, summary(got), tc.want)
		}
	}
	got, err := d.storage(reader).List(t.Context(), "dev", labels.Set{"name": "db"}.AsSelector())
	if err != nil || len(got) != 1 || got[0].ResourceVersion == "" {
		t.Fatalf("%+v, error %v", got, err)
	}
	got[0].ResourceVersion = ""
	want := release.Listed{Entry: release.Entry{Name: "sh.helm.release.v1.db.v2", Release: "db", Revision: 2, Status: "deployed"},
		Namespace: "dev", Created: time.Unix(1002, 0), Labels: map[string]string{"name": "db", "owner": "helm", "status": "deployed", "version": "2",
			"team": "shop", "createdAt": "1002", "modifiedAt": "1003"}}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// testLoad loads records of both Helms.
func testLoad(t *testing.T, d testDatabase) {
	d.create(helmRelease("web", 1, helm.StatusSuperseded), helmRelease("web", 2, helm.StatusDeployed),
		helmRelease("web", 3, helm.StatusFailed), inNamespaceOf(helmRelease("web", 4, helm.StatusDeployed), "dev", nil), helmRelease("web2", 1, helm.StatusDeployed))
	d.create4("prod", "four", 1, nil)
	d.admit()
	s := d.store(reader)
	l, err := s.Load(t.Context(), "web", 0, release.Options{Values: true})
	if err != nil {
		t.Fatal(err)
	}
	if l.Old.Revision != 2 || l.Last.Revision != 3 || l.Old.Manifest != manifest || l.Old.Writer != release.WriterHelm3 ||
		l.Old.StoredAs != "SQL row prod/sh.helm.release.v1.web.v2" || len(l.History.Entries) != 3 {
		t.Errorf("loaded %+v, %+v", l.Old, l.History)
	}
	four, err := s.Load(t.Context(), "four", 0, release.Options{})
	if err != nil || four.Old.ApplyMethod != report.ApplyServerSide || four.Old.Writer != release.WriterHelm4 ||
		four.Old.Manifest != manifest {
		t.Errorf("loaded %+v, error %v", four, err)
	}
	_, err = s.Load(t.Context(), "db", 0, release.Options{})
	wantError(t, err, "no SQL row there holds a record of it", "there is no release db in namespace prod")
	_, err = s.Get(t.Context(), release.Entry{Name: objectName("db", 1), Release: "db", Revision: 1}, release.Options{})
	wantError(t, err, "", "get SQL row prod/sh.helm.release.v1.db.v1: ")
	if !apierrors.IsNotFound(err) {
		t.Errorf("%v is not the error of a record that was pruned", err)
	}
}

// testWrites checks that two lists differ after any write by Helm, even within one second, and that the storage
// cannot write, even as the owner of the tables.
func testWrites(t *testing.T, d testDatabase) {
	rel := helmRelease("web", 1, helm.StatusDeployed)
	d.create(rel)
	history := func() release.History {
		h, err := d.store(postgrestest.Admin).History(t.Context(), "web")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	seen := map[release.Entry]bool{history().Entries[0]: true}
	for range 3 {
		if err := d.helm3().Update(objectName("web", 1), rel); err != nil {
			t.Fatal(err)
		}
		seen[history().Entries[0]] = true
	}
	if len(seen) != 4 {
		t.Errorf("three writes changed the entry %d times", len(seen)-1)
	}
	for _, statement := range []string{"DELETE FROM releases_v1", "CREATE TABLE mine ()"} {
		err := d.database(postgrestest.Admin).read(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		})
		wantError(t, err, connectionVariable, "in a read-only transaction")
	}
}

// testEmpty checks that a database that Helm has not used is an error, and stays as it is.
func testEmpty(t *testing.T, d testDatabase) {
	s := d.store(postgrestest.Admin)
	_, err := s.Load(t.Context(), "web", 0, release.Options{})
	wantError(t, err, "helmdrift creates nothing", "there is no table releases_v1")
	_, err = d.storage(postgrestest.Admin).List(t.Context(), "prod", labels.Everything())
	wantError(t, err, "helmdrift creates nothing",
		"find releases: list the rows of releases_v1 in namespace prod: there is no table releases_v1")
	_, err = s.Get(t.Context(), release.Entry{Name: objectName("web", 1), Release: "web", Revision: 1}, release.Options{})
	wantError(t, err, "helmdrift creates nothing", "there is no table releases_v1")
	if got := d.server.Tables(d.name); got != "" {
		t.Errorf("there are tables now: %s", got)
	}
}

// testOldHelm reads the table of a Helm that had no table of labels.
func testOldHelm(t *testing.T, d testDatabase) {
	d.create(helmRelease("web", 1, helm.StatusDeployed))
	d.exec("DROP TABLE custom_labels_v1")
	got, err := d.storage(postgrestest.Admin).List(t.Context(), "", labels.Set{"status": "deployed"}.AsSelector())
	if err != nil || summary(got) != "prod/web.1 deployed" {
		t.Errorf("%s, error %v", summary(got), err)
	}
}

// testNewer checks each sign of another format that a newer Helm could leave.
func testNewer(t *testing.T, d testDatabase) {
	d.create(helmRelease("web", 1, helm.StatusDeployed), helmRelease("db", 1, helm.StatusDeployed))
	s := d.store(postgrestest.Admin)
	load := func() error {
		_, err := s.Load(t.Context(), "web", 0, release.Options{})
		return err
	}
	d.exec("UPDATE releases_v1 SET type = 'helm.sh/release.v2' WHERE name = 'web'")
	wantError(t, load(), "latest helmdrift", "read revision 1 of web from SQL row", `its type is "helm.sh/release.v2"`)
	d.exec("UPDATE releases_v1 SET type = 'mine' WHERE name = 'web'")
	wantError(t, load(), "must be helm.sh/release.v1", `its type is "mine", not helm.sh/release.v1`)
	d.exec("UPDATE releases_v1 SET key = 'sh.helm.release.v2.web.v1' WHERE name = 'web'")
	wantError(t, load(), "latest helmdrift", "SQL row prod/sh.helm.release.v2.web.v1 is a release record of an unknown format")
	listed, err := d.storage(postgrestest.Admin).List(t.Context(), "prod", labels.Everything())
	if err != nil || summary(listed) != "prod/db.1 deployed, prod/web.0 deployed with a problem" {
		t.Errorf("listed %s, error %v", summary(listed), err)
	}
	d.exec("ALTER TABLE releases_v1 RENAME COLUMN status TO state")
	wantError(t, load(), "latest helmdrift", "another form than this version knows", "42703")
	d.exec("ALTER TABLE releases_v1 RENAME COLUMN state TO status", "CREATE TABLE releases_v2 ()")
	wantError(t, load(), "latest helmdrift", "there is a table releases_v2")
}

// testRoles checks that a role that sees no rows is an error: an empty list would look like a namespace without
// releases. Helm enables row-level security, and grants everything to everybody.
func testRoles(t *testing.T, d testDatabase) {
	d.create(inNamespaceOf(helmRelease("web", 1, helm.StatusDeployed), "prod", map[string]string{"team": "shop"}))
	list := func() (string, error) {
		got, err := d.storage(reader).List(t.Context(), "", labels.Set{"team": "shop"}.AsSelector())
		return summary(got), err
	}
	hidden := func(table string) {
		t.Helper()
		_, err := list()
		wantError(t, err, "CREATE POLICY", "row-level security hides all rows of the table "+table)
	}
	hidden("releases_v1")
	d.exec("CREATE ROLE team", "CREATE POLICY a ON releases_v1 FOR SELECT TO team USING (true)",
		"CREATE POLICY b ON releases_v1 FOR INSERT TO "+reader+" WITH CHECK (true)")
	hidden("releases_v1")
	d.exec("GRANT team TO " + reader)
	hidden("custom_labels_v1")
	d.exec("CREATE POLICY a ON custom_labels_v1 TO PUBLIC USING (true)")
	if got, err := list(); got != "prod/web.1 deployed" || err != nil {
		t.Errorf("%s, error %v", got, err)
	}
	d.exec("REVOKE ALL ON releases_v1 FROM PUBLIC")
	_, err := list()
	wantError(t, err, "GRANT SELECT ON releases_v1", "permission denied for table releases_v1")
	d.exec("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
	_, err = list()
	wantError(t, err, "search_path", "there is no table releases_v1")
}

// testAnswers checks the errors of a connection that cannot be made. None shows the password.
func testAnswers(t *testing.T, d testDatabase) {
	const password = "wrong-hunter3"
	for name, tc := range map[string]struct{ connection, hint, want string }{
		"password": {fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s dbname=%s sslmode=disable", d.server.Port, reader, password, d.name),
			"the user and the password", `password authentication failed for user "helmdrift"`},
		"url": {fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", reader, password, d.server.Port, d.name),
			"the user and the password", `password authentication failed for user "helmdrift"`},
		"database": {d.server.Connection("nowhere", reader), "creates none", `database "nowhere" does not exist`},
		"tls": {strings.TrimSuffix(d.server.Connection(d.name, reader), "sslmode=disable"), "sslmode=disable connects without it",
			"the database offers no TLS"},
		"parameter": {d.server.Connection(d.name, reader) + " hunter3=x", "needs quotes",
			"refuses a parameter of the connection (SQLSTATE 42704)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, tc.connection, 0).List(t.Context(), "", labels.Everything())
			wantError(t, err, tc.hint, tc.want)
			if text := fmt.Sprintf("%+v", err); strings.Contains(text, "hunter") {
				t.Errorf("the error shows the password: %s", text)
			}
		})
	}
}

// testForeign checks rows that Helm would not write.
func testForeign(t *testing.T, d testDatabase) {
	d.create(helmRelease("web", 1, helm.StatusDeployed))
	d.exec("INSERT INTO releases_v1 SELECT 'a', type, body, '', namespace, 1, status, owner, 0 FROM releases_v1",
		"INSERT INTO releases_v1 SELECT 'b', type, body, 'zero', namespace, 0, status, owner, 0 FROM releases_v1 WHERE name = 'web'")
	got, err := d.storage(postgrestest.Admin).List(t.Context(), "", labels.Everything())
	const want = "prod/.0 deployed with a problem, prod/web.1 deployed, prod/zero.0 deployed with a problem"
	if err != nil || summary(got) != want {
		t.Fatalf("%s, error %v", summary(got), err)
	}
	wantError(t, got[0].Problem, "column owner", "SQL row prod/a", "do not tell a name and a revision")
	load := func() error {
		_, err := d.store(postgrestest.Admin).Load(t.Context(), "web", 0, release.Options{})
		return err
	}
	d.exec("UPDATE releases_v1 SET body = left(body, 100)")
	wantError(t, load(), "Restore it from a backup", "the record is cut short")
	d.exec("UPDATE releases_v1 SET body = repeat('A', 90000000) WHERE name = 'web'")
	wantError(t, load(), "", "its body has 85.83 MiB, and no more than 85.33 MiB are read")
}

// testPool checks that many reads at once share few connections, and that the end of a context ends a read.
func testPool(t *testing.T, d testDatabase) {
	d.create(helmRelease("web", 1, helm.StatusDeployed))
	s := d.store(postgrestest.Admin)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if _, err := s.Load(t.Context(), "web", 0, release.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := d.server.Column(d.name, `SELECT count(*) FROM pg_stat_activity
		WHERE application_name = 'helmdrift' AND datname = current_database()`)
	if got[0] != fmt.Sprint(maxConnections) {
		t.Errorf("%s connections, want %d", got[0], maxConnections)
	}
	sleep := func(ctx context.Context, db database) error {
		return db.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "SELECT pg_sleep(60)")
			return err
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	wantError(t, sleep(ctx, d.database(postgrestest.Admin)), "", "context canceled")
	slow := connect(t, d.server.Connection(d.name, postgrestest.Admin), 300*time.Millisecond)
	wantError(t, sleep(t.Context(), slow), "--request-timeout", "does not answer in time")
}
