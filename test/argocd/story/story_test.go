// Package story runs Argo CD: its application-controller and its repo-server deploy applications on a control plane, and the scripts of
// testdata are what docs/gitops.md says of them. The binaries are separate, so that this package compiles in seconds.
package story

import (
	"encoding/json"
	"flag"
	"net"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

var (
	programs = flag.String("programs", "", "folders with argocd and its definitions, controlplane, helmdrift, helm 4 and kubectl, as in PATH")
	update   = flag.Bool("update", false, "write what the programs print into the scripts")
)

// TestArgoCD runs the scripts. Each has a control plane, Argo CD, and a Git repository of the folder charts, which REPO names. The command
// apply is kubectl apply of a file with variables.
func TestArgoCD(t *testing.T) {
	if *programs == "" {
		t.Skip("-programs names no folder: make argocd runs this test")
	}
	testscript.Run(t, testscript.Params{Dir: "testdata", UpdateScripts: *update, Setup: setup, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"apply": apply, "syncs": randomSyncs, "charts": publicCharts, "sets": applicationSets,
	}})
}

// apply is the command apply.
func apply(ts *testscript.TestScript, _ bool, args []string) {
	kubectl := exec.Command("kubectl", "apply", "-f", "-")
	kubectl.Env = []string{"PATH=" + ts.Getenv("PATH"), "KUBECONFIG=" + ts.Getenv("KUBECONFIG"), "HOME=" + ts.Getenv("HOME")}
	kubectl.Stdin = strings.NewReader(os.Expand(ts.ReadFile(args[0]), ts.Getenv))
	out, err := kubectl.CombinedOutput()
	ts.Logf("%s", out)
	ts.Check(err)
}

// setup starts everything for a script. Processes end with it.
func setup(env *testscript.Env) error {
	s := stage{env}
	path := *programs + string(os.PathListSeparator) + os.Getenv("PATH")
	if err := os.Setenv("PATH", path); err != nil { // for exec.Command
		return err
	}
	env.Setenv("PATH", path)
	env.Setenv("HOME", env.WorkDir)
	redis, err := miniredis.Run()
	if err != nil {
		return err
	}
	env.Defer(redis.Close)
	controller, err := os.ReadFile(filepath.Join(env.WorkDir, "controller.env")) // variables of the applicationset-controller
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for variable := range strings.Lines(string(controller)) {
		name, value, _ := strings.Cut(strings.TrimSpace(variable), "=")
		env.Setenv(name, value)
	}
	repoServer := freePort()
	steps := []func() error{
		s.startPlane,
		s.run("git", "init", "-q", "-b", "main", "charts"),
		s.run("git", "-C", "charts", "add", "."),
		s.run("git", "-C", "charts", "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", "charts"),
		s.serveGit,
		s.run("kubectl", "apply", "--server-side", "-f", s.definition("application"), "-f", s.definition("appproject"), "-f", s.definition("applicationset")),
		// kubectl wait fails on a definition that has no status yet.
		s.run("sh", "-c", `for i in 1 2 3 4 5; do kubectl wait --for=condition=Established "$@" && exit; sleep 1; done; exit 1`, "sh",
			"-f", s.definition("application"), "-f", s.definition("appproject"), "-f", s.definition("applicationset")),
		s.run("kubectl", "apply", "-f", "argocd.yaml"),
		s.start("argocd", "repo-server", "--address=127.0.0.1", "--port="+repoServer, "--disable-tls", "--client-ca-path=",
			"--redis="+redis.Addr(), "--metrics-address=127.0.0.1", "--metrics-port="+freePort()),
		s.start("argocd", "application-controller", "--namespace=argocd", "--redis="+redis.Addr(), "--app-resync=5",
			"--repo-server=127.0.0.1:"+repoServer, "--repo-server-plaintext", "--metrics-port="+freePort()),
		s.start("argocd", "applicationset-controller", "--namespace=argocd", "--applicationset-namespaces=*", "--enable-scm-providers=false",
			"--argocd-repo-server=127.0.0.1:"+repoServer, "--repo-server-plaintext", "--metrics-addr=127.0.0.1:"+freePort(),
			"--probe-addr=127.0.0.1:"+freePort(), "--webhook-addr=127.0.0.1:"+freePort()),
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// stage is where the programs of a script run.
type stage struct{ *testscript.Env }

// serveGit serves the repository over HTTP, as git itself does it.
func (s stage) serveGit() error {
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + s.WorkDir, "GIT_HTTP_EXPORT_ALL=1"},
	})
	s.Defer(server.Close)
	s.Setenv("REPO", server.URL+"/charts/.git")
	return nil
}

// startPlane starts a control plane, which ends with its standard input. Its servers are in the cache of the user.
func (s stage) startPlane() error {
	module, err := filepath.Abs("../../controlplane")
	if err != nil {
		return err
	}
	launcher := exec.Command("controlplane", "start", "--foreground", "--module", module, "--controllers", "--fake-nodes=1")
	launcher.Stderr = os.Stderr
	stdin, err := launcher.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := launcher.StdoutPipe()
	if err != nil {
		return err
	}
	if err := launcher.Start(); err != nil {
		return err
	}
	s.Defer(func() {
		_ = stdin.Close()
		_ = launcher.Wait()
	})
	var plane struct{ Kubeconfig string }
	if err := json.NewDecoder(stdout).Decode(&plane); err != nil {
		return err
	}
	s.Setenv("KUBECONFIG", plane.Kubeconfig)
	return nil
}

// definition returns the file of a definition of Argo CD, which is beside its program.
func (s stage) definition(name string) string {
	program, _ := exec.LookPath("argocd")
	return filepath.Join(filepath.Dir(program), name+"-crd.yaml")
}

// command returns a program that runs in the folder of the script. Argo CD takes the cluster of KUBECONFIG for the one that it runs in.
func (s stage) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.WorkDir
	cmd.Env = append(s.Vars, "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false",
		"ARGOCD_TLS_DATA_PATH="+s.WorkDir+"/tls", "ARGOCD_SSH_DATA_PATH="+s.WorkDir+"/ssh")
	return cmd
}

// run returns a step that waits for a program.
func (s stage) run(name string, args ...string) func() error {
	return func() error {
		out, err := s.command(name, args...).CombinedOutput()
		if err != nil {
			s.T().Log(string(out))
		}
		return err
	}
}

// start returns a step that starts a program. A shell ends it when its standard input does, so that it does not outlive a test that is
// killed. What it says is in the folder of the script, which -testwork keeps.
func (s stage) start(name string, args ...string) func() error {
	return func() error {
		const untilStdinEnds = `"$@" & cat > /dev/null; kill $!; wait`
		cmd := s.command("sh", append([]string{"-c", untilStdinEnds, "sh", name}, args...)...)
		log, err := os.Create(filepath.Join(s.WorkDir, filepath.Base(name)+"-"+args[0]+".log"))
		if err != nil {
			return err
		}
		cmd.Stdout, cmd.Stderr = log, log
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		s.Defer(func() {
			_ = stdin.Close()
			_ = cmd.Wait()
			_ = log.Close()
		})
		return cmd.Start()
	}
}

// freePort returns a port of loopback that is free now.
func freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}
