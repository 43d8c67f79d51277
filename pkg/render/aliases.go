package render

import (
	"math"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// A YAML alias stands for a whole value, so a short text can expand to a very long document: a value of 300 KB with a thousand
// aliases expands to 300 MB, and compresses to 600 bytes of a release record. The YAML library counts nodes, not bytes, and
// allows 400,000 of them (go.yaml.in/yaml/v2 v2.4.4 decode.go allowedAliasRatio). Therefore the expanded size is computed
// before the aliases are followed.

// maxExpanded is a size that every API server refuses (k8s.io/apiserver v0.36.3 pkg/server/config.go
// MaxRequestBodyBytes). Only documents with aliases are checked: others are not longer than their text.
const maxExpanded = 3 << 20

// maxUnbounded is the length up to which a text without aliases needs at most 200 MB from the text to the report;
// most manifests are shorter. The worst text found, a list of maps with one key, takes 400 times its length to read
// and as much again to compare.
const maxUnbounded = 256 << 10

// anchor and alias match every anchor and alias of YAML (yaml/v2 scannerc.go yaml_parser_scan_anchor: an indicator and a
// letter, digit, dash or underscore), and some other texts.
var (
	anchor = regexp.MustCompile(`&[0-9A-Za-z_-]`)
	alias  = regexp.MustCompile(`\*[0-9A-Za-z_-]`)
)

// NeedsNoBounds reports whether a manifest can be read without bounds on time and memory, because it is short and has
// no aliases.
func NeedsNoBounds(manifest string) bool {
	return len(manifest) <= maxUnbounded && !mayHaveAliases([]byte(manifest))
}

func mayHaveAliases(text []byte) bool { return anchor.Match(text) && alias.Match(text) }

// expandedSize returns a lower bound of the document's size after its aliases are followed, or 0 if it has none. A
// text that this parser cannot read is left to the other parser to report.
func expandedSize(text []byte) int {
	var root yaml.Node
	if !mayHaveAliases(text) || yaml.Unmarshal(text, &root) != nil {
		return 0
	}
	return anchorSizes{}.sizeOf(&root)
}

// anchorSizes maps the nodes that have an anchor to their sizes.
type anchorSizes map[*yaml.Node]int

// sizeOf returns the size of a node. It never overflows.
func (s anchorSizes) sizeOf(n *yaml.Node) int {
	if size, done := s[n]; done {
		return size
	}
	if n.Kind == yaml.AliasNode {
		return s.sizeOf(n.Alias)
	}
	if n.Anchor != "" {
		s[n] = 0 // an alias within its own value is an error, which the other parser reports
	}
	size := len(n.Value) + 2
	for _, below := range n.Content {
		if size += s.sizeOf(below); size > math.MaxInt/2 {
			size = math.MaxInt / 2
		}
	}
	if n.Anchor != "" {
		s[n] = size
	}
	return size
}

// The memory that a comparison takes for each value of a manifest, and for each byte. Measured: a list of 250,000 maps with one
// key, 1 MB of text, takes 760 MB from the text to the report.
const (
	weightOfValue = 2 << 10
	weightOfByte  = 8
)

// Weight estimates the memory in bytes that comparing these objects takes.
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
