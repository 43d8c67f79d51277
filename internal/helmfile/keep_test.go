package helmfile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/casetest"
	"github.com/helmdrift/helmdrift/internal/places/placestest"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestPlaces changes values of release web in helmfiles. A file of testdata/places has the files below tree/, what helmfile build prints in
// state and its path in file if it is not ROOT/helmfile.yaml, other contents that helmfile makes of values files in given/0, given/1 and so
// on, further arguments for Helm in args, the changes in edits, and in want the differences of the files, or why they cannot be made. Its
// comment may have a line "link FROM TO", which makes a symbolic link. ROOT stands for the folder of the tree.
func TestPlaces(t *testing.T) {
	casetest.Run(t, "testdata/places/*.txtar", runPlaces)
}

func runPlaces(t *testing.T, archive *txtar.Archive) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.Files {
		if name, inTree := strings.CutPrefix(f.Name, "tree/"); inTree {
			name = filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		parts[f.Name] = strings.ReplaceAll(string(f.Data), "ROOT", root)
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "link" {
			if err := os.Symlink(words[2], filepath.Join(root, words[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func() (*Loaded, *Step) {
		state, err := ReadState([]byte(parts["state"]), DefaultEnvironment)
		if err != nil {
			t.Fatal(err)
		}
		call := Call{Args: append([]string{"diff", "upgrade", "web", "./chart"}, strings.Fields(parts["args"])...), Dir: root, Files: map[string][]byte{}}
		if namespace := state.Releases[0].Namespace; namespace != "" {
			call.Args = append(call.Args, "--namespace", namespace)
		}
		n := 0
		for _, e := range state.Releases[0].Values {
			name := fmt.Sprint("given/", n)
			text, isGiven := parts[name]
			if !isGiven {
				files, _ := filepath.Glob(e.Path)
				if len(files) != 1 {
					continue // helmfile leaves it out
				}
				content, err := os.ReadFile(files[0])
				if err != nil {
					t.Fatal(err)
				}
				text = strings.ReplaceAll(string(content), "ref+echo://", "") // as vals does
			}
			call.Args = append(call.Args, "--values", name)
			call.Files[name] = []byte(text)
			n++
		}
		all := releases(state, []Call{call}, "")
		for _, r := range all {
			if r.arguments != nil {
				return &Loaded{file: cmp.Or(strings.TrimSpace(parts["file"]), filepath.Join(root, "helmfile.yaml")), state: state, Releases: all},
					&Step{release: r, Target: drift.Target{Chart: &drift.Chart{}}}
			}
		}
		t.Fatal("the state has no release web")
		return nil, nil
	}
	loaded, step := read()
	k, err := loaded.Keep(step)
	if err != nil {
		return strings.ReplaceAll(err.Error()+"\n", root, "ROOT")
	}
	again := func() (map[string]any, error) {
		_, step := read()
		a := step.release.arguments.values
		a.ReadFile = func(name string) ([]byte, error) { return step.release.call.Files[name], nil }
		return render.ValueOptions{Files: a.Files, Set: a.Set, SetString: a.SetString, SetFile: a.SetFile, ReadFile: a.ReadFile}.Merged(true)
	}
	return strings.ReplaceAll(placestest.Run(t, k, parts["edits"], again), root, "ROOT")
}
