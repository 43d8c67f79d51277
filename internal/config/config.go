package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// File is the content of a configuration file.
type File struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	// Ignore lists rules. Managers lists names of field managers by group, in addition to the names that are built in.
	Ignore   []report.RuleText `json:"ignore,omitempty"`
	Managers owners.Managers   `json:"managers,omitempty"`
}

// longest is the greatest length of a configuration in bytes.
const longest = 1 << 20

// Read reads a configuration file. A word that is not in the schema is an error, because a misspelt word would ignore nothing, or too
// much. A rule that would ignore everything is an error too, since it would turn the program off for everybody who uses the file.
func Read(path string) (File, error) {
	var out File
	if path == os.DevNull { // which stands for no configuration
		return out, nil
	}
	text, err := files.Read(path, longest)
	if err != nil {
		return out, fmt.Errorf("configuration: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		return out, problemError(path, decodeProblem(err))
	}
	if out.APIVersion != "" && out.APIVersion != report.APIVersion || out.Kind != "" && out.Kind != "Config" {
		return out, problemError(path, fmt.Sprintf("apiVersion %q and kind %q are not supported; this version of helmdrift reads %s and Config",
			out.APIVersion, out.Kind, report.APIVersion))
	}
	for group := range out.Managers {
		if !slices.Contains(owners.ManagerGroups(), group) {
			return out, problemError(path, fmt.Sprintf("managers: %q is not one of person, controller, deployer", group))
		}
	}
	for i, rule := range out.Ignore {
		if ignore.TextSelectsEverything(rule) {
			return out, problemError(path, fmt.Sprintf("ignore[%d]: %v", i, ignore.ErrSelectsEverything))
		}
	}
	if err := checkManagers(out.Managers); err != nil {
		return out, problemError(path, err.Error())
	}
	return out, nil
}

// decodeProblem returns what is wrong with the text of a configuration. It names no Go types and no decoders.
func decodeProblem(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		where := ""
		if wrong.Field != "" {
			where = wrong.Field + ": "
		}
		found := map[string]string{"array": "a list", "object": "a mapping"}[wrong.Value]
		if found == "" {
			found = "a " + wrong.Value
		}
		return where + "must be " + yamlKind(wrong.Type) + ", not " + found
	}
	decoders := strings.NewReplacer("error unmarshaling JSON: ", "", "while decoding JSON: ", "", "error converting YAML to JSON: ", "",
		"json: ", "", "yaml: unmarshal errors:", "", "yaml: ", "")
	return strings.Join(strings.Fields(decoders.Replace(err.Error())), " ")
}

// yamlKind returns the YAML name for the values of a Go type. A configuration has lists, mappings and strings.
func yamlKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	}
	return "a " + t.Kind().String()
}

// problemError returns the error for a problem with a configuration.
func problemError(path, problem string) error {
	return hint.New(fmt.Errorf("configuration %s: %s", path, problem),
		"docs/ignore.md describes the file, and docs/config.schema.json lets an editor check it")
}

// FileName is the name of the configuration file. Find looks for it from the working directory upwards.
const FileName = ".helmdrift.yaml"

// Finder searches for a configuration file if --config does not name one.
type Finder struct {
	// Home is the home directory.
	Home string
	// Env returns an environment variable, or "" if it is not set.
	Env func(string) string
}

// Find searches a directory and those above it. The path is empty if there is no configuration. Symbolic links in the directory are
// resolved first, so that "above" means the directories that really contain it.
func (f Finder) Find(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
	for {
		path := filepath.Join(dir, FileName)
		switch info, err := os.Stat(path); {
		case err == nil:
			return path, f.check(path, info)
		case !errors.Is(err, fs.ErrNotExist):
			return "", hint.New(fmt.Errorf("looking for a configuration: %w", err),
				"--config FILE names one, --config "+os.DevNull+" uses none")
		}
		above := filepath.Dir(dir)
		if above == dir || f.endsAt(dir) {
			return "", nil
		}
		dir = above
	}
}

// endsAt reports whether the search ends at a directory: it is the root of a repository, or the home directory. In a worktree and in a
// submodule, .git is a file.
func (f Finder) endsAt(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	here, err := os.Stat(dir)
	if err != nil || f.Home == "" {
		return false
	}
	home, err := os.Stat(f.Home)
	return err == nil && os.SameFile(here, home)
}

// check returns an error for a file that somebody else may have written.
func (f Finder) check(path string, info fs.FileInfo) error {
	reason := "it is not a regular file"
	if info.Mode().IsRegular() {
		var err error
		if reason, err = reasonToDistrust(path, f.Env); err != nil {
			return fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	if reason == "" {
		return nil
	}
	return hint.New(fmt.Errorf("configuration %s is not used: %s", path, reason),
		"--config "+hint.ShellWord(path)+" uses it if you trust it, --config "+os.DevNull+" uses none")
}
