package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// These are the codes of the messages that Parse returns.
const (
	// CodeInvalidDocument marks a document that cannot be read. Its objects are not compared.
	CodeInvalidDocument = "invalid-document"
	// CodeDuplicateObject marks an object that the manifest names more than once.
	CodeDuplicateObject = "duplicate-object"
)

// ParseOptions is what Parse needs beyond the text of the manifest.
type ParseOptions struct {
	// Namespace is given to objects of namespaced kinds that name none: the namespace of the release record.
	Namespace string
	// Scope reports whether objects of a kind live in namespaces. Objects of unknown kinds keep the namespace that
	// they name, or get the default one. A nil Scope knows no kind.
	Scope func(schema.GroupVersionKind) (namespaced, known bool)
}

// Manifest is the content of a manifest.
type Manifest struct {
	// Objects are in the order of the manifest, with each Key once. Helm would refuse the objects that have a
	// Problem.
	Objects []object.Object
	// NotCompared lists the objects with a generateName, which are among Objects too. Name is their prefix.
	NotCompared []report.NotCompared
	// Warnings names duplicates. Errors names documents that cannot be read.
	Warnings, Errors []report.Message
}

// Parse reads a manifest as Helm does; the package comment has the rules. It never fails as a whole: a document that
// cannot be read is one of the Errors, and the other documents are still read.
func Parse(manifest string, opts ParseOptions) Manifest {
	return Objects(DecodeDocuments(manifest), opts)
}

// ReadDocuments is the first half of Parse: it reads the text as YAML or JSON. This can take much more time and memory than
// the length of the text suggests; see NeedsNoBounds.
func ReadDocuments(manifest string) []Document { return splitDocuments(manifest, yamlDocument) }

// DecodeDocuments is ReadDocuments for a caller who passes the documents to Objects once, in the same process. It takes less time, and the
// objects are the same.
func DecodeDocuments(manifest string) []Document { return splitDocuments(manifest, plainYAML) }

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
				Kind: o.Kind, Namespace: o.Namespace, Name: o.GenerateName, Reason: report.NotComparedGenerated,
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
	type repeated struct {
		seen    int
		content map[string]any // of the last one that was seen
		differs bool
	}
	repeats := map[object.Key]repeated{}
	for _, o := range objects {
		if n := total[o.Key]; n > 1 && o.Name != "" {
			before := repeats[o.Key]
			now := repeated{before.seen + 1, o.Content, before.differs || before.seen > 0 && !object.Identical(before.content, o.Content)}
			if repeats[o.Key] = now; now.seen < n {
				continue
			}
			o.Times = n
			o.Note = fmt.Sprintf("the manifest names this object %d times; an upgrade applies them in order, so the last one counts", o.Times)
			if now.differs {
				o.Note += "; what only an earlier one names is not predicted"
			}
			warnings = append(warnings, report.Message{
				Code: CodeDuplicateObject, Message: o.Note, Object: o.Key.String(), File: o.Source,
			})
		}
		kept = append(kept, o)
	}
	return kept, warnings
}

// decode returns the objects of a document: none, one, or the items of a list. It may return both objects and an
// error.
func (d Document) decode() ([]*unstructured.Unstructured, error) {
	switch {
	case d.Fault != "":
		return nil, errors.New(d.Fault)
	case d.isEmpty():
		return nil, nil
	}
	if d.Decoded != nil || !mayBeList(d.JSON) {
		object := &unstructured.Unstructured{}
		if d.Decoded != nil {
			object.Object = d.Decoded.take()
		} else if utiljson.Unmarshal(d.JSON, &object.Object) != nil {
			return nil, errNotObject
		}
		if object.GroupVersionKind().Kind == "" {
			return nil, errNoKind
		}
		return []*unstructured.Unstructured{object}, nil
	}
	root, _, err := unstructured.UnstructuredJSONScheme.Decode(d.JSON, nil, nil)
	if err != nil {
		return nil, decodeError(err)
	}
	if object, ok := root.(*unstructured.Unstructured); ok {
		return []*unstructured.Unstructured{object}, nil
	}
	return flatten(root)
}

// mayBeList reports whether a JSON value may have a member "items", which makes a list of it for apimachinery's decoder. That decoder goes
// through the text of each object to find out. The name may be written with escapes, as in a JSON document that a person wrote.
func mayBeList(text []byte) bool {
	signs := []string{`"items"`, `\u006`, `\u007`}
	return slices.ContainsFunc(signs, func(sign string) bool { return bytes.Contains(text, []byte(sign)) })
}

// flatten returns the items of a list. Helm's visitor tries to flatten items that are lists too. But its extraction
// accepts only items that were decoded as lists, so in Helm a list within a list fails the whole document.
func flatten(list runtime.Object) (objects []*unstructured.Unstructured, err error) {
	if wrapper, ok := list.(*unstructured.UnstructuredList); ok {
		if err := checkMetadata(wrapper.Object); err != nil {
			return nil, err
		}
	}
	items, extractErr := meta.ExtractList(list)
	if extractErr != nil {
		return nil, errNotObject
	}
	for _, item := range items {
		object, ok := item.(*unstructured.Unstructured)
		switch {
		case !ok || object.IsList():
			return nil, errNested
		case object.GroupVersionKind().Kind == "":
			err = errNoKind
		default:
			objects = append(objects, object)
		}
	}
	return objects, err
}

// newObject describes a decoded object and sets its namespace.
func newObject(u *unstructured.Unstructured, source string, opts ParseOptions) object.Object {
	problem := problemIn(u)
	opts.setNamespace(u)
	object := object.Object{Ref: object.RefOf(u.Object), Source: source, Content: u.Object, Problem: problem}
	if object.Name == "" {
		object.GenerateName = u.GetGenerateName()
	}
	return object
}

// setNamespace does what the builder's DefaultNamespace and its namespace filter do. Helm fails on a kind that is not
// served; here it counts as namespaced, as most kinds are, so that its objects have a key.
func (o ParseOptions) setNamespace(u *unstructured.Unstructured) {
	namespaced, known := true, false
	if o.Scope != nil {
		namespaced, known = o.Scope(u.GroupVersionKind())
	}
	switch {
	case known && !namespaced:
		u.SetNamespace("")
	case u.GetNamespace() == "" && o.Namespace != "":
		u.SetNamespace(o.Namespace)
	}
}

// problemIn returns why Helm refuses an object, or "" if it does not. The checks are in Helm's order: decode, map,
// get.
func problemIn(u *unstructured.Unstructured) string {
	if err := checkMetadata(u.Object); err != nil {
		return err.Error()
	}
	switch {
	case u.GetAPIVersion() == "":
		return "it has no apiVersion"
	case u.GetName() == "" && u.GetGenerateName() == "":
		return "it has no name"
	}
	return ""
}

// checkMetadata decodes metadata into the type that Kubernetes has for it. cli-runtime checks only documents and
// leaves the items of a list to the API server, which refuses them with the same message. Here both are checked, so
// that all labels are strings.
func checkMetadata(object map[string]any) error {
	if isPlainMetadata(object["metadata"]) {
		return nil
	}
	text, err := json.Marshal(map[string]any{"metadata": object["metadata"]})
	if err != nil {
		return metadataError(err)
	}
	var typed struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := utiljson.Unmarshal(text, &typed); err != nil {
		return metadataError(err)
	}
	return nil
}

// isPlainMetadata reports whether metadata has nothing but names, labels and annotations, and all of them are texts. Such metadata always
// decodes, and most charts have no other.
func isPlainMetadata(metadata any) bool {
	fields, isMap := metadata.(map[string]any)
	for name, v := range fields {
		_, isText := v.(string)
		texts, areTexts := v.(map[string]any)
		for _, text := range texts {
			if _, ok := text.(string); !ok {
				return false
			}
		}
		switch name {
		case "name", "namespace":
			if !isText {
				return false
			}
		case "labels", "annotations":
			if !areTexts {
				return false
			}
		default:
			return false
		}
	}
	return isMap
}
