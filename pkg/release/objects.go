package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// These kinds of object hold Helm's records.
const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

const (
	// pageSize is the number of objects per list request, the same as kubectl's.
	pageSize = 500
	// maxPages allows half a million records, which no etcd could hold.
	maxPages = 1000
)

// RecordType is the type that Helm gives its Secrets and rows.
const RecordType = recordTypeAny + "v1"

// recordTypeAny begins the type in every format, and recordKey is the key in the data of an object.
const (
	recordTypeAny = "helm.sh/release."
	recordKey     = "release"
)

// describedBy returns where a kind of record names its release and revision: in a label or in a column.
func describedBy(kind string) string {
	if kind == kindSecret || kind == kindConfigMap {
		return "label"
	}
	return "column"
}

// objects is the backend of Helm's drivers secret and configmap: one object of the cluster per record.
type objects struct {
	objectKind string // Secret or ConfigMap
	resource   string // secrets or configmaps
	meta       metadata.Getter
	core       rest.Interface
}

var _ Backend = objects{}

func newObjects(kind, resource string, meta metadata.Interface, core rest.Interface) objects {
	return objects{objectKind: kind, resource: resource, meta: meta.Resource(corev1.SchemeGroupVersion.WithResource(resource)), core: core}
}

// Resource returns secrets or configmaps.
func (o objects) Resource() string { return o.resource }

// Kind returns the kind of the objects.
func (o objects) Kind() string { return o.objectKind }

// Close does nothing: the clients belong to the caller.
func (o objects) Close() error { return nil }

// List reads the metadata of the records page by page, and keeps only what it returns.
func (o objects) List(ctx context.Context, namespace string, selector labels.Selector) ([]Listed, error) {
	opts := metav1.ListOptions{LabelSelector: selector.String(), Limit: pageSize}
	var found []Listed
	for range maxPages {
		page, err := o.meta.Namespace(namespace).List(ctx, opts)
		if apierrors.IsResourceExpired(err) && opts.Continue != "" {
			// The snapshot behind the pages was compacted. The pages so far may not match the later ones, so the
			// list starts again, in one request that cannot expire.
			found, opts.Continue, opts.Limit = nil, "", 0
			continue
		}
		if err != nil {
			return nil, o.withPermissionHint("list", namespace, fmt.Errorf("list %s in %s: %w", o.resource, inNamespace(namespace), err))
		}
		for i := range page.Items {
			found = append(found, o.listed(&page.Items[i]))
		}
		if page.Continue == "" {
			return found, nil
		}
		if page.Continue == opts.Continue || len(page.Items) == 0 {
			return nil, o.endlessError(namespace) // the page leads to itself, or is empty
		}
		opts.Continue = page.Continue
	}
	return nil, o.endlessError(namespace)
}

// listed reads the metadata of one record.
func (o objects) listed(m *metav1.PartialObjectMetadata) Listed {
	l := Listed{Namespace: m.Namespace, Labels: m.Labels, Created: m.CreationTimestamp.Time,
		Entry: Entry{Name: m.Name, Release: m.Labels["name"], Status: m.Labels["status"], ResourceVersion: m.ResourceVersion}}
	version, ok := m.Labels["version"]
	revision, err := strconv.Atoi(version)
	switch {
	case l.Release == "":
		l.Problem = o.labelError(m, errors.New("it has no label name"))
	case !ok:
		l.Problem = o.labelError(m, errors.New("it has no label version"))
	case err != nil || revision < 1:
		l.Problem = o.labelError(m, fmt.Errorf("its label version is %q, not a revision", version))
	default:
		l.Revision = revision
	}
	return l
}

// labelError is the error of a record whose labels do not name its release and revision. If the record were
// ignored, an older revision could become the last one.
func (o objects) labelError(m *metav1.PartialObjectMetadata, cause error) error {
	err := withHint(fmt.Errorf("%s is labelled as a release record of Helm, but %w", storedAs(o, m.Namespace, m.Name), cause),
		"Helm takes every %s with the label owner=helm for a release record; correct the labels of this one, "+
			"or remove the label owner if it is something else", o.objectKind)
	return report.About(err, recordSubject(o, "read", m.Namespace, m.Name, cause.Error()))
}

// endlessError is the error of a list that does not end.
func (o objects) endlessError(namespace string) error {
	return withHint(fmt.Errorf("list %s in %s: the server sends pages without an end", o.resource, inNamespace(namespace)),
		"a proxy in front of the API server may be broken or hostile: see what kubectl get %s %s --chunk-size=%d does",
		o.resource, namespaceFlag(namespace), pageSize)
}

// withPermissionHint adds the needed permissions to the error of a forbidden request, and returns other errors
// unchanged.
func (o objects) withPermissionHint(verb, namespace string, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	other := "get"
	if verb == "get" {
		other = "list"
	}
	return withHint(err, "reading a release needs the verbs %s and %s on %s in %s; "+
		"see what you may do there with: kubectl auth can-i %s %s %s",
		verb, other, o.resource, inNamespace(namespace), verb, o.resource, namespaceFlag(namespace))
}

// inNamespace names a namespace in messages. The empty one is all namespaces.
func inNamespace(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// namespaceFlag returns kubectl's flag for one namespace or for all.
func namespaceFlag(namespace string) string {
	if namespace == "" {
		return "-A"
	}
	return "-n " + namespace
}

// Text reads the object that holds a record.
func (o objects) Text(ctx context.Context, namespace, name string) (text []byte, problem, err error) {
	request := o.core.Get().Namespace(namespace).Resource(o.resource).Name(name)
	if o.objectKind == kindConfigMap {
		var holder corev1.ConfigMap
		if err := request.Do(ctx).Into(&holder); err != nil {
			return nil, nil, o.getError(namespace, name, err)
		}
		stored, found := holder.Data[recordKey]
		return []byte(stored), missingText(found), nil
	}
	var holder corev1.Secret
	if err := request.Do(ctx).Into(&holder); err != nil {
		return nil, nil, o.getError(namespace, name, err)
	}
	text, found := holder.Data[recordKey]
	wrongType := CheckType(string(holder.Type), "a Secret that was restored by hand must be created with --type="+RecordType+
		"; remove the label owner if it is no release record")
	return text, cmp.Or(wrongType, missingText(found)), nil
}

func (o objects) getError(namespace, name string, err error) error {
	return o.withPermissionHint("get", namespace, fmt.Errorf("get %s: %w", storedAs(o, namespace, name), err))
}

// missingText returns an error if an object has no text of a record.
func missingText(found bool) error {
	if found {
		return nil
	}
	return unreadableRecord(fmt.Errorf("its data has no text under %q", recordKey))
}

// CheckType returns an error for the type of a Secret or row that is not a record in the known format. ConfigMaps
// have no type. Hint is the advice for a type that is not Helm's.
func CheckType(got, hint string) error {
	switch {
	case got == RecordType:
		return nil
	case strings.HasPrefix(got, recordTypeAny):
		return NewerFormat(fmt.Errorf("its type is %.60q, a record format that this version does not know", got))
	default:
		return withHint(fmt.Errorf("its type is %.60q, not %s", got, RecordType), "%s", hint)
	}
}
