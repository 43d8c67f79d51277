package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Artifact is what source-controller would keep of a folder: no symbolic links, and no files that its rules leave out.
type Artifact struct {
	root *os.Root
	dir  string // absolute
	// folders are the files and folders in each folder, by slash-separated paths, "." for the root. The value says whether it is a folder.
	folders map[string]map[string]bool
	// absent says why something is in the folder and not in the artifact.
	absent map[string]string
	rules  []pattern
	// ofFiles are the rules of the files .sourceignore.
	ofFiles []pattern
	bytes   int // read so far
	// changed has the files with another content than on the disk.
	changed map[string][]byte
}

// OpenArtifact reads the names in a folder. Ignore is spec.ignore of the source. The caller closes the artifact.
func OpenArtifact(dir, ignore string) (*Artifact, error) {
	a, err := openFolder(dir)
	if err == nil {
		a.rules = rules(a.ofFiles, parsePatterns(ignore, nil))
		a.dropIgnored()
	}
	return a, err
}

// openFolder reads the names in a folder, as they are.
func openFolder(dir string) (*Artifact, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // the user may name a link; the tree has none
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	a := &Artifact{root: root, dir: dir, folders: map[string]map[string]bool{}, absent: map[string]string{}}
	if err := a.list(&a.ofFiles); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return a, nil
}

// Close closes the folder.
func (a *Artifact) Close() error { return a.root.Close() }

// Has reports whether the artifact has a file or a folder. The path is relative to the root and has slashes.
func (a *Artifact) Has(name string) bool {
	isFile, isFolder := a.kind(path.Clean(name))
	return isFile || isFolder
}

// list reads the names of all files and folders, and the rules of each .sourceignore in the order of the original (LoadIgnorePatterns).
func (a *Artifact) list(rules *[]pattern) error {
	count := 0
	return fs.WalkDir(a.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if count++; count > maxEntries {
			return fmt.Errorf("the tree has more than %d files and folders", maxEntries)
		}
		folder, base := path.Split(name)
		folder = path.Clean(folder)
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // only a build that needs the folder fails
			a.absent[name] = "cannot be read"
		case base == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case strings.Count(name, "/") >= maxFolderDepth:
			return fmt.Errorf("the tree has more than %d folders inside each other, at %s", maxFolderDepth, name)
		case entry.IsDir():
			a.folders[name] = map[string]bool{}
			if name != "." {
				a.folders[folder][base] = true
			}
			return a.readRules(name, rules)
		case entry.Type().IsRegular():
			a.folders[folder][base] = false
		case entry.Type()&fs.ModeSymlink != 0:
			a.absent[name] = "is a symbolic link, and source-controller leaves links out"
		default:
			a.absent[name] = "is no regular file"
		}
		return nil
	})
}

// readRules reads the .sourceignore of a folder.
func (a *Artifact) readRules(folder string, rules *[]pattern) error {
	name := path.Join(folder, ignoreFile)
	info, err := a.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // nothing in such a folder can be read
		return nil
	} else if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s cannot be read: it is a link that leaves the tree, or no file", name)
	}
	text, err := a.read(name, info)
	if err != nil {
		return err
	}
	var at []string
	if folder != "." {
		at = strings.Split(folder, "/")
	}
	*rules = append(*rules, parsePatterns(string(text), at)...)
	return nil
}

// dropIgnored removes the files that the rules leave out.
func (a *Artifact) dropIgnored() {
	for folder, names := range a.folders {
		for base, isFolder := range names {
			if name := path.Join(folder, base); !isFolder && excludes(a.rules, strings.Split(name, "/")) {
				delete(names, base)
				a.absent[name] = "is not in the artifact: a rule of .sourceignore, of spec.ignore or of source-controller leaves it out"
			}
		}
	}
}

// kind says whether a clean path is a file or a folder of the artifact.
func (a *Artifact) kind(name string) (isFile, isFolder bool) {
	if _, isFolder = a.folders[name]; isFolder {
		return false, true
	}
	entry, found := a.folders[path.Dir(name)][path.Base(name)]
	return found && !entry, false
}

// why says why the artifact has no such path.
func (a *Artifact) why(name string) error {
	for at := name; at != "."; at = path.Dir(at) {
		if reason := a.absent[at]; reason != "" {
			return fmt.Errorf("%s %s", at, reason)
		}
	}
	return fmt.Errorf("%s does not exist", name)
}

// readFile reads a file of the artifact.
func (a *Artifact) readFile(name string) ([]byte, error) {
	info, err := a.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return a.read(name, info)
}

// read reads a file within the limits.
func (a *Artifact) read(name string, info fs.FileInfo) ([]byte, error) {
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d MiB, and helmdrift reads %d", name, info.Size()>>20, maxFile>>20)
	}
	if text, isChanged := a.changed[name]; isChanged {
		return text, nil
	}
	file, err := a.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if a.bytes += len(text); a.bytes > maxBytes {
		return nil, fmt.Errorf("the tree has more than %d MiB to read", maxBytes>>20)
	}
	return text, err
}

// files is the file system that kustomize sees in one build: an artifact, and the kustomization.yaml that Flux writes into it.
type files struct {
	filesys.FileSystem // an empty one in memory, for what a build does not use
	*Artifact
	written map[string][]byte
	// formats has the formats of the files that Flux decrypts, and decrypter decrypts them. It is nil if nobody does.
	decrypter *decrypter
	formats   map[string]string
	// bases are those of the tree.
	bases *bases
	// reads and objects count what kustomize reads.
	reads, objects int
	// hasSchema is set if a kustomization brings an OpenAPI schema.
	hasSchema bool
	// refusal is why a file was not read although it is there.
	refusal error
}

// relative returns a path of kustomize as a path of the artifact.
func (f *files) relative(name string) (string, error) {
	inside, err := filepath.Rel(f.dir, name)
	if err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("%s is outside of the tree %s", name, f.dir)
	}
	return filepath.ToSlash(inside), nil
}

// look says whether a path of kustomize is a file or a folder.
func (f *files) look(name string) (isFile, isFolder bool) {
	inside, err := f.relative(name)
	if err != nil {
		return false, false
	}
	if _, isWritten := f.written[inside]; isWritten {
		return true, false
	}
	return f.kind(inside)
}

// objectLine matches a line that almost every object in YAML has once.
var objectLine = regexp.MustCompile(`(?m)^kind:`)

// ReadFile reads a file, and checks it before kustomize reads it. Kustomize drops some errors and goes on, so a refusal is kept.
func (f *files) ReadFile(name string) ([]byte, error) {
	inside, err := f.relative(name)
	if err != nil {
		return nil, err
	}
	if isFile, isFolder := f.look(name); isFolder {
		return nil, fmt.Errorf("%s is a folder", inside)
	} else if !isFile {
		return nil, f.why(inside)
	}
	text, err := f.readChecked(inside)
	if err != nil && f.refusal == nil {
		f.refusal = err
	}
	return text, err
}

// readChecked reads a file that is there.
func (f *files) readChecked(inside string) ([]byte, error) {
	if f.reads++; f.reads > maxReads {
		return nil, fmt.Errorf("kustomize reads more than %d files for it", maxReads)
	}
	text, isWritten := f.written[inside]
	if !isWritten {
		var err error
		if text, err = f.readFile(inside); err != nil {
			return nil, err
		}
		if text, err = f.open(inside, text); err != nil {
			return nil, fmt.Errorf("%s cannot be decrypted: %w", inside, err)
		}
	}
	if f.objects += len(objectLine.FindAllIndex(text, -1)); f.objects > maxBuilt {
		return nil, fmt.Errorf("kustomize reads more than %d objects for it", maxBuilt)
	}
	err := checkAliases(text)
	if err == nil && isKustomizationFile(path.Base(inside)) {
		if text, err = f.withBases(path.Dir(inside), text); err == nil {
			err = f.check(path.Dir(inside), text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inside, err)
	}
	return text, nil
}

// CleanedAbs returns the folder and the name of a path.
func (f *files) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	inside, err := f.relative(name)
	if err != nil {
		return "", "", err
	}
	name = filepath.Join(f.dir, filepath.FromSlash(inside))
	switch isFile, isFolder := f.look(name); {
	case isFolder:
		return filesys.ConfirmedDir(name), "", nil
	case isFile:
		return filesys.ConfirmedDir(filepath.Dir(name)), filepath.Base(name), nil
	}
	return "", "", f.why(inside)
}

// Exists reports whether there is a file or a folder.
func (f *files) Exists(name string) bool {
	isFile, isFolder := f.look(name)
	return isFile || isFolder
}

// IsDir reports whether a path is a folder.
func (f *files) IsDir(name string) bool {
	_, isFolder := f.look(name)
	return isFolder
}

// ReadDir returns the names in a folder.
func (f *files) ReadDir(name string) ([]string, error) {
	inside, err := f.relative(name)
	if err != nil {
		return nil, err
	}
	return f.names(inside), nil
}

// names returns the sorted names in a folder.
func (a *Artifact) names(folder string) []string {
	var out []string
	for name := range a.folders[folder] {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
