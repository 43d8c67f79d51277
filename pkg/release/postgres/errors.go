package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// explain returns an error that says what is wrong with the database and what to try. The context's own error
// comes first, because pq returns whatever the end of the context interrupted.
func explain(ctx context.Context, err error) error {
	var answer *pq.Error
	var network net.Error
	var hasHint interface{ Hint() string }
	switch {
	case err == nil || errors.Is(err, sql.ErrNoRows) || errors.As(err, &hasHint):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case isOver(ctx) || errors.As(err, &network) && network.Timeout():
		return hint.New(errors.New("the database does not answer in time"), "--request-timeout sets the limit; "+
			"check the host and the port in "+connectionVariable+", and the network between")
	case errors.As(err, &answer):
		return explainAnswer(answer)
	case errors.Is(err, pq.ErrSSLNotSupported):
		return hint.New(errors.New("the database offers no TLS, which the connection requires"),
			"a connection string without sslmode requires TLS; sslmode=disable connects without it")
	case errors.As(err, &network):
		return hint.New(fmt.Errorf("cannot reach the database: %w", err), "check the host and the port in "+connectionVariable)
	}
	return hint.New(fmt.Errorf("read from the database: %w", err), "check the host, the port and the TLS parameters in "+connectionVariable)
}

// isOver reports whether the time of a context is over. On a busy machine, the connection can end before the context says so, and pq hides
// the timeout of a write in an error of its own (pq v1.12.3 conn.go safeRetryError).
func isOver(ctx context.Context) bool {
	end, has := ctx.Deadline()
	return has && !time.Now().Before(end)
}

// explainAnswer returns the explained error for an answer of the server.
func explainAnswer(answer *pq.Error) error {
	err := fmt.Errorf("the database answers: %s (SQLSTATE %s)", answer.Message, answer.Code)
	switch answer.Code {
	case pqerror.UndefinedObject, pqerror.InvalidParameterValue:
		// The message quotes a part of the connection string, which can belong to a password that is not quoted well.
		return hint.New(fmt.Errorf("the database refuses a parameter of the connection (SQLSTATE %s)", answer.Code),
			"check "+connectionVariable+"; a password with blanks needs quotes")
	case pqerror.UndefinedTable:
		return missingError()
	case pqerror.UndefinedColumn, pqerror.UndefinedFunction, pqerror.DatatypeMismatch:
		return release.NewerFormat(fmt.Errorf("the tables of Helm have another form than this version knows: %w", err))
	case pqerror.InvalidPassword, pqerror.InvalidAuthorizationSpecification:
		return hint.New(err, "check the user and the password in "+connectionVariable+", and the rules of the server in pg_hba.conf")
	case pqerror.InvalidCatalogName:
		return hint.New(err, "check the database in "+connectionVariable+"; helmdrift reads one that Helm has used, and creates none")
	case pqerror.InsufficientPrivilege:
		return hint.New(err, grantHint)
	}
	return hint.New(err, "the role and the server are those of "+connectionVariable+"; the log of the server may say more")
}

// grantHint says how to let a role read. Helm enables row-level security without a policy.
const grantHint = "a role reads the records of Helm if the owner of the tables runs, with its name for ROLE: " +
	"GRANT SELECT ON " + recordTable + ", " + labelTable + " TO ROLE; " +
	"CREATE POLICY helmdrift ON " + recordTable + " FOR SELECT TO ROLE USING (true); " +
	"CREATE POLICY helmdrift ON " + labelTable + " FOR SELECT TO ROLE USING (true)"

// hiddenError is the error of a table whose rows are hidden from the role. The list would be empty, as if there were
// no releases.
func hiddenError(table string) error {
	return hint.New(fmt.Errorf("row-level security hides all rows of the table %s from this role", table), grantHint)
}

// missingError is the error of a database without Helm's table.
func missingError() error {
	return hint.New(fmt.Errorf("there is no table %s: Helm has stored no release in this database", recordTable),
		"check the database and the search_path in "+connectionVariable+"; Helm creates the table when it first runs with "+
			"HELM_DRIVER=sql, and helmdrift creates nothing")
}
