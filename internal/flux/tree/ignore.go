package tree

import (
	"bufio"
	"path/filepath"
	"slices"
	"strings"
)

// Source-controller leaves files out of an artifact. This file has its rules (fluxcd/pkg/sourceignore v0.19.0 sourceignore.go). They look
// like those of Git but are not: a file can come back although its folder is excluded, and the defaults but .git are gone as soon as
// one .sourceignore or spec.ignore has a rule (fluxcd/pkg/artifact v0.18.1 storage/archive.go SourceIgnoreFilter).
const (
	// IgnoreFile is the name of a file with rules.
	IgnoreFile   = ".sourceignore"
	gitIgnores   = ".git/,.gitignore,.gitmodules,.gitattributes"
	otherIgnores = "*.jpg,*.jpeg,*.gif,*.png,*.wmv,*.flv,*.tar.gz,*.zip,.github/,.circleci/,.travis.yml,.gitlab-ci.yml,appveyor.yml," +
		".drone.yml,cloudbuild.yaml,codeship-services.yml,codeship-steps.yml,**/.goreleaser.yml,**/.sops.yaml,**/.flux.yaml"
)

// pattern is one rule (fluxcd/pkg/sourceignore v0.19.0 gitignore/pattern.go, which comes from go-git).
type pattern struct {
	// folder is where the rule was written, and parts are its own elements.
	folder, parts []string
	includes      bool
	onlyFolders   bool
	isPath        bool
}

// parsePattern reads a rule that is written in a folder.
func parsePattern(text string, folder []string) pattern {
	p := pattern{folder: folder}
	text, p.includes = strings.CutPrefix(text, "!")
	if !strings.HasSuffix(text, `\ `) {
		text = strings.TrimRight(text, " ")
	}
	text, p.onlyFolders = strings.CutSuffix(text, "/")
	p.isPath = strings.Contains(text, "/")
	p.parts = strings.Split(text, "/")
	return p
}

// parsePatterns reads the rules of a text, one a line.
func parsePatterns(text string, folder []string) []pattern {
	var out []pattern
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			out = append(out, parsePattern(line, folder))
		}
	}
	return out
}

// defaultPatterns reads a list of default rules.
func defaultPatterns(list string) []pattern {
	return parsePatterns(strings.ReplaceAll(list, ",", "\n"), nil)
}

// KindBucket is the kind of a source whose files are the objects of a bucket.
const KindBucket = "Bucket"

// rules returns all rules of a source of a kind. The last one that matches wins. A Bucket has those of the .sourceignore of its root and of
// spec.ignore, and none by default (fluxcd/source-controller v1.9.3 internal/controller/bucket_controller.go fetchEtagIndex).
func rules(kind string, ofFiles, ofSource []pattern) []pattern {
	if kind == KindBucket {
		ofRoot := slices.DeleteFunc(slices.Clone(ofFiles), func(p pattern) bool { return len(p.folder) > 0 })
		return append(ofRoot, ofSource...)
	}
	out := defaultPatterns(gitIgnores)
	if len(ofFiles)+len(ofSource) == 0 {
		return append(out, defaultPatterns(otherIgnores)...)
	}
	return append(append(out, ofFiles...), ofSource...)
}

// BucketRules returns a function that reports whether the rules of a Bucket leave out an object. File is the .sourceignore of its root, and
// spec is spec.ignore.
func BucketRules(file, spec string) func(key string) bool {
	all := rules(KindBucket, parsePatterns(file, nil), parsePatterns(spec, nil))
	return func(key string) bool { return excludes(all, strings.Split(key, "/")) }
}

// excludes reports whether rules exclude a file.
func excludes(rules []pattern, path []string) bool {
	for _, rule := range slices.Backward(rules) {
		if rule.matches(path) {
			return !rule.includes
		}
	}
	return false
}

// matches reports whether the rule is about a file.
func (p *pattern) matches(path []string) bool {
	if len(path) <= len(p.folder) || !slices.Equal(path[:len(p.folder)], p.folder) {
		return false
	}
	path = path[len(p.folder):]
	if p.isPath {
		return p.matchesPath(path)
	}
	for i, name := range path {
		if matched, err := filepath.Match(p.parts[0], name); err != nil {
			return false
		} else if matched {
			return !p.onlyFolders || i < len(path)-1
		}
	}
	return false
}

// matchesPath reports whether a rule with a slash is about a file. It need not match the whole path: a folder stands for what is in it.
func (p *pattern) matchesPath(path []string) bool {
	matched, anywhere := false, false
	for i, part := range p.parts {
		switch {
		case part == "":
			anywhere = false
			continue
		case part == "**" && i == len(p.parts)-1:
			continue
		case part == "**":
			anywhere = true
			continue
		case strings.Contains(part, "**") || len(path) == 0:
			return false
		}
		found := false
		for len(path) > 0 && !found {
			same, err := filepath.Match(part, path[0])
			if err != nil || !same && !anywhere {
				return false
			}
			path, found = path[1:], same
		}
		matched, anywhere = found, false
	}
	return matched && (!p.onlyFolders || len(path) > 0)
}
