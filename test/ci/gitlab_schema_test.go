package ci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// GitLab publishes the JSON Schema of .gitlab-ci.yml only in its own repository. The npm package gitlab-ci-local (MIT) has a copy, with
// four more keywords that begin with gcl. The test downloads the pinned version with npm and runs nothing of it. Nothing of it is in this
// repository.
const (
	schemaPackage = "gitlab-ci-local@4.64.1"
	schemaSum     = "6443d9d17c93580b51616ddd93ecaaa8edafcce0deee96e404c583a2694794b8" // SHA-256 of the archive
	schemaFile    = "package/src/schema/schema.js"
)

// TestGitLabSchema checks the jobs against the schema of GitLab, and that the schema refuses what is wrong.
func TestGitLabSchema(t *testing.T) {
	schema := gitlabSchema(t)
	for _, job := range jobs(t, "GitLab", "yaml") {
		if err := validate(schema, job.text); err != nil {
			t.Errorf("%v\n%s", err, job.text)
		}
	}
	for _, broken := range []string{
		"a: {scripts: [x]}", "a: {script: x, rules: [{if: 1}]}", "a: {script: x, artifacts: {when: never}}",
		"a: {script: x, parallel: 0}", "a: {script: x, artifacts: {reports: {codequalities: x}}}",
	} {
		if validate(schema, broken) == nil {
			t.Errorf("the schema takes %s", broken)
		}
	}
}

// validate checks a .gitlab-ci.yml.
func validate(schema *jsonschema.Schema, text string) error {
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}

// gitlabSchema returns the schema. The test is skipped if the package cannot be downloaded.
func gitlabSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	archive, err := downloaded(t)
	if err != nil {
		t.Skipf("SKIPPED: %s cannot be downloaded: %v", schemaPackage, err)
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != schemaSum {
		t.Fatalf("%s has the SHA-256 %x", schemaPackage, sum)
	}
	script, err := fileOf(archive, schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	// The literal of the script is YAML in flow style, too: all keys are quoted, and a comma may follow the last one.
	_, literal, _ := strings.Cut(string(script), "export const schema = ")
	literal, _, found := strings.Cut(literal, "\n};")
	encoded, err := yaml.YAMLToJSON([]byte(literal + "\n}"))
	if err != nil || !found {
		t.Fatalf("%s has no schema: %v", schemaFile, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("gitlab-ci.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("gitlab-ci.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// downloaded returns the archive of the package.
func downloaded(t *testing.T) ([]byte, error) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, npm, "pack", schemaPackage, "--ignore-scripts", "--silent", "--pack-destination", dir,
		"--cache", filepath.Join(dir, "cache"), "--fetch-retries=1", "--fetch-timeout=20000")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return os.ReadFile(filepath.Join(dir, strings.ReplaceAll(schemaPackage, "@", "-")+".tgz"))
}

// fileOf returns a file of an archive.
func fileOf(archive []byte, name string) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(zr); ; {
		head, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("there is no %s", name)
		case err != nil:
			return nil, err
		case head.Name == name:
			return io.ReadAll(files)
		}
	}
}
