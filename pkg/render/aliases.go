package render

import (
	"math"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// A YAML alias stands for a whole value, so a short text can make a very long document: a text of 300 KB and a thousand aliases of it
// make 300 MB, which packs into 600 bytes of a record. The YAML library counts nodes, not bytes, and allows 400,000 of them
// (go.yaml.in/yaml/v2 v2.4.4 decode.go allowedAliasRatio). So the size that aliases lead to is computed before they are followed.

// maxExpanded is the size of an object that every API server refuses (kubernetes v1.36.3 apiserver pkg/server/config.go
// MaxRequestBodyBytes). Only documents with aliases are held to it: others are no longer than their text.
const maxExpanded = 3 << 20

// maxHarmless is a length at which a text without aliases takes at most 200 MB from the text to the report, and most manifests are
// shorter. The worst text found, a list of maps of one key, takes 400 times its length to read and as much again to compare.
const maxHarmless = 256 << 10

// anchor and alias match what may be one in YAML (yaml/v2 scannerc.go yaml_parser_scan_anchor: an indicator and a letter, digit,
// dash or underscore), and more.
var (
	anchor = regexp.MustCompile(`&[0-9A-Za-z_-]`)
	alias  = regexp.MustCompile(`\*[0-9A-Za-z_-]`)
)

// Harmless reports whether a manifest can be read without any bound: it is short, and has no aliases.
func Harmless(manifest string) bool {
	return len(manifest) <= maxHarmless && !mayHaveAliases([]byte(manifest))
}

func mayHaveAliases(text []byte) bool { return anchor.Match(text) && alias.Match(text) }

// expandedSize is the size that a document has with its aliases followed, at least; 0 where it has none. What this parser cannot
// read, the other one is to explain.
func expandedSize(text []byte) int {
	var root yaml.Node
	if !mayHaveAliases(text) || yaml.Unmarshal(text, &root) != nil {
		return 0
	}
	return (&sizes{known: map[*yaml.Node]int{}}).of(&root)
}

// sizes knows the sizes of the nodes that anchors name.
type sizes struct {
	known map[*yaml.Node]int
}

// of is the size of a node, which never overflows.
func (s *sizes) of(n *yaml.Node) int {
	if size, done := s.known[n]; done {
		return size
	}
	if n.Kind == yaml.AliasNode {
		return s.of(n.Alias)
	}
	if n.Anchor != "" {
		s.known[n] = 0 // an alias within what it stands for is an error, and the other parser says so
	}
	size := len(n.Value) + 2
	for _, below := range n.Content {
		if size += s.of(below); size > math.MaxInt/2 {
			size = math.MaxInt / 2
		}
	}
	if n.Anchor != "" {
		s.known[n] = size
	}
	return size
}

// What a comparison takes for each value of a manifest, and for each byte. Measured: a list of 250,000 maps of one key, 1 MB of
// text, takes 760 MB from the text to the report.
const (
	weightOfValue = 2 << 10
	weightOfByte  = 8
)

// Weight estimates the memory that the comparison of these objects takes.
func (m Manifest) Weight() int64 {
	var weight int64
	for _, o := range m.Objects {
		weight += weightOf(o.Content)
	}
	return weight
}

func weightOf(v any) int64 {
	weight := int64(weightOfValue)
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			weight += int64(len(key))*weightOfByte + weightOf(below)
		}
	case []any:
		for _, below := range v {
			weight += weightOf(below)
		}
	case string:
		weight += int64(len(v)) * weightOfByte
	}
	return weight
}
