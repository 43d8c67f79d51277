package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/manifestdiff"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tokens"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Options say what a snapshot holds and how it describes itself.
type Options struct {
	// Helmdrift is the version of this program, and Time is when the cluster was read: a report from the snapshot predicts for that time.
	Helmdrift string
	Time      time.Time
	// Namespace is the namespace of the records, and Release is the name of the release that was compared.
	Namespace string
	Release   string
	// Chart is the chart that was compared too. It is empty if there was none.
	Chart string
	// IncludeSecrets keeps secrets as they are.
	IncludeSecrets bool
	// Learned are secrets besides those of the objects, as in drift.Options. It may be nil.
	Learned *drift.Secrets
	// ReadManifest reads the manifest of a record, as in drift.Options. By default the recorded connection does, or render.ReadDocuments.
	ReadManifest func(ctx context.Context, r *release.Record) ([]render.Document, error)
}

// Snapshot returns what was recorded, with secrets replaced unless the options say otherwise. First it reads what a later comparison of the
// same objects may need, with any chart. It fails if a manifest cannot be read, or if ctx ends.
func (r *Recorder) Snapshot(ctx context.Context, o Options) (*Snapshot, error) {
	r.complete(ctx, o.Namespace)
	readManifest := r.connection.ReadManifest
	if o.ReadManifest != nil {
		readManifest = o.ReadManifest
	} else if readManifest == nil {
		readManifest = func(_ context.Context, r *release.Record) ([]render.Document, error) {
			return render.ReadDocuments(r.Manifest), nil
		}
	}
	s := saver{Recorder: r, manifests: map[int][]render.Document{}}
	for revision, record := range r.records {
		documents, err := readManifest(ctx, record)
		if err != nil {
			return nil, err
		}
		s.manifests[revision] = documents
	}
	s.learn(o.Learned)
	if !o.IncludeSecrets {
		s.masker = tokens.NewMasker(s.known, s.publicNames(o))
	}
	out := &Snapshot{
		APIVersion: APIVersion, Kind: Kind, Helmdrift: o.Helmdrift, Time: o.Time.UTC().Truncate(time.Second), Masked: !o.IncludeSecrets,
		Cluster: r.connection.Name, Namespace: o.Namespace, Release: o.Release, Chart: o.Chart,
		Records: s.savedRecords(), Server: s.savedServer(), Objects: s.savedObjects(),
		Definitions: s.savedDefinitions(), Documents: s.savedDocuments(), Autoscalers: s.savedAutoscalers(), Lists: s.savedLists(),
		LookupServer: r.lookupServer, Lookups: s.savedLookups(), NamespacesUnread: r.namespacesUnread,
	}
	for namespace, going := range r.terminating {
		if going {
			out.Terminating = append(out.Terminating, namespace)
		}
	}
	slices.Sort(out.Terminating)
	for named, a := range r.releases {
		out.Releases = append(out.Releases, Release{named.Namespace, named.Name, a.installed, s.text(a.problem)})
	}
	order.Sort(out.Releases, func(a, b Release) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, errors.Join(append(s.errs, ctx.Err())...)
}

// saver makes a snapshot from what a Recorder has kept.
type saver struct {
	*Recorder
	manifests map[int][]render.Document
	known     *secret.Known
	// masker replaces secrets; nil keeps them.
	masker *tokens.Masker
	errs   []error
}

// learn collects the secrets in everything that is saved, and those that were learned elsewhere.
func (s *saver) learn(learned *drift.Secrets) {
	s.known = (&secret.Known{}).With((*secret.Known)(learned))
	for _, documents := range s.manifests {
		for _, o := range render.Objects(documents, render.ParseOptions{}).Objects {
			s.known.AddObject(o.Group, o.Kind, o.Content)
		}
	}
	for ref, l := range s.objects {
		s.known.AddObject(ref.Group, ref.Kind, l.Object)
	}
	for l, a := range s.lists {
		for _, item := range a.items {
			s.known.AddObject(l.kind.Group, l.kind.Kind, item)
		}
	}
	for _, a := range s.lookups {
		s.learnLookup(a.Body)
	}
}

// learnLookup adds the Secrets in the answer to a lookup, which is an object or a list.
func (s *saver) learnLookup(body []byte) {
	var found map[string]any
	if utiljson.Unmarshal(body, &found) != nil {
		return
	}
	kind, _ := found["kind"].(string)
	s.known.AddObject("", kind, found)
	for _, item := range object.Items(found, "items") {
		s.known.AddObject("", strings.TrimSuffix(kind, "List"), item)
	}
}

// publicNames returns the names that a report shows even if a Secret contains them.
func (s *saver) publicNames(o Options) []string {
	out := []string{o.Namespace, o.Release, s.connection.Name}
	for ref := range s.objects {
		out = append(out, ref.Namespace, ref.Name, ref.Kind, ref.APIVersion())
	}
	for _, record := range s.records {
		out = append(out, record.Namespace, record.Chart())
	}
	return out
}

// encode returns a value as JSON. A number keeps its type: one with a fraction or an exponent is decoded as a float again.
func (s *saver) encode(v any) json.RawMessage {
	text, err := json.Marshal(withFloats(v))
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("saving an object: %w", err))
	}
	return text
}

// object returns an object as JSON, with its secrets replaced, or nil if there is none.
func (s *saver) object(group, kind string, object map[string]any) json.RawMessage {
	switch {
	case object == nil:
		return nil
	case s.masker != nil:
		object = s.masker.Object(group, kind, object)
	}
	return s.encode(object)
}

// text returns a text for people without its secrets, as reports show it.
func (s *saver) text(text string) string {
	if s.masker == nil {
		return text
	}
	return s.known.Scrub(text)
}

// messages returns messages without their secrets.
func (s *saver) messages(in []report.Message) []report.Message {
	out := make([]report.Message, len(in))
	for i, m := range in {
		m.Message = s.text(m.Message)
		out[i] = m
	}
	return out
}

// savedRecords returns the records.
func (s *saver) savedRecords() Records {
	out := Records{Resource: s.resource, Kind: s.history.Kind, Entries: []Entry{}, Revisions: []Revision{}, LastProblem: s.text(s.lastProblem)}
	for _, e := range s.history.Entries {
		out.Entries = append(out.Entries, Entry{Name: e.Name, Revision: e.Revision, Status: e.Status, ResourceVersion: e.ResourceVersion})
	}
	for _, revision := range slices.Sorted(maps.Keys(s.records)) {
		out.Revisions = append(out.Revisions, s.savedRevision(s.records[revision]))
	}
	return out
}

// savedRevision returns one record.
func (s *saver) savedRevision(r *release.Record) Revision {
	out := Revision{
		StoredAs: r.StoredAs, Namespace: r.Namespace, Revision: r.Revision, Status: r.Status, ChartName: r.ChartName,
		ChartVersion: r.ChartVersion, ApplyMethod: release.ApplyMethodWord(r.ApplyMethod), Writer: r.Writer, Manifest: []Manifest{},
	}
	for _, d := range s.manifests[r.Revision] {
		out.Manifest = append(out.Manifest, Manifest{Source: d.Source, Object: s.savedDocument(d), Fault: d.Fault})
	}
	text := r.Manifest
	if s.masker != nil {
		text = manifestdiff.Masked(text, s.masker)
	}
	out.Text = &text
	for _, h := range r.Hooks {
		h.Manifest = identityOf(h)
		out.Hooks = append(out.Hooks, Hook(h))
	}
	if v := r.Values; v != nil {
		out.Config, out.Metadata, out.Defaults = s.values(v.Config), s.values(v.Metadata), s.values(v.Defaults)
	}
	return out
}

// identityOf returns what identifies the object of a hook, as a manifest, or "" if that is not known.
func identityOf(h release.Hook) string {
	ref := render.Hook{Text: h.Manifest}.Object(render.ParseOptions{}).Ref
	if ref.Kind == "" {
		return ""
	}
	var named unstructured.Unstructured
	named.SetGroupVersionKind(ref.GVK())
	named.SetNamespace(ref.Namespace)
	named.SetName(ref.Name)
	text, _ := json.Marshal(named.Object) // texts alone
	return string(text)
}

// savedDocument returns a document of a manifest. A document that is not a map holds no object.
func (s *saver) savedDocument(d render.Document) json.RawMessage {
	text := d.Text()
	if len(text) == 0 || d.Fault != "" {
		return nil
	}
	var content map[string]any
	if utiljson.Unmarshal(text, &content) == nil && content != nil {
		ref := object.RefOf(content)
		return s.object(ref.Group, ref.Kind, content)
	}
	var other any
	if err := json.Unmarshal(text, &other); err != nil || s.masker == nil {
		return json.RawMessage(text)
	}
	return s.encode(s.masker.Value(other))
}

// values returns values of a release. A text that cannot be decoded is left out: rendering would fail on it.
func (s *saver) values(texts release.Texts) (out []json.RawMessage) {
	for _, text := range texts {
		if s.masker != nil {
			// Helm decodes these numbers as float64, and encodes them again in the same way.
			var v any
			if err := json.Unmarshal(text, &v); err != nil {
				s.errs = append(s.errs, errors.New("the values of a record are not valid JSON"))
				continue
			}
			masked, err := json.Marshal(s.masker.Given(v))
			if err != nil {
				s.errs = append(s.errs, fmt.Errorf("saving the values of a record: %w", err))
			}
			text = masked
		}
		out = append(out, text)
	}
	return out
}

// savedServer returns what the server serves.
func (s *saver) savedServer() Server {
	out := Server{APIVersions: []string{}, Kinds: []ServedKind{}, Problem: s.text(s.versionProblem)}
	if c := s.capabilities; c != nil {
		out.Version, out.Major, out.Minor, out.APIVersions = c.KubeVersion.Version, c.KubeVersion.Major, c.KubeVersion.Minor, c.APIVersions
	} else if out.Problem == "" {
		out.Problem = "the server was not asked for its version"
	}
	for kind, namespaced := range s.scopes {
		out.Kinds = append(out.Kinds, ServedKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespaced: namespaced})
	}
	order.Sort(out.Kinds, func(a, b ServedKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	for _, group := range object.SortedKeys(s.undiscovered) {
		out.Undiscovered = append(out.Undiscovered, Undiscovered{Group: group, Warnings: s.messages(s.undiscovered[group])})
	}
	return out
}

// savedObjects returns the objects that were asked for.
func (s *saver) savedObjects() []Object {
	out := []Object{}
	for _, ref := range sortedRefs(s.objects) {
		l := s.objects[ref]
		out = append(out, Object{
			Group: ref.Group, Version: ref.Version, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
			Object: s.object(ref.Group, ref.Kind, l.Object), Absence: string(l.Absence), PlainStatus: l.PlainStatus, Error: l.Err.Map(s.text),
		})
	}
	return out
}

// savedDefinitions returns the definitions of custom kinds with their names and specs alone.
func (s *saver) savedDefinitions() (out []Definition) {
	for kind, a := range s.definitions {
		d := Definition{Group: kind.Group, Kind: kind.Kind, Warnings: s.messages(a.warnings)}
		if a.any {
			metadata := map[string]any{}
			for _, name := range []string{"name", "uid", "resourceVersion"} {
				metadata[name] = object.Child(a.found, "metadata")[name]
			}
			d.Object = s.encode(map[string]any{
				"apiVersion": a.found["apiVersion"], "kind": a.found["kind"], "metadata": metadata, "spec": a.found["spec"],
			})
		}
		out = append(out, d)
	}
	order.Sort(out, func(a, b Definition) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind)) })
	return out
}

// savedDocuments returns the OpenAPI documents of custom kinds.
func (s *saver) savedDocuments() (out []Document) {
	for gv, a := range s.documents {
		d := Document{Group: gv.Group, Version: gv.Version, Warnings: s.messages(a.warnings)}
		if a.any && json.Valid(a.found) {
			d.Document = a.found
		}
		out = append(out, d)
	}
	order.Sort(out, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	return out
}

// savedAutoscalers returns the autoscalers of each namespace.
func (s *saver) savedAutoscalers() (out []Autoscalers) {
	for _, namespace := range object.SortedKeys(s.autoscalers) {
		a := s.autoscalers[namespace]
		saved := Autoscalers{Namespace: namespace, Warnings: s.messages(a.warnings)}
		for _, key := range order.Sorted(maps.Keys(a.found), object.Key.Compare) {
			scaler := a.found[key]
			saved.Found = append(saved.Found, Autoscaler{
				Group: key.Group, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name,
				Autoscaler: scaler.Name, ToZero: scaler.ToZero, FromZero: scaler.FromZero, Paused: scaler.Paused,
			})
		}
		out = append(out, saved)
	}
	return out
}

// savedLists returns the lists.
func (s *saver) savedLists() (out []List) {
	for l, a := range s.lists {
		saved := List{Group: l.kind.Group, Version: l.kind.Version, Kind: l.kind.Kind, Namespace: l.namespace, Error: s.text(a.problem),
			Forbidden: a.forbidden}
		for _, item := range a.items {
			item = reduced(item)
			if s.masker != nil {
				item = s.masker.Item(l.kind.Group, l.kind.Kind, item)
			}
			saved.Items = append(saved.Items, s.encode(item))
		}
		out = append(out, saved)
	}
	order.Sort(out, func(a, b List) int {
		return cmp.Or(cmp.Compare(gvkOf(a).String(), gvkOf(b).String()), cmp.Compare(a.Namespace, b.Namespace))
	})
	return out
}

func gvkOf(l List) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: l.Group, Version: l.Version, Kind: l.Kind}
}
