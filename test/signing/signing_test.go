package signing

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tag is the tag of the release that the test makes.
const tag = "v1.2.3"

// TestSignedRelease makes a release of a small program with .goreleaser.yaml, pushes and signs its image, and verifies both, with the
// commands of the workflow and of docs/dev/release.md. It also checks that another identity and a changed file are refused.
func TestSignedRelease(t *testing.T) {
	if runtime.GOOS+runtime.GOARCH != "linuxamd64" {
		t.Skip("the job verify runs the program for linux/amd64")
	}
	tools := t.TempDir()
	cosign, rekor := buildTool(t, tools, "cosign/v3/cmd/cosign"), buildTool(t, tools, "rekor-tiles/v2/cmd/rekor-server/posix")
	gh := "#!/bin/sh\ncase \"$1 $2\" in 'release download') cp \"$RELEASE\"/* . ;; 'attestation verify') ;; *) exit 2 ;; esac\n"
	must(t, os.WriteFile(filepath.Join(tools, "gh"), []byte(gh), 0o755))
	issuer, identity := startIssuer(t, tag)
	user := append(startSigstore(t, cosign, rekor, issuer), "PATH="+tools+":"+os.Getenv("PATH"), "TAG="+tag, "HOME="+t.TempDir())
	registry := startRegistry(t)
	local := strings.NewReplacer("ghcr.io", registry, "https://token.actions.githubusercontent.com", issuer, "TAG=v0.1.0", "TAG="+tag)

	source := t.TempDir()
	workflow := slices.Concat(user, identity, []string{
		"DOCKER_CONFIG=" + t.TempDir(), "REGISTRY_USER=" + registryUser, "REGISTRY_PASSWORD=" + registryPassword,
		"GITHUB_OUTPUT=" + filepath.Join(t.TempDir(), "output"), "GITHUB_TOKEN=unused", "GITHUB_ACTIONS=true",
		"GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "GOCACHE=" + goEnv(t, "GOCACHE"),
	})
	writeRelease(t, source, workflow)
	release := uploads(t, source)
	script(t, source, workflow, local.Replace(step(t, "release", "cosign sign ")))
	if out := read(t, value(workflow, "GITHUB_OUTPUT")); !regexp.MustCompile(`^digest=sha256:[0-9a-f]{64}\n$`).MatchString(out) {
		t.Errorf("the step hands on %q", out)
	}

	reader := append(slices.Clone(user), "RELEASE="+release, "DOCKER_CONFIG="+t.TempDir())
	verify := local.Replace(step(t, "verify", "cosign verify-blob"))
	script(t, t.TempDir(), reader, verify)
	_, block, _ := strings.Cut(read(t, "../../docs/dev/release.md"), "## Verify")
	_, block, _ = strings.Cut(block, "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	script(t, t.TempDir(), reader, "set -e\n"+local.Replace(block))

	before := func(text string) string {
		return strings.Replace(verify, "cosign verify-blob", text+"\ncosign verify-blob", 1)
	}
	image := `cosign verify "` + registry + `/helmdrift/helmdrift:$TAG" --certificate-oidc-issuer ` + issuer + " --certificate-identity nobody"
	for name, c := range map[string]struct{ script, want string }{
		"tag":       {strings.ReplaceAll(verify, "refs/tags/$TAG", "refs/tags/v9.9.9"), "expected SAN value"},
		"workflow":  {strings.ReplaceAll(verify, "release.yaml", "ci.yaml"), "expected SAN value"},
		"issuer":    {strings.ReplaceAll(verify, issuer, "https://issuer.invalid"), "expected issuer value"},
		"checksums": {before("echo >> checksums.txt"), "invalid signature"},
		"archive":   {before("echo >> helmdrift_1.2.3_linux_amd64.tar.gz"), "helmdrift_1.2.3_linux_amd64.tar.gz: FAILED"},
		"image":     {image, "expected SAN value"},
	} {
		cmd := exec.Command("bash", "-e", "-c", c.script)
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), reader...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("another %s: %v, want %q\n%s", name, err, c.want, out)
		}
	}
}

// writeRelease makes a repository of a small program with a tag, and releases it with what .goreleaser.yaml says about binaries, archives,
// checksums and signatures.
func writeRelease(t *testing.T, dir string, env []string) {
	t.Helper()
	var all map[string]any
	must(t, yaml.Unmarshal([]byte(read(t, "../../.goreleaser.yaml")), &all))
	maps.DeleteFunc(all, func(key string, _ any) bool {
		return !slices.Contains([]string{"version", "project_name", "metadata", "builds", "archives", "checksum", "signs"}, key)
	})
	build := all["builds"].([]any)[0].(map[string]any)
	build["main"], build["goos"] = ".", []string{"linux"}
	for _, archive := range all["archives"].([]any) {
		archive.(map[string]any)["files"] = []string{"LICENSE"}
	}
	config, err := yaml.Marshal(all)
	must(t, err)
	for name, text := range map[string]string{
		".goreleaser.yaml": string(config), ".gitignore": "dist\nbin\n", "LICENSE": "licence\n", "NOTICE": "notice\n",
		"go.mod":  "module example.com/helmdrift\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"fmt\"\n\nvar version string\n\nfunc main() { fmt.Printf(\"helmdrift %s (test)\\n\", version) }\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	bin, err := filepath.Abs("../../bin")
	must(t, err)
	must(t, os.Symlink(bin, filepath.Join(dir, "bin")))
	script(t, dir, env, `git init -q -b main && git add .
git -c user.name=test -c user.email=test@invalid commit -q -m test
git tag `+tag+`
git remote add origin https://github.com/helmdrift/helmdrift
bin/goreleaser release --clean --skip=publish,announce`)
}

// uploads copies the files that goreleaser would upload to a folder. One of them is the bundle, with the name that it is verified by.
func uploads(t *testing.T, source string) string {
	t.Helper()
	var all []struct{ Name, Path, Type string }
	must(t, json.Unmarshal([]byte(read(t, filepath.Join(source, "dist", "artifacts.json"))), &all))
	dir, kinds := t.TempDir(), map[string]string{}
	for _, a := range all {
		if slices.Contains([]string{"Archive", "Checksum", "Signature"}, a.Type) {
			kinds[a.Name] = a.Type
			must(t, os.WriteFile(filepath.Join(dir, a.Name), []byte(read(t, filepath.Join(source, a.Path))), 0o644))
		}
	}
	if kinds["checksums.txt.sigstore.json"] != "Signature" {
		t.Errorf("goreleaser does not upload the bundle: %v", kinds)
	}
	return dir
}

// step returns the script of the step of a job in release.yaml that has this command.
func step(t *testing.T, job, command string) string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	must(t, yaml.Unmarshal([]byte(read(t, "../../.github/workflows/release.yaml")), &workflow))
	for _, step := range workflow.Jobs[job].Steps {
		if strings.Contains(step.Run, command) {
			return step.Run
		}
	}
	t.Fatalf("no step of the job %s calls %s", job, command)
	return ""
}

// script runs a script as a step of a workflow. It must succeed.
func script(t *testing.T, dir string, env []string, text string) {
	t.Helper()
	t.Log(run(t, dir, env, "bash", "-e", "-c", text))
}

// value returns the value of a variable in env.
func value(env []string, name string) (out string) {
	for _, variable := range env {
		if text, found := strings.CutPrefix(variable, name+"="); found {
			out = text
		}
	}
	return out
}

// buildTool builds a program of this module's tools and returns its name.
func buildTool(t *testing.T, dir, path string) string {
	t.Helper()
	program := filepath.Join(dir, filepath.Base(path))
	run(t, ".", nil, "go", "build", "-ldflags=-s -w", "-o", program, "github.com/sigstore/"+path)
	return program
}

// goEnv returns a setting of go.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(run(t, ".", nil, "go", "env", name))
}

// run runs a program and returns its output. It must succeed.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
