package tree

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

var update = flag.Bool("update", false, "rewrite the expectations; read the difference")

// story is order.yaml: what the user says, and what the cluster has. An object of the cluster with the field denied cannot be read.
type story struct {
	Dir     string
	Remotes []string
	Sources []LocalSource
	Stream  string
	Live    []map[string]any
	// Decrypts is set if texts are decrypted, and Bases are the folders of remote bases.
	Decrypts bool
	Bases    map[string]string
}

// want is want.yaml.
type want struct {
	Error    string       `json:"error,omitempty"`
	Problems []string     `json:"problems,omitempty"`
	Asked    []string     `json:"asked,omitempty"`
	Secrets  []string     `json:"secrets,omitempty"`
	Objects  []wantObject `json:"objects,omitempty"`
}

type wantObject struct {
	File   string         `json:"file"`
	Maker  string         `json:"maker"`
	Object map[string]any `json:"object"`
}

// lookup is the cluster of a story.
func (s story) lookup(_ context.Context, kind, namespace, name string) (map[string]any, error) {
	for _, value := range s.Live {
		if key := keyOf(value); key.kind == kind && key.namespace == namespace && key.name == name {
			if value["denied"] == true {
				return nil, errors.New("the account may not read it")
			}
			return value, nil
		}
	}
	return nil, nil
}

// line returns a problem as one line.
func line(p Problem) string {
	out := string(p.Severity) + " | " + p.Where + " | " + p.Message
	if p.Advice != "" {
		out += " | " + p.Advice
	}
	return out
}

// carryOut builds a tree for a story.
func carryOut(s story, root string) want {
	order := Order{Dir: filepath.Join(root, filepath.FromSlash(s.Dir)), Root: root, Remotes: s.Remotes, Sources: s.Sources,
		Rendered: s.Stream != "", Text: []byte(s.Stream)}
	for i := range order.Sources {
		order.Sources[i].Dir = filepath.Join(root, order.Sources[i].Dir)
	}
	from := Outside{Lookup: s.lookup}
	if s.Decrypts {
		from.Decrypt = decryptForTest
	}
	if s.Bases != nil {
		from.Fetch = func(_ context.Context, b kustomize.Base) (string, error) {
			if folder := s.Bases[b.String()]; folder != "" {
				return filepath.Join(root, "..", folder), nil
			}
			return "", errors.New("there is no such repository")
		}
	}
	answer, err := Build(context.Background(), order, from)
	var out want
	if err != nil {
		out.Error = strings.ReplaceAll(err.Error(), root, "ROOT")
	}
	for _, p := range answer.Problems {
		out.Problems = append(out.Problems, strings.ReplaceAll(line(p), root, "ROOT"))
	}
	for _, a := range answer.Asked {
		out.Asked = append(out.Asked, title(a.Kind, a.Namespace, a.Name)+map[bool]string{false: ": not found"}[a.Found])
	}
	out.Secrets = answer.Secrets
	for _, o := range answer.Objects {
		out.Objects = append(out.Objects, wantObject{o.File, o.Maker.String(), o.Map()})
	}
	return out
}

// TestStories builds each tree below testdata.
func TestStories(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%d stories, %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var s story
			text, err := os.ReadFile(filepath.Join(folder, "order.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.UnmarshalStrict(text, &s); err != nil {
				t.Fatal(err)
			}
			root, err := filepath.Abs(filepath.Join(folder, "tree"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.Marshal(carryOut(s, root))
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(folder, "want.yaml")
			if *update {
				if err := os.WriteFile(name, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			expected, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(expected), string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFolder asks for the folder of a GitRepository with the address of the tree. A tag or a commit of it is not the tree.
func TestFolder(t *testing.T) {
	o := Order{Root: "root", Remotes: []string{"git@git.example.com:org/fleet.git"},
		Sources: []LocalSource{{"GitRepository", "flux-system", "mapped", "dir"}}}
	for _, tt := range []struct {
		name string
		at   GitRef
		want string
	}{
		{"git", GitRef{}, "root"},
		{"git", GitRef{Branch: "next"}, "root"},
		{"git", GitRef{Name: "refs/heads/next", Tag: "v1"}, "root"},
		{"git", GitRef{Branch: "main", Commit: "0123456789abcdef"}, ""},
		{"git", GitRef{Tag: "v1"}, ""},
		{"git", GitRef{SemVer: "1.x"}, ""},
		{"git", GitRef{Name: "refs/pull/1/head"}, ""},
		{"mapped", GitRef{Tag: "v1"}, "dir"},
	} {
		if got := o.Folder("GitRepository", "flux-system", tt.name, "https://git.example.com/org/fleet", tt.at); got != tt.want {
			t.Errorf("%s at %+v: %q, want %q", tt.name, tt.at, got, tt.want)
		}
	}
}

// TestPipe sends an order and an answer through the encoding that the pipes of a child process have.
func TestPipe(t *testing.T) {
	order := Order{Dir: "a", Root: "b", Remotes: []string{"c"}, Sources: []LocalSource{{"d", "e", "f", "g"}}, Rendered: true, Text: []byte("h"),
		Decrypts: true, FetchesBases: true, Changed: map[string][]byte{"r": []byte("s")}}
	answer := Answer{Objects: []Object{{[]byte(`{"a":9007199254740993}`), "i", "dir", Maker{"j", "k"}}}, Problems: []Problem{{Failed, "l", "m", "n"}},
		Asked: []Asked{{"o", "p", "q", true}}, Secrets: []string{"r"}, Roots: []Maker{{"t", "u"}},
		Left: []Maker{{"v", "w"}}}
	var pipe bytes.Buffer
	if err := errors.Join(gob.NewEncoder(&pipe).Encode(order), gob.NewEncoder(&pipe).Encode(answer)); err != nil {
		t.Fatal(err)
	}
	var gotOrder Order
	var gotAnswer Answer
	text := bytes.NewReader(pipe.Bytes())
	if err := errors.Join(gob.NewDecoder(text).Decode(&gotOrder), gob.NewDecoder(text).Decode(&gotAnswer)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(order, gotOrder) + cmp.Diff(answer, gotAnswer); d != "" {
		t.Error(d)
	}
	if got := gotAnswer.Objects[0].Map()["a"]; got != int64(9007199254740993) {
		t.Errorf("a large number became %v", got)
	}
}
