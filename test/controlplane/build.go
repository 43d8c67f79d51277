package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// These are the programs of a plane. Each has its main under cmd.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	fakeNode          = "fakenode"
	genDefaults       = "gendefaults"
)

// Programs returns the programs that Build compiles.
func Programs() []string {
	return []string{etcd, apiServer, controllerManager, scheduler, fakeNode, genDefaults}
}

// Builder compiles the programs into a cache, or finds them in a folder of compiled ones.
type Builder struct {
	Module Module
	// Cache is the folder of all cache entries. It defaults to the user's cache.
	Cache string
	// Assets is a folder with compiled servers, as setup-envtest leaves them. Programs that it lacks are built.
	Assets string
	// Log receives the compiler's output and one line before a build starts.
	Log io.Writer
}

// Build returns the path of each named program, and compiles the missing ones. Any number of processes may call it at the same time: one
// builds, and the others wait.
func (b Builder) Build(ctx context.Context, names ...string) (map[string]string, error) {
	entry, err := b.entry()
	if err != nil {
		return nil, err
	}
	paths, missing := b.look(entry, names)
	if len(missing) == 0 {
		return paths, nil
	}
	if err := os.MkdirAll(entry, 0o755); err != nil {
		return nil, fmt.Errorf("create cache: %w", err)
	}
	unlock, err := lockFile(entry + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Another process may have built them while this one waited.
	if paths, missing = b.look(entry, names); len(missing) == 0 {
		return paths, nil
	}
	if err := b.compile(ctx, entry, missing); err != nil {
		return nil, err
	}
	paths, _ = b.look(entry, names)
	return paths, nil
}

// entry returns the folder of the cache for this version of the module.
func (b Builder) entry() (string, error) {
	cache := b.Cache
	if cache == "" {
		user, err := UserCache()
		if err != nil {
			return "", err
		}
		cache = user
	}
	key, err := b.Module.key()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, key), nil
}

// UserCache returns the default folder of binaries and of the detached plane.
func UserCache() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache: %w", err)
	}
	return filepath.Join(user, "helmdrift", "controlplane"), nil
}

// look returns where each program is or will be, and which do not exist yet.
func (b Builder) look(entry string, names []string) (paths map[string]string, missing []string) {
	paths = map[string]string{}
	for _, name := range names {
		if b.Assets != "" && exists(filepath.Join(b.Assets, name)) {
			paths[name] = filepath.Join(b.Assets, name)
			continue
		}
		paths[name] = filepath.Join(entry, name)
		if !exists(paths[name]) {
			missing = append(missing, name)
		}
	}
	return paths, missing
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compile builds into a scratch folder first, so that a program appears in the cache by a rename, complete or not at all.
func (b Builder) compile(ctx context.Context, entry string, names []string) error {
	scratch, err := os.MkdirTemp(entry, ".build-")
	if err != nil {
		return fmt.Errorf("create cache: %w", err)
	}
	defer os.RemoveAll(scratch)
	fmt.Fprintf(b.Log, "building %s (Kubernetes %s) into %s; the first time takes minutes\n",
		strings.Join(names, ", "), b.Module.Version, entry)
	args := []string{"build", "-trimpath", "-ldflags", b.Module.ldflags(), "-o", scratch + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./cmd/"+name)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = b.Module.Dir
	// Without cgo no C compiler is needed. GOFLAGS and GOWORK of the caller must have no effect.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	build.Stdout, build.Stderr = b.Log, b.Log
	if err := build.Run(); err != nil {
		return fmt.Errorf("build %s: %w", strings.Join(names, ", "), err)
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(scratch, name), filepath.Join(entry, name)); err != nil {
			return fmt.Errorf("fill cache: %w", err)
		}
	}
	return nil
}

// ldflags sets the version. Without it a server reports v0.0.0-master, which charts with a kubeVersion constraint refuse.
func (m Module) ldflags() string {
	const stamp = "k8s.io/component-base/version"
	parts := strings.SplitN(strings.TrimPrefix(m.Version, "v"), ".", 3)
	flags := []string{"-s", "-w", "-X", stamp + ".gitVersion=" + m.Version}
	if len(parts) == 3 {
		flags = append(flags, "-X", stamp+".gitMajor="+parts[0], "-X", stamp+".gitMinor="+parts[1])
	}
	return strings.Join(flags, " ")
}
