package postgres

import (
	"net"
	"os"
	"strconv"
	"testing"
)

// TestStart checks that a server answers, and that nothing of it is left when its test ends.
func TestStart(t *testing.T) {
	var s *Server
	t.Run("server", func(t *testing.T) {
		s = Start(t)
		s.Exec("postgres", "CREATE DATABASE one")
		s.Exec("one", "CREATE TABLE a ()", "CREATE SCHEMA b", "CREATE TABLE b.c ()")
		if got := s.Tables("one"); got != "b.c public.a" {
			t.Errorf("tables %q", got)
		}
		if got := s.Column("one", "SHOW listen_addresses"); len(got) != 1 || got[0] != "127.0.0.1" {
			t.Errorf("it listens on %q", got)
		}
	})
	if s == nil {
		t.Skip("PostgreSQL is not installed")
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", s.dir, err)
	}
	if conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))); err == nil {
		conn.Close()
		t.Error("the server still answers")
	}
}
