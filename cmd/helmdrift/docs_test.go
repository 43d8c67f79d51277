package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/config"
	"github.com/helmdrift/helmdrift/internal/ignore"
)

// page is a page of the repository in Markdown.
type page struct {
	// file is the path from the root of the repository.
	file, text string
}

// pages returns all pages of the repository.
func pages(t *testing.T) (all []page) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", "testdata", "node_modules"}, entry.Name()) {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all = append(all, page{filepath.ToSlash(name), string(text)})
		return err
	})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return all
}

var (
	// codeBlock is a fenced block of a page, with its language.
	codeBlock = regexp.MustCompile("(?ms)^```(\\w*)\\n(.*?)^```$")
	// inlineCode is code within a line.
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	// command is a call of helmdrift in a code block of a page: at the beginning of a line, after a prompt, or as a step of a job.
	command = regexp.MustCompile(`(?m)^[ \t]*(?:\$ |- |sh ')?helmdrift ([^\n|;>#]*)`)
)

// prose returns the text of a page without its fenced blocks.
func (p page) prose() string { return codeBlock.ReplaceAllString(p.text, "") }

// calls returns the arguments of the calls of helmdrift in the blocks of a page.
func (p page) calls() (calls []string) {
	for _, block := range codeBlock.FindAllStringSubmatch(p.text, -1) {
		for _, call := range command.FindAllStringSubmatch(strings.ReplaceAll(block[2], "\\\n", " "), -1) {
			if !strings.Contains(call[1], "…") && !strings.Contains(call[1], " puts back ") { // not a sketch nor output
				calls = append(calls, call[1])
			}
		}
	}
	return calls
}

// TestCommandsInDocs checks that every call of helmdrift in the pages has a command and flags that exist. TestDocs in test/e2e runs them.
func TestCommandsInDocs(t *testing.T) {
	calls := 0
	for _, p := range pages(t) {
		for _, call := range p.calls() {
			calls++
			args := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(call))
			cmd, rest, err := newRoot(cli.Streams{Env: emptyEnv}).Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil && !errors.Is(err, pflag.ErrHelp) {
				t.Errorf("%s: helmdrift %s: %v", p.file, call, err)
			}
		}
		for _, block := range codeBlock.FindAllStringSubmatch(p.text, -1) {
			if block[1] == "" && p.file != "docs/cli.md" && regexp.MustCompile(`^(\$ )?(helmdrift|helm|kubectl|make) `).MatchString(block[2]) {
				t.Errorf("%s: a block with commands has the language sh or console, so that a test runs it:\n%s", p.file, block[2])
			}
		}
	}
	if calls < 20 {
		t.Errorf("%d calls were found", calls)
	}
}

// parsedOnly are files that the YAML of the pages shows, and kinds that Kubernetes itself does not have. Another test checks them,
// or nobody can without the program that reads them.
func parsedOnly() []string {
	return []string{"values.yaml", "charts/cache/values.yaml", "file.yaml", "Chart.yaml", "helmfile.yaml", "plugin.yaml", "web-patches/plugin.yaml",
		".github/workflows/", ".gitlab-ci.yml", ".pre-commit-config.yaml",
		"tekton.dev/", "argoproj.io/", "helm.toolkit.fluxcd.io/", "source.toolkit.fluxcd.io/", "kustomize.config.k8s.io/",
		"audit.k8s.io/"}
}

// TestYAMLInDocs checks the YAML of the pages: configurations by their schema, objects of Kubernetes by their types. Other files have
// their name in the first line. The cases of verdict-rules.md have tests of their own, and so have the jobs of ci.md.
func TestYAMLInDocs(t *testing.T) {
	for _, p := range pages(t) {
		if p.file == "docs/verdict-rules.md" {
			continue
		}
		for _, block := range codeBlock.FindAllStringSubmatch(p.text, -1) {
			if block[1] != "yaml" {
				continue
			}
			for document := range strings.SplitSeq(block[2], "\n---\n") {
				if err := checkYAML(t, p.file, document); err != nil {
					t.Errorf("%s: %v\n%s", p.file, err, document)
				}
			}
		}
	}
}

// checkYAML checks a document of a page.
func checkYAML(t *testing.T, file, text string) error {
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	name, _ := document["apiVersion"].(string)
	for _, known := range parsedOnly() {
		if strings.HasPrefix(text, "# ") && strings.HasPrefix(first, known) || strings.HasPrefix(name, known) {
			return nil
		}
	}
	if document["releases"] != nil { // a helmfile
		return nil
	}
	if document["kind"] != nil {
		codec := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
		_, _, err := codec.Decode([]byte(text), nil, nil)
		return err
	}
	if document["metadata"] != nil && len(document) == 1 { // a part of any object
		return kubeyaml.UnmarshalStrict([]byte(text), &struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}{})
	}
	if document["ignore"] != nil || document["managers"] != nil {
		return checkConfig(t, text)
	}
	if strings.HasPrefix(file, "deploy/chart/") { // values of the chart
		return nil
	}
	return errors.New("nobody knows what this is: its first line names the file, such as # values.yaml")
}

// checkConfig returns an error if a configuration is not read without a warning, or is not valid by the schema.
func checkConfig(t *testing.T, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), config.FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	file, err := config.Read(path)
	if err != nil {
		return err
	}
	if _, warnings := ignore.ReadRules("x", file.Ignore, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); len(warnings) > 0 {
		return fmt.Errorf("%v", warnings)
	}
	compiled, err := jsonschema.NewCompiler().Compile("../../docs/config.schema.json")
	if err != nil {
		return err
	}
	raw, err := kubeyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}
