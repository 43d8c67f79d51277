package controlplane

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// modulePath is the path in this module's go.mod. FindModule recognises the module by it.
const modulePath = "github.com/helmdrift/helmdrift/test/controlplane"

// Module is the source of the binaries.
type Module struct {
	// Dir is the folder of this module's go.mod.
	Dir string
	// Version is the Kubernetes version that go.mod requires, such as v1.36.3.
	Version string
}

// FindModule looks for this module in dir and its parents, also as test/controlplane of the repository, so that the launcher works anywhere
// in a checkout.
func FindModule(dir string) (Module, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return Module{}, fmt.Errorf("find module: %w", err)
	}
	for at := start; ; at = filepath.Dir(at) {
		for _, candidate := range []string{at, filepath.Join(at, "test", "controlplane")} {
			text, err := os.ReadFile(filepath.Join(candidate, "go.mod"))
			if err == nil && strings.HasPrefix(string(text), "module "+modulePath+"\n") {
				return newModule(candidate, string(text))
			}
		}
		if at == filepath.Dir(at) {
			return Module{}, fmt.Errorf("no module %s in %s or above", modulePath, start)
		}
	}
}

// newModule reads the Kubernetes version from a go.mod.
func newModule(dir, gomod string) (Module, error) {
	match := regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\S+)`).FindStringSubmatch(gomod)
	if match == nil {
		return Module{}, errors.New("go.mod does not require k8s.io/kubernetes")
	}
	return Module{Dir: dir, Version: match[1]}, nil
}

// key returns the name of a cache entry. Equal keys mean equal binaries. The sources include what programs embed.
func (m Module) key() (string, error) {
	files, err := filepath.Glob(filepath.Join(m.Dir, "cmd", "*", "*.*"))
	if err != nil {
		return "", fmt.Errorf("list sources: %w", err)
	}
	// The launcher is not cached, so a change to it must not rebuild the servers.
	files = slices.DeleteFunc(files, func(file string) bool {
		return filepath.Base(filepath.Dir(file)) == "controlplane" || strings.HasSuffix(file, "_test.go")
	})
	files = append(files, filepath.Join(m.Dir, "go.mod"), filepath.Join(m.Dir, "go.sum"))
	slices.Sort(files)
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version())
	for _, file := range files {
		if err := hashFile(sum, m.Dir, file); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s-%s-%s-%s", m.Version, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(sum.Sum(nil))[:12]), nil
}

// hashFile adds a file's name, length and content to a hash.
func hashFile(sum io.Writer, dir, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("hash sources: %w", err)
	}
	name, err := filepath.Rel(dir, file)
	if err != nil {
		return fmt.Errorf("hash sources: %w", err)
	}
	fmt.Fprintf(sum, "%s %d\n", filepath.ToSlash(name), len(text))
	_, err = sum.Write(text)
	return err
}
