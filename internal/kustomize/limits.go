package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	yaml3 "go.yaml.in/yaml/v3"
)

// The limits of a tree and of a build. Each has a message of its own. The largest public trees of Flux have a few thousand files.
const (
	maxEntries = 500_000 // files and folders of the tree
	maxBytes   = 1 << 30 // bytes that all builds read
	// MaxFolderDepth is how many folders may be inside each other.
	MaxFolderDepth = 100
	// MaxFile is how many bytes a file may have that kustomize reads.
	MaxFile = 16 << 20
	// MaxReads is how many files one build reads, counted each time.
	MaxReads = 10_000
	// MaxObjects is how many objects one build reads, because kustomize compares each with each.
	MaxObjects = 3_000
)

// anchor and alias match every anchor and alias of YAML, and some other texts.
var (
	anchor = regexp.MustCompile(`&[0-9A-Za-z_-]`)
	alias  = regexp.MustCompile(`\*[0-9A-Za-z_-]`)
)

// CheckAliases refuses a text whose aliases make it longer than any object may be. A text that is not YAML has none.
func CheckAliases(text []byte) error {
	if !anchor.Match(text) || !alias.Match(text) {
		return nil
	}
	documents, err := nodesOf(text)
	if err != nil {
		return nil //nolint:nilerr // kustomize reports what it cannot read
	}
	sizes, total := map[*yaml3.Node]int{}, 0
	for _, d := range documents {
		total = min(total+sizeOf(sizes, d), MaxFile+1)
	}
	if total > MaxFile {
		return fmt.Errorf("its YAML aliases stand for more than %d MiB", MaxFile>>20)
	}
	return nil
}

// sizeOf returns about how many bytes a node has after its aliases are followed. It never overflows. An anchor inside itself counts as
// too large.
func sizeOf(sizes map[*yaml3.Node]int, n *yaml3.Node) int {
	if n.Kind == yaml3.AliasNode {
		n = n.Alias
	}
	if size, known := sizes[n]; known {
		return size
	}
	sizes[n] = MaxFile + 1
	size := 1 + len(n.Value)
	for _, below := range n.Content {
		size = min(size+sizeOf(sizes, below), MaxFile+1)
	}
	sizes[n] = size
	return size
}

// nodesOf returns the documents of a YAML text.
func nodesOf(text []byte) (documents []*yaml3.Node, err error) {
	for d := yaml3.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml3.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		documents = append(documents, &n)
	}
}
