// Package postgres starts a PostgreSQL server for tests of HELM_DRIVER=sql. The server belongs to one test: its data is in a temporary
// folder, it listens on the loopback device only, and it ends with the test. The binaries come from Debian's package postgresql; a test is
// skipped where they are not installed.
//
//	server := postgres.Start(t)
//	server.Exec("postgres", "CREATE DATABASE helm")
//	dsn := server.Connection("helm", postgres.Admin)
package postgres

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver of database/sql
)

// Admin is the superuser, and every role has the password Password.
const (
	Admin    = "admin"
	Password = "hunter2-canary"
)

// binaries is where Debian's packages install the server, in a folder for each version.
const binaries = "/usr/lib/postgresql/*/bin/postgres"

// portAttempts is how many ports are tried: another process may take one before the server does.
const portAttempts = 3

// startTimeout is how long a server may take to answer. It replays nothing, so only the speed of the machine counts.
const startTimeout = 5 * time.Minute

// Server is a running server.
type Server struct {
	// Port is where it listens on 127.0.0.1, without TLS.
	Port int

	t      testing.TB
	dir    string // of the data and the log
	bin    string
	ended  chan struct{}
	server *exec.Cmd
}

// Start starts a server that ends with the test. It skips the test if PostgreSQL is not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	found, _ := filepath.Glob(binaries)
	if len(found) == 0 {
		t.Skipf("PostgreSQL is not installed: there is no %s; install Debian's package postgresql", binaries)
	}
	// The folders of t.TempDir admit only their owner, and as root the server runs as somebody else.
	dir, err := os.MkdirTemp("", "helmdrift-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{t: t, dir: dir, bin: filepath.Dir(found[len(found)-1])}
	s.initialize()
	s.t.Cleanup(s.stop)
	for range portAttempts {
		if s.start(); s.wait() {
			return s
		}
	}
	t.Fatalf("PostgreSQL ended: %s", s.log())
	return nil
}

// initialize creates the data of the server.
func (s *Server) initialize() {
	s.t.Helper()
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte(Password), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := giveAway(s.dir, password); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.command("initdb", "--pgdata="+filepath.Join(s.dir, "data"), "--username="+Admin, "--pwfile="+password,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("initdb: %v\n%s", err, out)
	}
}

// command returns a command that runs as an unprivileged user, which PostgreSQL demands.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, childAttributes()
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	return cmd
}

// start starts the server on a free port.
func (s *Server) start() {
	s.t.Helper()
	var err error
	if s.Port, err = freePort(); err != nil {
		s.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	// The data need not survive a crash of the machine.
	s.server = s.command("postgres", "-D", filepath.Join(s.dir, "data"), "-p", fmt.Sprint(s.Port), "-k", s.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=16MB")
	s.server.Stdout, s.server.Stderr = log, log
	if err := s.server.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan struct{})
	go func() {
		_ = s.server.Wait()
		close(s.ended)
	}()
}

// wait waits until the server answers; it returns false if the port was taken. What answers then is another server, with other data.
func (s *Server) wait() bool {
	s.t.Helper()
	db := s.open("postgres")
	defer db.Close()
	var err error
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var data string
		if err = db.QueryRow("SHOW data_directory").Scan(&data); err == nil && data == filepath.Join(s.dir, "data") {
			return true
		}
		select {
		case <-s.ended:
			if strings.Contains(s.log(), "Address already in use") {
				return false
			}
			s.t.Fatalf("PostgreSQL ended: %s", s.log())
		default:
		}
	}
	s.t.Fatalf("PostgreSQL does not answer: %v\n%s", err, s.log())
	return false
}

// stop ends the server and waits for it. Clients are disconnected.
func (s *Server) stop() {
	if s.server == nil || s.server.Process == nil {
		return
	}
	_ = s.server.Process.Signal(os.Interrupt)
	select {
	case <-s.ended:
	case <-time.After(startTimeout):
		_ = s.server.Process.Kill()
		<-s.ended
	}
}

func (s *Server) log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text)
}

// Connection returns the connection string of a role for a database.
func (s *Server) Connection(database, role string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d dbname=%s user=%s password=%s sslmode=disable", s.Port, database, role, Password)
}

// Exec runs statements in a database as the superuser.
func (s *Server) Exec(database string, statements ...string) {
	s.t.Helper()
	db := s.open(database)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Column returns the texts of the one column that a query of the superuser has.
func (s *Server) Column(database, query string) []string {
	s.t.Helper()
	db := s.open(database)
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			s.t.Fatal(err)
		}
		found = append(found, text)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return found
}

// Tables returns the tables of a database, apart from those of PostgreSQL itself.
func (s *Server) Tables(database string) string {
	s.t.Helper()
	return strings.Join(s.Column(database, `SELECT schemaname || '.' || tablename FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`), " ")
}

// open returns a pool that connects when it is used.
func (s *Server) open(database string) *sql.DB {
	s.t.Helper()
	db, err := sql.Open("postgres", s.Connection(database, Admin))
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

// freePort returns a port of the loopback device that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
