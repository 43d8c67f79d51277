package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Codes of the messages that Parse makes.
const (
	// CodeInvalidDocument marks a document that cannot be read: what it holds is not compared.
	CodeInvalidDocument = "invalid-document"
	// CodeDuplicateObject marks an object that the manifest names more than once.
	CodeDuplicateObject = "duplicate-object"
)

// ReasonGenerateName is why an object that leaves its name to the server is not compared.
const ReasonGenerateName = "generateName"

// ParseOptions is what a manifest does not say itself.
type ParseOptions struct {
	// Namespace is given to objects of namespaced kinds that name none: the record's own namespace.
	Namespace string
	// Scope tells whether the cluster serves a kind under a namespace. Objects of kinds that it does not know keep the
	// namespace they name, and get the default one if they name none. A nil Scope knows nothing.
	Scope func(schema.GroupVersionKind) (namespaced, known bool)
}

// Manifest is what a manifest holds.
type Manifest struct {
	// Objects stand in the order of the manifest, each Key once. Those with a Problem are objects Helm would refuse.
	Objects []object.Object
	// NotCompared lists the objects with a generateName, which are among Objects too. Name is the prefix they ask for.
	NotCompared []report.NotCompared
	// Warnings names duplicates; Errors names documents that cannot be read.
	Warnings, Errors []report.Message
}

// Parse reads a manifest as Helm does; the package comment has the rules. It never fails as a whole: a document that
// cannot be read is among the Errors, and the others still come.
func Parse(manifest string, opts ParseOptions) Manifest { return Objects(Read(manifest), opts) }

// Read is the part of Parse that may take time and memory out of proportion: it reads the text as YAML. See Harmless.
func Read(manifest string) []Document { return splitDocuments(manifest) }

// Objects is the rest of Parse.
func Objects(documents []Document, opts ParseOptions) Manifest {
	var m Manifest
	for i, doc := range documents {
		contents, err := doc.decode()
		if err != nil {
			m.Errors = append(m.Errors, invalidDocument(i+1, doc.Source, err))
		}
		for _, content := range contents {
			m.Objects = append(m.Objects, newObject(content, doc.Source, opts))
		}
	}
	m.Objects, m.Warnings = keepLast(m.Objects)
	for _, o := range m.Objects {
		if o.GenerateName != "" {
			m.NotCompared = append(m.NotCompared, report.NotCompared{
				Kind: o.Kind, Namespace: o.Namespace, Name: o.GenerateName, Reason: ReasonGenerateName,
			})
		}
	}
	return m
}

// invalidDocument names a document by its template where it has one, and by its place in the manifest.
func invalidDocument(number int, source string, err error) report.Message {
	name := fmt.Sprintf("document %d of the manifest", number)
	if source != "" {
		name += " (" + source + ")"
	}
	return report.Message{Code: CodeInvalidDocument, Message: name + ": " + err.Error(), File: source}
}

// keepLast drops all but the last of the objects that share a Key. On an upgrade Helm patches the live object with each
// of them in turn, so the last is what it ends with. Objects without a name share nothing.
func keepLast(objects []object.Object) (kept []object.Object, warnings []report.Message) {
	total := map[object.Key]int{}
	for _, o := range objects {
		total[o.Key]++
	}
	seen := map[object.Key]int{}
	for _, o := range objects {
		seen[o.Key]++
		n := total[o.Key]
		if n == 1 || o.Name == "" {
			kept = append(kept, o)
			continue
		}
		if seen[o.Key] < n {
			continue
		}
		o.Times = n
		o.Note = fmt.Sprintf("the manifest names this object %d times; an upgrade applies each in turn, the last one counts", n)
		kept = append(kept, o)
		warnings = append(warnings, report.Message{
			Code: CodeDuplicateObject, Message: o.Note, Object: o.Key.String(), File: o.Source,
		})
	}
	return kept, warnings
}
