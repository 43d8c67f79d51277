package release

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// descriptor names a file of an image by its sum.
type descriptor struct {
	Digest   string
	Platform struct{ Architecture string }
}

// TestImage unpacks the image for this machine into a folder and runs helmdrift there as a container would: with nothing else on the disk,
// and as the user of the image. It can write to /tmp, and has what TLS needs.
func TestImage(t *testing.T) {
	layout := filepath.Join(distOf(t), "image")
	if os.Getuid() != 0 {
		t.Skip("changing the root folder needs root")
	}
	blob := func(digest string, into any) {
		must(t, json.Unmarshal([]byte(read(t, filepath.Join(layout, "blobs", strings.Replace(digest, ":", "/", 1)))), into))
	}
	var outer, index struct{ Manifests []descriptor }
	must(t, json.Unmarshal([]byte(read(t, filepath.Join(layout, "index.json"))), &outer))
	blob(outer.Manifests[0].Digest, &index)
	tested := 0
	for _, entry := range index.Manifests {
		if entry.Platform.Architecture != runtime.GOARCH {
			continue
		}
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		blob(entry.Digest, &manifest)
		var image struct {
			Config struct {
				User            string
				Env, Entrypoint []string
			}
		}
		blob(manifest.Config.Digest, &image)
		root := t.TempDir()
		for _, layer := range manifest.Layers {
			unpack(t, filepath.Join(layout, "blobs", strings.Replace(layer.Digest, ":", "/", 1)), root)
		}
		if image.Config.User != "65532:65532" {
			t.Errorf("the image runs as %q", image.Config.User)
		}
		run := func(args ...string) string {
			cmd := exec.Command(image.Config.Entrypoint[0], args...)
			cmd.Env, cmd.Dir = image.Config.Env, "/tmp"
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
			out, _ := cmd.CombinedOutput()
			return string(out)
		}
		if out := run("version"); !strings.HasPrefix(out, "helmdrift v") {
			t.Errorf("helmdrift version in the image: %s", out)
		}
		// A chart of another host needs a folder for downloads and, once it answers, the certificates.
		if out := run("diff", "web", "https://127.0.0.1:1/web-1.0.0.tgz", "--install"); strings.Contains(out, "permission denied") {
			t.Errorf("helmdrift diff in the image: %s", out)
		}
		tested++
	}
	if tested != 1 {
		t.Errorf("the image has %d variants for %s", tested, runtime.GOARCH)
	}
}

// unpack unpacks a layer.
func unpack(t *testing.T, layer, root string) {
	t.Helper()
	readTar(t, layer, func(header *tar.Header, content io.Reader) {
		name := filepath.Join(root, header.Name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		if header.Typeflag == tar.TypeDir {
			must(t, errors.Join(os.MkdirAll(name, 0o755), os.Chmod(name, header.FileInfo().Mode())))
			return
		}
		text, err := io.ReadAll(content)
		must(t, errors.Join(err, os.WriteFile(name, text, header.FileInfo().Mode())))
	})
}
