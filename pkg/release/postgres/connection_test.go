package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// TestUnreachable checks servers that refuse a connection, and one that accepts it and says nothing.
func TestUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	list := func(connection string, timeout time.Duration) error {
		_, err := open(t, connection, timeout).List(t.Context(), "", labels.Everything())
		return err
	}
	wantError(t, list("postgres://helm:hunter2@127.0.0.1:1/helm", time.Minute), "the host and the port",
		"list the rows of releases_v1 in all namespaces: cannot reach the database: dial tcp 127.0.0.1:1: connect: connection refused")
	_, port, _ := net.SplitHostPort(silent.Addr().String())
	begun := time.Now()
	for _, mode := range []string{"disable", "require"} {
		err := list("host=127.0.0.1 password=hunter2 sslmode="+mode+" port="+port, 200*time.Millisecond)
		wantError(t, err, "--request-timeout", "does not answer in time")
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("a silent server held two lists for %v", took)
	}
}

// TestConnectionString checks that the error of an unusable connection string repeats nothing of it, and that
// Secrets finds the passwords of usable and unusable strings.
func TestConnectionString(t *testing.T) {
	const isNone = "HELM_DRIVER_SQL_CONNECTION_STRING is no connection string of PostgreSQL"
	for _, tc := range []struct{ connection, password, want string }{
		{"postgres://helm:hunter2@db:5432/helm?sslmode=disable", "hunter2", ""},
		{"postgresql://helm:hun%2Fter2@db/helm", "hun/ter2", ""},
		{"postgres://db/helm?user=helm&password=hunter2", "hunter2", ""},
		{"host=db user=helm password='hunter2 \\'and more' dbname=helm", "hunter2 'and more", ""},
		{"host=db user=helm password=hun\\ ter2", "hun ter2", ""},
		{"postgres://helm:hunter2/x@db/helm", "hunter2/x", isNone},
		{"postgres://helm:hun%ter2@db/helm", "hun%ter2", isNone},
		{"postgres://helm:hunter2@db:port/helm", "hunter2", isNone},
		{"user=helm password=a hunter2", "user=helm password=a hunter2", isNone},
		{"user=helm password='hunter2", "user=helm password='hunter2", isNone},
		{"port=hunter2", "port=hunter2", "the parameter port in HELM_DRIVER_SQL_CONNECTION_STRING has a wrong value"},
		{"sslmode=hunter2", "sslmode=hunter2", "the parameter sslmode in HELM_DRIVER_SQL_CONNECTION_STRING has a wrong value"},
	} {
		if secrets := Secrets(tc.connection); !strings.Contains(strings.Join(secrets, "\n")+"\n", tc.password+"\n") {
			t.Errorf("the secrets of %s are %q", tc.connection, secrets)
		}
		s, err := Open(tc.connection, 0)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tc.connection, err)
				continue
			}
			_ = s.Close()
			continue
		}
		wantError(t, err, "special characters are written as %40", tc.want)
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v shows the password", err)
		}
	}
	t.Setenv("PGPASSWORD", "from-the-environment")
	if got := fmt.Sprint(Secrets("port=x")); !strings.Contains(got, "from-the-environment") {
		t.Errorf("secrets %s", got)
	}
	t.Setenv("PGPORT", "hunter2")
	_, err := Open("", 0)
	wantError(t, err, "psql", "the environment variable PGPORT cannot be used")
}

// late is a context that does not say yet that its time is over, as on a busy machine.
type late struct{ context.Context }

func (late) Err() error { return nil }

// TestInterruptedWrite explains the end of a write that pq hides, although the context does not say that its time is over.
func TestInterruptedWrite(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	wantError(t, explain(late{ctx}, errors.New("write tcp 127.0.0.1:1->127.0.0.1:2: i/o timeout")), "--request-timeout", "does not answer in time")
}
