package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	neturl "net/url"
	"regexp"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// maxConnections bounds the connections to the database, however many releases are read at once. Managed databases
// often allow less than a hundred for all their clients.
const maxConnections = 4

// Open returns the storage of the records in a database. The connection string is a value of HELM_DRIVER_SQL_CONNECTION_STRING. Timeout
// limits each request to the database, and the time to connect to it; 0 means no limit. Open sends no request: the storage connects when
// the first record is read. Close the storage afterwards.
func Open(connection string, timeout time.Duration) (*release.Storage, error) {
	d, err := newDatabase(connection, timeout)
	if err != nil {
		return nil, err
	}
	return release.NewStorage(d), nil
}

// newDatabase returns the backend for a connection string.
func newDatabase(connection string, timeout time.Duration) (database, error) {
	config, err := pq.NewConfig(connection)
	if err != nil {
		return database{}, connectionStringError(err)
	}
	if config.ApplicationName == "" {
		config.ApplicationName = "helmdrift" // what the administrator of the database sees
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = timeout
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return database{}, connectionStringError(err)
	}
	connector.Dialer(dialer{timeout})
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	return database{db: db, timeout: timeout}, nil
}

// connectionVariable is the variable with the connection string of Helm's driver sql. The variables of
// PostgreSQL, such as PGHOST, replace what the string leaves out.
const connectionVariable = "HELM_DRIVER_SQL_CONNECTION_STRING"

// wrongParameter and wrongVariable match the errors of pq that begin with a name. Everything after the name can quote
// the connection string, or the value of a variable.
var (
	wrongParameter = regexp.MustCompile(`^pq: wrong value for "([a-z_]+)"`)
	wrongVariable  = regexp.MustCompile(`^pq: (?:wrong value for|environment variable) \$([A-Z]+)`)
)

// connectionStringError is the error for a connection string that cannot be used. It repeats no part of the string,
// because any part can belong to a password that is not quoted well.
func connectionStringError(err error) error {
	text := err.Error()
	switch {
	case wrongVariable.MatchString(text):
		name := wrongVariable.FindStringSubmatch(text)[1]
		return hint.New(fmt.Errorf("connect to PostgreSQL: the environment variable %s cannot be used", name),
			"its value is wrong, or the PostgreSQL driver for Go does not support it; unset it, or see what psql says of its value")
	case wrongParameter.MatchString(text):
		err = fmt.Errorf("the parameter %s in %s has a wrong value", wrongParameter.FindStringSubmatch(text)[1], connectionVariable)
	default:
		err = errors.New(connectionVariable + " is no connection string of PostgreSQL")
	}
	return hint.New(err, "it is either a URL, postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE, where special characters "+
		"are written as %40, or parameters, host=HOST user=USER password='PASSWORD' dbname=DATABASE, where quotes and "+
		"backslashes follow a backslash; a service must be in the service file, and the user may be left out only if the system knows one")
}

// Secrets returns the secrets of a connection: its string, and the passwords in the string and in the environment. It
// finds passwords even in a string that cannot be used.
func Secrets(connection string) []string {
	secrets := []string{connection}
	if at := strings.LastIndex(connection, "@"); at >= 0 {
		if _, user, isURL := strings.Cut(connection[:at], "://"); isURL {
			_, password, _ := strings.Cut(user, ":")
			unescaped, _ := neturl.PathUnescape(password)
			secrets = append(secrets, password, unescaped)
		}
	}
	for _, text := range []string{connection, ""} { // the second is what the environment alone says
		if config, err := pq.NewConfig(text); err == nil {
			secrets = append(secrets, config.Password, config.Runtime["sslpassword"])
			if config.SSLInline {
				secrets = append(secrets, config.SSLKey)
			}
		}
	}
	return secrets
}

// dialer makes connections whose reads and writes end after a time. pq waits for answers of the server even if the
// context of the call has ended.
type dialer struct{ timeout time.Duration }

var _ pq.DialerContext = dialer{}

// DialContext connects to the server.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil || d.timeout <= 0 {
		return conn, err
	}
	return &timedConn{Conn: conn, timeout: d.timeout}, nil
}

// Dial and DialTimeout belong to the interface; pq calls DialContext.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout connects within a time.
func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// timedConn is a connection that ends each read and write after the timeout.
type timedConn struct {
	net.Conn
	timeout time.Duration
	// until is the end of the login, which can be earlier. It is zero afterwards.
	until time.Time
}

// SetDeadline sets the end of the login.
func (c *timedConn) SetDeadline(t time.Time) error {
	c.until = t
	return nil
}

// next returns the end of a read or write that begins now.
func (c *timedConn) next() time.Time {
	end := time.Now().Add(c.timeout)
	if !c.until.IsZero() && c.until.Before(end) {
		return c.until
	}
	return end
}

// Read reads before the timeout.
func (c *timedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(c.next()); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write writes before the timeout.
func (c *timedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(c.next()); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
