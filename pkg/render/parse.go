package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Codes of the messages that Parse makes.
const (
	// CodeInvalidDocument marks a document that cannot be read. Its objects are not compared.
	CodeInvalidDocument = "invalid-document"
	// CodeDuplicateObject marks an object that the manifest names more than once.
	CodeDuplicateObject = "duplicate-object"
)

// ReasonGenerateName is the reason why an object that lets the server choose its name is not compared.
const ReasonGenerateName = "generateName"

// ParseOptions is what Parse needs beyond the text of the manifest.
type ParseOptions struct {
	// Namespace is given to objects of namespaced kinds that name none: the namespace of the release record.
	Namespace string
	// Scope reports whether the cluster serves a kind in namespaces. Objects of unknown kinds keep the namespace that
	// they name, and get the default one if they name none. A nil Scope knows no kind.
	Scope func(schema.GroupVersionKind) (namespaced, known bool)
}

// Manifest is the content of a manifest.
type Manifest struct {
	// Objects are in the order of the manifest, with each Key once. Those with a Problem are objects that Helm would
	// refuse.
	Objects []object.Object
	// NotCompared lists the objects with a generateName, which are among Objects too. Name is their prefix.
	NotCompared []report.NotCompared
	// Warnings names duplicates. Errors names documents that cannot be read.
	Warnings, Errors []report.Message
}

// Parse reads a manifest as Helm does; the package comment has the rules. It never fails as a whole: a document that
// cannot be read is one of the Errors, and the other documents are still read.
func Parse(manifest string, opts ParseOptions) Manifest {
	return Objects(ReadDocuments(manifest), opts)
}

// ReadDocuments is the first half of Parse: it reads the text as YAML or JSON. This can take much more time and memory than
// the length of the text suggests; see NeedsNoBounds.
func ReadDocuments(manifest string) []Document { return splitDocuments(manifest) }

// Objects is the second half of Parse: it turns documents into objects.
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

// invalidDocument returns the error of a document, which it names by its place in the manifest and, if known, by its
// template.
func invalidDocument(number int, source string, err error) report.Message {
	name := fmt.Sprintf("document %d of the manifest", number)
	if source != "" {
		name += " (" + source + ")"
	}
	return report.Message{Code: CodeInvalidDocument, Message: name + ": " + err.Error(), File: source}
}

// keepLast keeps only the last of the objects that share a Key. An upgrade patches the live object with each of them
// in turn, so the last one wins. Objects without a name share nothing.
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
		o.Note = fmt.Sprintf("the manifest names this object %d times; an upgrade applies them in order, so the last one counts", n)
		kept = append(kept, o)
		warnings = append(warnings, report.Message{
			Code: CodeDuplicateObject, Message: o.Note, Object: o.Key.String(), File: o.Source,
		})
	}
	return kept, warnings
}
