package e2e

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	kube3 "helm.sh/helm/v3/pkg/kube"
	kube4 "helm.sh/helm/v4/pkg/kube"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// kubeconfigEnv names a cluster to use instead of the one that this package starts. binaryEnv names a helmdrift to use instead of the
// one that it builds, such as a released one.
const (
	kubeconfigEnv = "HELMDRIFT_TEST_KUBECONFIG"
	binaryEnv     = "HELMDRIFT_TEST_BINARY"
)

// suite is shared by all tests; TestMain sets it before the first test runs.
var suite struct {
	// binary is the helmdrift under test.
	binary string
	// dir is a temporary folder that exists as long as the tests run.
	dir     string
	cluster *cluster
	// stopQuiet stops the quiet plane, if a test has started it.
	stopQuiet func()
}

var storyDir = flag.String("stories", "testdata/stories", "folder of the stories")

// noCluster is for tests that need no API server, such as the test of the judge.
var noCluster = flag.Bool("no-cluster", false, "start no control plane and build no binary: for tests that need none")

var update = flag.Bool("update", false, "write what the stories report into their want files")

// parallel is how many stories run at once. They wait for the server most of the time, whatever the number of processors.
const parallel = "6"

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a fifth less processor time; helmdrift, which runs as a process, does not inherit it
	_ = flag.Set("test.parallel", parallel)
	flag.Parse()
	os.Exit(runAll(m))
}

// runAll is TestMain with deferred calls that are run.
func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "helmdrift-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	suite.dir = dir
	setLibraryGlobals()
	if *noCluster {
		suite.binary = os.Getenv(binaryEnv)
		return m.Run()
	}
	suite.stopQuiet = func() {}
	defer func() { suite.stopQuiet() }()
	stop, err := prepare(dir)
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return m.Run()
}

// prepare builds the binary while the control plane starts.
func prepare(dir string) (stop func(), err error) {
	built := make(chan error, 1)
	go func() {
		suite.binary, err = buildBinary(dir)
		built <- err
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	kubeconfig, stop, failed := os.Getenv(kubeconfigEnv), func() {}, error(nil)
	if kubeconfig == "" {
		var p *harness.Plane
		if p, failed = startPlane(ctx, allComponents...); failed == nil {
			kubeconfig, stop = p.Kubeconfig, p.Stop
		}
	}
	if err := <-built; err != nil {
		return stop, err
	}
	if failed != nil {
		return stop, failed
	}
	suite.cluster, failed = newCluster(kubeconfig)
	if failed == nil {
		failed = suite.cluster.installCRDs(ctx)
	}
	return stop, failed
}

// buildBinary builds helmdrift, with coverage counters if GOCOVERDIR is set.
func buildBinary(dir string) (string, error) {
	if ready := os.Getenv(binaryEnv); ready != "" {
		return filepath.Abs(ready)
	}
	path := filepath.Join(dir, "helmdrift")
	args := []string{"build", "-o", path}
	if os.Getenv("GOCOVERDIR") != "" {
		args = append(args, "-cover", "-coverpkg=./...")
	}
	build := exec.Command("go", append(args, "./cmd/helmdrift")...)
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build helmdrift: %w\n%s", err, out)
	}
	return path, nil
}

// setLibraryGlobals sets the global variables of the libraries as their command lines do, once and before anything runs in parallel.
func setLibraryGlobals() {
	log.SetOutput(io.Discard)
	logrus.SetOutput(io.Discard)
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	kube3.ManagedFieldsManager, kube4.ManagedFieldsManager = "helm", "helm"
	// Both add to client-go's scheme when they are first created.
	kube3.New(nil)
	kube4.New(nil)
}
