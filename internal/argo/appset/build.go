package appset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// The limits of a tree.
const (
	maxEntries      = 500_000  // files and folders
	maxDepth        = 100      // folders inside folders
	maxFile         = 16 << 20 // bytes of a file that is read
	maxBytes        = 1 << 30  // bytes of all files that are read
	maxApplications = 10_000
	maxNested       = 2 // generators around one that takes no others (argo-cd v3.6.1 ApplicationSetTerminalGenerator)
)

// Order says what to search. Its fields are exported because a child process carries it out.
type Order struct {
	// Tree is the working tree, and Dir is the folder to search, or "" if only Documents are.
	Tree worktree.Tree
	Dir  string
	// Documents are what an Application of the tree makes.
	Documents []Document
	// Changed are other contents of some files, by their names relative to the root of the tree.
	Changed map[string][]byte
}

// Document is a document that an Application makes. File is the file that it comes from, relative to the root of the tree, or "".
type Document struct {
	JSON     []byte
	File, By string
}

// Made is an Application that the tree makes.
type Made struct {
	JSON []byte
	// File is the file that it comes from, relative to the root of the tree, and By is the object that makes it. Each may be empty.
	File, By string
	// IsKustomized is set if a kustomization is in the folder of the file, which may make another Application of it.
	IsKustomized bool
	// Set is the name of the ApplicationSet that makes it, or empty. Its controller replaces the whole spec and what Preserved does not name
	// of the metadata. Policy is its applicationsSync, or empty.
	Set, Policy string
	Preserved   api.Preserved
}

// Answer is what the tree makes. Problems say what could not be found out.
type Answer struct {
	Made     []Made
	Sets     []Set
	Problems []string
}

// Set is an ApplicationSet of the tree.
type Set struct {
	// Namespace is empty if the tree does not say it.
	Namespace, Name string
	// Makes are the names of the Applications that it generates, also of those that are refused.
	Makes []string
	// IsPartial is set if it makes or may make others too: a part of it fails, or asks for what is not in the tree.
	IsPartial bool
	// Policy is its applicationsSync, or empty.
	Policy string
	// Doubts are those of the problems that put all of its Applications in doubt.
	Doubts []string
	// Depends are the options of Argo CD that change which Applications it makes, or how Argo CD syncs them.
	Depends []api.SetOption
}

// Title names the set in messages.
func (s Set) Title() string {
	return strings.TrimSuffix("ApplicationSet "+strings.TrimPrefix(s.Namespace+"/"+s.Name, "/"), "/")
}

// builder carries out an order.
type builder struct {
	tree    worktree.Tree
	root    *os.Root
	changed map[string][]byte
	answer  Answer
	bytes   int64
	// isFull is set once there are too many Applications.
	isFull bool
	// files are all files of the tree in their order, once a generator needs them, and unlisted says why they cannot be listed.
	files    []string
	unlisted error
	isListed bool
}

// Build searches a tree. An error means that nothing could be searched.
func Build(order Order) (Answer, error) {
	root, err := os.OpenRoot(order.Tree.Root)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = root.Close() }() // only read
	b := &builder{tree: order.Tree, root: root, changed: order.Changed}
	if order.Dir != "" {
		if err := b.search(order.Dir); err != nil {
			return Answer{}, err
		}
	}
	for _, d := range order.Documents {
		var content map[string]any
		if err := json.Unmarshal(d.JSON, &content); err != nil {
			b.problem(cmp.Or(d.By, d.File), err)
			continue
		}
		b.add(content, d.File, d.By)
	}
	return b.answer, nil
}

// problem adds what could not be found out about something.
func (b *builder) problem(where string, err error) {
	b.answer.Problems = append(b.answer.Problems, where+": "+err.Error())
}

// search adds what is in the files below a folder.
func (b *builder) search(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(b.tree.Root, dir)
	if err != nil || !filepath.IsLocal(inside) {
		return fmt.Errorf("%s is outside of the tree %s", dir, b.tree.Root)
	}
	return b.walk(filepath.ToSlash(inside), true, b.readFile)
}

// readFile adds the documents of a file. Other YAML than objects of Argo CD need not be readable.
func (b *builder) readFile(name string) {
	text, err := b.read(name)
	if err != nil {
		b.problem(name, err)
		return
	}
	if !mayHaveObject(text) {
		return
	}
	found := render.Parse(string(text), render.ParseOptions{})
	for _, e := range found.Errors {
		if strings.Contains(string(text), api.Group) {
			b.problem(name, fmt.Errorf("an object of Argo CD may be in it, and it cannot be read: %s", e.Message))
			break
		}
	}
	isKustomized := b.isKustomized(filepath.ToSlash(filepath.Dir(name)))
	for _, o := range found.Objects {
		before := len(b.answer.Made)
		if b.add(o.Content, name, "") && isKustomized && o.Kind == "ApplicationSet" {
			b.problem(name, errors.New("a kustomization is in its folder, which may change ApplicationSet "+o.Name))
		}
		for i := range b.answer.Made[before:] {
			b.answer.Made[before+i].IsKustomized = isKustomized && o.Kind == "Application"
		}
	}
}

// mayHaveObject reports whether a text may name the API group of Argo CD, perhaps with escaped letters.
func mayHaveObject(text []byte) bool {
	s := string(text)
	return strings.Contains(s, "argoproj") || strings.Contains(s, `\u`) || strings.Contains(s, `\x`) || strings.Contains(s, `\U`)
}

// isKustomized reports whether a folder has a kustomization.
func (b *builder) isKustomized(folder string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool { return b.has(folder, name) })
}

// add adds an object if it is an Application, or what it generates if it is an ApplicationSet. Any other is none of Argo CD.
func (b *builder) add(content map[string]any, file, by string) (isOwn bool) {
	version, _ := content["apiVersion"].(string)
	group, _, _ := strings.Cut(version, "/")
	if group != api.Group {
		return false
	}
	switch content["kind"] {
	case "Application":
		b.addMade(content, Made{File: file, By: by})
	case "ApplicationSet":
		b.generate(content, file)
	default:
		return false
	}
	return true
}

// addMade adds an Application within the limits.
func (b *builder) addMade(content map[string]any, m Made) {
	if len(b.answer.Made) >= maxApplications {
		if !b.isFull {
			b.isFull = true
			b.problem("the tree", fmt.Errorf("it makes more than %d Applications; name a smaller folder", maxApplications))
		}
		return
	}
	text, err := json.Marshal(content)
	if err != nil {
		b.problem(cmp.Or(m.By, m.File), err)
		return
	}
	m.JSON = text
	b.answer.Made = append(b.answer.Made, m)
}
