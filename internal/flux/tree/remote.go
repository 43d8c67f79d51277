package tree

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// checkTexts refuses a YAML text if kustomize could fetch something that it names.
func checkTexts(text []byte) error {
	documents, err := nodesOf(text)
	if err != nil {
		return fmt.Errorf("it is not YAML: %w", err)
	}
	for _, d := range documents {
		if err := checkNode(d); err != nil {
			return err
		}
	}
	return nil
}

// checkNode checks a node and what is below it. An alias names a node that is checked where it is.
func checkNode(n *yaml3.Node) error {
	text := n.Value
	if n.Kind == yaml3.ScalarNode && n.ShortTag() == "!!binary" { // kustomize reads what it stands for
		if err := n.Decode(&text); err != nil {
			return fmt.Errorf("it has a binary text that cannot be read: %w", err)
		}
	}
	// A source of a generator may have the form KEY=FILE.
	for text != "" {
		if isRemote(text) {
			return fmt.Errorf("it needs %q, which is not in the tree: --allow-remote-bases fetches resources and components, and nothing else "+
				"is fetched", text)
		}
		_, text, _ = strings.Cut(text, "=")
	}
	for _, below := range n.Content {
		if err := checkNode(below); err != nil {
			return err
		}
	}
	return nil
}

// user matches an address like git@host:path.
var user = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@.*[:/]`)

// isRemote reports whether kustomize could take a text for an address. It says yes to more than kustomize does
// (sigs.k8s.io/kustomize/api v0.21.1 internal/git/repospec.go NewRepoSpecFromURL, internal/loader/fileloader.go IsRemoteFile).
func isRemote(text string) bool {
	lower := strings.ToLower(text)
	for _, prefix := range []string{"git::", "gh:", "ssh:", "https:", "http:", "file:", "github.com/", "github.com:"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	address, err := url.Parse(text)
	return user.MatchString(text) || err == nil && (address.Scheme == "http" || address.Scheme == "https")
}
