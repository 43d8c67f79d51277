package tree

import (
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// This file has what a build is asked for and what it answers. It uses no other file.

const (
	fluxGroup   = "kustomize.toolkit.fluxcd.io"
	helmGroup   = "helm.toolkit.fluxcd.io"
	sourceGroup = "source.toolkit.fluxcd.io"
	// OperatorGroup is the group of Flux Operator.
	OperatorGroup = "fluxcd.controlplane.io"
)

// Order says what to build. It is plain data, because a child process carries it out.
type Order struct {
	// Dir is the folder that the user names, and Root and Remotes come from worktree.Find.
	Dir, Root string
	Remotes   []string
	// Sources are folders with the content of further sources.
	Sources []LocalSource
	// Decrypts is set if the caller decrypts what SOPS encrypted, and FetchesBases if it fetches bases that are not in the tree.
	Decrypts, FetchesBases bool
	// Rendered is set if Text has the objects already, as "kustomize build" or "flux build" print them. Then nothing is built.
	Rendered bool
	Text     []byte
	// Changed has files below Root that have another content than on the disk, by their slash-separated paths.
	Changed map[string][]byte
}

// LocalSource maps a source of Flux to a folder.
type LocalSource struct{ Kind, Namespace, Name, Dir string }

// Maker is the Kustomization of Flux that makes an object. It is empty for an object that only the folder of the user makes.
type Maker struct{ Namespace, Name string }

// String names the maker in messages.
func (m Maker) String() string {
	if m == (Maker{}) {
		return "the folder itself"
	}
	return title("Kustomization", m.Namespace, m.Name)
}

// Answer is what the tree makes. The objects of one maker are in the order of its build.
type Answer struct {
	Objects  []Object
	Problems []Problem
	// Roots are the Kustomizations of the cluster that build the folder of the user, if the folder does not have its own.
	Roots []Maker
	// Left are the Kustomizations that make something that is not here, because of a limit. One may be there twice.
	Left []Maker
	// Asked are the objects of the cluster that were asked for.
	Asked []Asked
	// Secrets are the texts that were decrypted.
	Secrets []string
}

// Object is an object that Flux would apply.
type Object struct {
	// JSON is the object. Map decodes it.
	JSON []byte
	// File is the file or the folder that it comes from, relative to Dir, the folder of the source. Both are empty if that is not known.
	// Maker is who makes it.
	File, Dir string
	Maker     Maker
}

// Map returns the object, with whole numbers as int64.
func (o Object) Map() map[string]any {
	var out map[string]any
	_ = utiljson.Unmarshal(o.JSON, &out) // Build encoded it
	return out
}

// Asked is an object of the cluster that Build asked for.
type Asked struct {
	Kind, Namespace, Name string
	Found                 bool
}

// Title names the object in problems.
func (o Object) Title() string {
	key := keyOf(o.Map())
	return title(key.kind, key.namespace, key.name)
}

// Candidate is a Kustomization of the cluster that may build the folder of the user.
type Candidate struct {
	Maker Maker
	// JSON is the Kustomization, unless Unread says why it cannot be read.
	JSON   []byte
	Unread string
	// Made is an object of the folder whose labels in the cluster name the Kustomization. It is empty if only labels of others do.
	Made string
}

// Severity says what a problem means for the answer.
type Severity string

// The severities of problems. Only an answer without Failed, Unbuilt, Skipped and NotKnown has everything that Flux applies.
const (
	// Failed is something that could not be built. In most cases, Flux cannot build it either.
	Failed Severity = "failed"
	// Unbuilt is something that others make objects of, and HelmReleases or what they use may be among them.
	Unbuilt Severity = "not built"
	// Skipped is something that was not looked at.
	Skipped Severity = "not looked at"
	// NotKnown is a value that is not known.
	NotKnown Severity = "unknown"
	// Note is something that was assumed.
	Note Severity = "note"
)

// Problem is one line about something that the answer lacks.
type Problem struct {
	Severity Severity
	// Where names the Kustomization, the object or the folder.
	Where   string
	Message string
	Advice  string
}

// String returns the problem in one line.
func (p Problem) String() string {
	said := p.Where + ": " + p.Message
	if p.Advice != "" {
		said += "; " + p.Advice
	}
	return said
}

// objectKey is the identity of an object.
type objectKey struct{ group, kind, namespace, name string }

// keyOf returns the identity of an object.
func keyOf(value map[string]any) objectKey {
	version, _ := value["apiVersion"].(string)
	kind, _ := value["kind"].(string)
	group, _, hasGroup := strings.Cut(version, "/")
	if !hasGroup {
		group = ""
	}
	metadata, _ := value["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	return objectKey{group, kind, namespace, name}
}

// isRead reports whether predictions read objects of this kind. The API server refuses one without a namespace.
func (k objectKey) isRead() bool {
	isData := k.group == "" && (k.kind == "ConfigMap" || k.kind == "Secret")
	return isData || k.group == fluxGroup || k.group == helmGroup || k.group == sourceGroup
}

// title names an object in messages.
func title(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
