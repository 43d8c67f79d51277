package main

import (
	"archive/tar"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// dist returns a folder as goreleaser fills it, with a program for each architecture.
func dist(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "dist")
	write(t, filepath.Join(folder, "../LICENSE"), "the licence")
	write(t, filepath.Join(folder, "../NOTICE"), "the licences of others")
	var artifacts []map[string]string
	for _, arch := range []string{"arm64", "amd64"} {
		write(t, filepath.Join(folder, "helmdrift_linux_"+arch), "the program for "+arch)
		artifacts = append(artifacts, map[string]string{"path": "dist/helmdrift_linux_" + arch, "goos": "linux", "goarch": arch, "type": "Binary"})
	}
	artifacts = append(artifacts, map[string]string{"path": "dist/helmdrift.exe", "goos": "windows", "goarch": "amd64", "type": "Binary"})
	list, err := json.Marshal(artifacts)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "artifacts.json"), string(list))
	write(t, filepath.Join(folder, "metadata.json"), `{"commit": "c0ffee", "date": "2026-11-01T10:00:00.5+01:00"}`)
	return folder
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestLayout makes the image in a folder, and reads it again: one image per architecture, without a shell, that runs as nobody.
func TestLayout(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "image")
	if err := run(t.Context(), options{dist: dist(t), version: "v1.2.3", layout: folder}); err != nil {
		t.Fatal(err)
	}
	list, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := list.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	all, err := list.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Fatalf("%+v %v", manifest, err)
	}
	for _, entry := range manifest.Manifests {
		one, err := all.Image(entry.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, one, entry.Platform.Architecture)
	}
}

// checkImage checks the configuration and the files of the image for an architecture.
func checkImage(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; c.User != "65532:65532" || c.Entrypoint[0] != "/usr/bin/helmdrift" || config.Architecture != arch ||
		c.Labels["org.opencontainers.image.revision"] != "c0ffee" || c.Labels["org.opencontainers.image.version"] != "v1.2.3" {
		t.Errorf("the configuration is %+v", config)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, layer := range layers {
		text, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for archive := tar.NewReader(text); ; {
			header, err := archive.Next()
			if err != nil {
				break
			}
			content, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			got[header.Name] = string(content)
			if header.Name == "tmp/" && header.Mode != 0o1777 {
				t.Errorf("the mode of /tmp is %o", header.Mode)
			}
		}
	}
	if len(got) != 5 || got["usr/share/licenses/helmdrift/NOTICE"] == "" || got["usr/bin/helmdrift"] != "the program for "+arch {
		t.Errorf("%s has %d files", arch, len(got))
	}
	block, rest := pem.Decode([]byte(got["etc/ssl/certs/ca-certificates.crt"]))
	if _, err := x509.ParseCertificate(block.Bytes); err != nil || strings.Count(string(rest), "BEGIN CERTIFICATE") < 100 {
		t.Errorf("the image has no certificates: %v", err)
	}
}

// TestPush pushes the image to a registry under two tags. It is the same image each time it is made.
func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/helmdrift/helmdrift"
	folder := dist(t)
	digests := map[string]bool{}
	for _, tags := range []string{"v1.2.3,latest", "again"} {
		if err := run(t.Context(), options{dist: folder, version: "v1.2.3", push: repository, tags: tags}); err != nil {
			t.Fatal(err)
		}
		for tag := range strings.SplitSeq(tags, ",") {
			ref, err := name.NewTag(repository + ":" + tag)
			if err != nil {
				t.Fatal(err)
			}
			pushed, err := remote.Get(ref)
			if err != nil {
				t.Fatal(err)
			}
			digests[pushed.Digest.String()] = true
		}
	}
	if len(digests) != 1 {
		t.Errorf("three tags of the same image have the digests %v", digests)
	}
}

// TestRefused checks that half of what is needed is an error.
func TestRefused(t *testing.T) {
	for _, o := range []options{
		{}, {version: "v1"}, {version: "v1", push: "example.com/x"}, {version: "v1", layout: "x", push: "y", tags: "z"}, {version: "v1", layout: "x", dist: t.TempDir()},
	} {
		if err := run(t.Context(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
