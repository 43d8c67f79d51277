package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	yaml3 "go.yaml.in/yaml/v3"
)

// The limits of a tree. Each has a message of its own. The largest public trees of Flux have a few thousand files and 300 Kustomizations.
const (
	maxEntries        = 500_000  // files and folders of the tree
	maxFolderDepth    = 100      // folders inside folders
	maxFile           = 16 << 20 // bytes of one file that kustomize reads
	maxReads          = 10_000   // files that one build reads, counted each time
	maxBytes          = 1 << 30  // bytes that all builds read
	maxObject         = 3 << 20  // bytes of an object: no API server takes more (k8s.io/apiserver v0.36.3 pkg/server/config.go)
	maxBuilt          = 3_000    // objects of one build, because kustomize compares each with each; files of a folder that is built
	maxKustomizations = 1_000    // Kustomizations of Flux
	maxKustomizeDepth = 20       // Kustomizations that Kustomizations make
	maxReleases       = 2_000    // HelmReleases that all of them make
)

// anchor and alias match every anchor and alias of YAML, and some other texts.
var (
	anchor = regexp.MustCompile(`&[0-9A-Za-z_-]`)
	alias  = regexp.MustCompile(`\*[0-9A-Za-z_-]`)
)

// checkAliases refuses a text whose aliases make it longer than any object may be. A text that is not YAML has none.
func checkAliases(text []byte) error {
	if !anchor.Match(text) || !alias.Match(text) {
		return nil
	}
	documents, err := nodesOf(text)
	if err != nil {
		return nil //nolint:nilerr // kustomize reports what it cannot read
	}
	sizes, total := map[*yaml3.Node]int{}, 0
	for _, d := range documents {
		total = min(total+sizeOf(sizes, d), maxFile+1)
	}
	if total > maxFile {
		return fmt.Errorf("its YAML aliases stand for more than %d MiB", maxFile>>20)
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
	sizes[n] = maxFile + 1
	size := 1 + len(n.Value)
	for _, below := range n.Content {
		size = min(size+sizeOf(sizes, below), maxFile+1)
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
