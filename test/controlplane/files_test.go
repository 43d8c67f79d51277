package controlplane

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFreePortsAreDistinct(t *testing.T) {
	ports, err := freePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if port == 0 || seen[port] {
			t.Errorf("port %d of %v", port, ports)
		}
		seen[port] = true
	}
}

func TestCredentials(t *testing.T) {
	keys, err := newCredentials()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parse(t, keys.ca))
	for _, host := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc"} {
		if _, err := parse(t, keys.server).Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("server as %s: %v", host, err)
		}
	}
	asClient := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := parse(t, keys.proxy).Verify(asClient); err == nil {
		t.Error("the authority of the server accepts the front proxy")
	}
	dir := t.TempDir()
	if err := keys.write(dir); err != nil {
		t.Fatal(err)
	}
	users, err := os.ReadFile(filepath.Join(dir, usersFile))
	if err != nil || !strings.HasPrefix(string(users), keys.admin.token+`,helmdrift-admin,helmdrift-admin,"system:masters"`+"\n") {
		t.Errorf("users: %s, %v", users, err)
	}
	if len(keys.admin.token) < 20 || keys.admin.token == keys.scheduler.token {
		t.Errorf("the token %s can be guessed", keys.admin.token)
	}
}

func parse(t *testing.T, pair keyPair) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(pair.cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestFindModule(t *testing.T) {
	for _, from := range []string{".", "cmd/etcd", "../.."} {
		module, err := FindModule(from)
		if err != nil {
			t.Errorf("from %s: %v", from, err)
			continue
		}
		if !exists(filepath.Join(module.Dir, "cmd", etcd)) || !strings.HasPrefix(module.Version, "v1.") {
			t.Errorf("from %s: %+v", from, module)
		}
	}
	if module, err := FindModule(t.TempDir()); err == nil {
		t.Errorf("outside: %+v", module)
	}
}

func TestKeyFollowsTheSources(t *testing.T) {
	dir := t.TempDir()
	key := func() string {
		t.Helper()
		key, err := Module{Dir: dir, Version: "v1.2.3"}.key()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	write(t, dir, "go.mod", "module m\n")
	write(t, dir, "go.sum", "")
	write(t, dir, "cmd/etcd/main.go", "package main\n")
	first := key()
	if !strings.HasPrefix(first, "v1.2.3-") {
		t.Errorf("key %s lacks the version", first)
	}
	write(t, dir, "cmd/controlplane/main.go", "package main\n")
	if key() != first {
		t.Error("a change to the launcher rebuilds the servers")
	}
	write(t, dir, "cmd/etcd/main.go", "package main // changed\n")
	if key() == first {
		t.Error("a change to etcd builds nothing")
	}
}

func TestAssetsReplaceTheBuild(t *testing.T) {
	assets := t.TempDir()
	script(t, assets, etcd, "exit 0")
	module, err := FindModule(".")
	if err != nil {
		t.Fatal(err)
	}
	builder := Builder{Module: module, Cache: t.TempDir(), Assets: assets, Log: io.Discard}
	paths, err := builder.Build(context.Background(), etcd)
	if err != nil || paths[etcd] != filepath.Join(assets, etcd) {
		t.Errorf("etcd at %v, %v", paths, err)
	}
}

func TestMakeDirRefusesWhatItWouldDelete(t *testing.T) {
	dir := t.TempDir()
	if _, err := makeDir(dir); err != nil {
		t.Errorf("empty folder: %v", err)
	}
	script(t, dir, "mine", "")
	if _, err := makeDir(dir); err == nil {
		t.Error("a folder with something in it was accepted")
	}
}

// script writes a program that stands in for a server.
func script(t *testing.T, dir, name, body string) {
	t.Helper()
	write(t, dir, name, "#!/bin/sh\n"+body+"\n")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
