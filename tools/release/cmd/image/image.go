package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// This file makes the layers and the configuration of the image.

// user is the user and the group that the container runs as. deploy/ uses the same.
const user = "65532:65532"

// index returns the images of all architectures.
func index(r release, version string, licences []file) (v1.ImageIndex, error) {
	labels := map[string]string{
		"org.opencontainers.image.title":         "helmdrift",
		"org.opencontainers.image.description":   "Shows what drifted in a Helm release, and puts it back",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.source":        "https://github.com/helmdrift/helmdrift",
		"org.opencontainers.image.documentation": "https://github.com/helmdrift/helmdrift/tree/main/docs",
		"org.opencontainers.image.version":       version,
		"org.opencontainers.image.revision":      r.commit,
	}
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range slices.Sorted(maps.Keys(r.binaries)) {
		one, err := image(r.binaries[arch], arch, r.time, labels, licences)
		if err != nil {
			return nil, err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{
			Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	return mutate.Annotations(all, labels).(v1.ImageIndex), nil
}

// image returns the image of one architecture.
func image(binary, arch string, made time.Time, labels map[string]string, licences []file) (v1.Image, error) {
	one := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	// What changes least comes first: registries and nodes have that layer already.
	for _, files := range [][]file{
		{{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities()}, {"tmp/", 0o1777, nil}},
		append([]file{{"usr/bin/helmdrift", 0o755, program}}, licences...),
	} {
		text, err := archive(files)
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
			tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if one, err = mutate.AppendLayers(one, layer); err != nil {
			return nil, err
		}
	}
	config, err := one.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: made.UTC()}
	config.Config = v1.Config{
		User:       user,
		Entrypoint: []string{"/usr/bin/helmdrift"},
		Env:        []string{"PATH=/usr/bin", "HOME=/tmp", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		WorkingDir: "/tmp",
		Labels:     labels,
	}
	return mutate.ConfigFile(one, config)
}

// file is a file of a layer, or a folder if its path ends with a slash.
type file struct {
	path string
	mode int64
	text []byte
}

// archive returns the files as a layer. They belong to root and are from 1970.
func archive(files []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		header := tar.Header{Name: f.path, Mode: f.mode, Size: int64(len(f.text)), ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg}
		if f.text == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// authorities returns the certificates of Mozilla's list, from the module that Go publishes it in. Those that are trusted only for
// certificates from before a date are left out, because a file of certificates cannot say so.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}
