package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// These are the tables of Helm's driver sql. Older versions of Helm 3 have no table of labels.
const (
	recordTable = "releases_v1"
	labelTable  = "custom_labels_v1"
)

// findTables finds the tables in any version. It also finds whether row-level security hides every row of them: it is
// active for the role, and no policy lets the role read.
const findTables = `
SELECT c.relname, row_security_active(c.oid) AND NOT EXISTS (
	SELECT FROM pg_catalog.pg_policy p
	WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd IN ('r', '*') AND EXISTS (
		SELECT FROM unnest(p.polroles) AS role WHERE role = 0 OR pg_has_role(role, 'USAGE')))
FROM pg_catalog.pg_class c
WHERE c.relname ~ '^(releases|custom_labels)_v[0-9]+$' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
ORDER BY c.relname DESC`

// listRows lists all columns but the body. The system column xmin is the transaction that last wrote the row, so it
// changes with each write; modifiedAt counts seconds. Its parameters are a namespace and a release, or empty texts
// for all. The %s stands for ownLabels or NULL.
const listRows = `
SELECT r.key, r.name, r.namespace, r.version, r.status, r.createdAt, r.modifiedAt, r.xmin::text, %s
FROM ` + recordTable + ` r
WHERE r.owner = 'helm' AND ($1 = '' OR r.namespace = $1) AND ($2 = '' OR r.name = $2)`

// ownLabels reads the user's labels of a row as one JSON object.
const ownLabels = `(
	SELECT json_object_agg(l.key, coalesce(l.value, '')) FROM ` + labelTable + ` l
	WHERE l.releaseKey = r.key AND l.releaseNamespace = r.namespace AND l.key IS NOT NULL)`

// readRow reads one record. A body larger than the third parameter stays in the database.
const readRow = `
SELECT type, octet_length(body), CASE WHEN octet_length(body) <= $3 THEN body ELSE '' END
FROM ` + recordTable + ` WHERE key = $1 AND namespace = $2`

// maxBody is the largest body that is read: the length of release.DefaultLimit bytes in base64.
const maxBody = release.DefaultLimit / 3 * 4

// database is the backend of Helm's driver sql: one row of a table in PostgreSQL per record. It runs none of Helm's
// migrations, and its transactions cannot write.
type database struct {
	db      *sql.DB
	timeout time.Duration
}

var _ release.Backend = database{}

// Resource returns nothing, because the records are not in the cluster.
func (d database) Resource() string { return "" }

// Kind returns what a record in a database is called.
func (d database) Kind() string { return "SQL row" }

// storedAs names a record in messages.
func (d database) storedAs(namespace, name string) string {
	return d.Kind() + " " + namespace + "/" + name
}

// Close ends the connections to the database.
func (d database) Close() error { return d.db.Close() }

// List reads everything but the bodies. It compares labels itself, in the way of the API server.
func (d database) List(ctx context.Context, namespace string, selector labels.Selector) ([]release.Listed, error) {
	name, _ := selector.RequiresExactMatch("name")
	var found []release.Listed
	err := d.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		own, err := checkTables(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, fmt.Sprintf(listRows, own), namespace, name)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			l, err := d.scan(rows)
			if err != nil {
				return err
			}
			if selector.Matches(labels.Set(l.Labels)) {
				found = append(found, l)
			}
		}
		return rows.Err()
	})
	if err == nil {
		return found, nil
	}
	where := "namespace " + namespace
	if namespace == "" {
		where = "all namespaces"
	}
	return nil, fmt.Errorf("list the rows of %s in %s: %w", recordTable, where, err)
}

// checkTables returns the expression for the labels of a row. The error says which tables are missing, newer or hidden.
func checkTables(ctx context.Context, tx *sql.Tx) (own string, err error) {
	rows, err := tx.QueryContext(ctx, findTables)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	exists := map[string]bool{}
	for rows.Next() {
		var name string
		var hidden bool
		if err := rows.Scan(&name, &hidden); err != nil {
			return "", err
		}
		exists[name] = true
		switch {
		case name != recordTable && name != labelTable:
			return "", release.NewerFormat(fmt.Errorf("there is a table %s, a format that this version does not know", name))
		case hidden:
			return "", hiddenError(name)
		}
	}
	switch {
	case rows.Err() != nil:
		return "", rows.Err()
	case !exists[recordTable]:
		return "", missingError()
	case !exists[labelTable]:
		return "NULL", nil
	}
	return ownLabels, nil
}

// scan reads one row of listRows. It returns the labels that Helm would give to an object.
func (d database) scan(rows *sql.Rows) (release.Listed, error) {
	var l release.Listed
	var created, modified int64
	var own []byte
	if err := rows.Scan(&l.Name, &l.Release, &l.Namespace, &l.Revision, &l.Status, &created, &modified, &l.ResourceVersion, &own); err != nil {
		return l, err
	}
	l.Created = time.Unix(created, 0)
	l.Labels = map[string]string{}
	if own != nil {
		if err := json.Unmarshal(own, &l.Labels); err != nil {
			return l, fmt.Errorf("read the labels of %s: %w", d.storedAs(l.Namespace, l.Name), err)
		}
	}
	l.Labels["name"], l.Labels["owner"], l.Labels["status"] = l.Release, "helm", l.Status
	l.Labels["version"], l.Labels["createdAt"] = strconv.Itoa(l.Revision), strconv.FormatInt(created, 10)
	if modified > 0 {
		l.Labels["modifiedAt"] = strconv.FormatInt(modified, 10)
	}
	if l.Release == "" || l.Revision < 1 {
		l.Revision = 0
		l.Problem = hint.New(
			fmt.Errorf("%s is a release record of Helm, but its columns do not tell a name and a revision", d.storedAs(l.Namespace, l.Name)),
			"correct the columns name and version of the row, or its column owner if it is something else")
	}
	return l, nil
}

// typeHint is the advice for a row whose type is not Helm's.
const typeHint = "the column type of a record that was restored by hand must be " + release.RecordType

// Text reads the body of one row.
func (d database) Text(ctx context.Context, namespace, name string) (text []byte, problem, err error) {
	var kind string
	var size int64
	err = d.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, readRow, name, namespace, maxBody).Scan(&kind, &size, &text)
	})
	where := d.storedAs(namespace, name)
	if errors.Is(err, sql.ErrNoRows) {
		// Callers look for the error that an API server returns.
		err = apierrors.NewNotFound(schema.GroupResource{Resource: recordTable}, name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("get %s: %w", where, err)
	}
	if size > maxBody {
		return nil, fmt.Errorf("its body has %s, and no more than %s are read", mebibytes(size), mebibytes(maxBody)), nil
	}
	return text, release.CheckType(kind, typeHint), nil
}

// mebibytes formats a number of bytes for people.
func mebibytes(n int64) string { return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20)) }

// read calls do in a transaction that sees one moment of the database and cannot write to it.
func (d database) read(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.timeout)
		defer cancel()
	}
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return explain(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	return explain(ctx, do(ctx, tx))
}
