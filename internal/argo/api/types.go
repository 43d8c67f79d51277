package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file has the fields of Argo CD's objects that decide what a sync writes. The types are our own: those of Argo CD would link a large
// part of it.

// Metadata is the metadata that matters here.
type Metadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Annotations map[string]string `json:"annotations"`
	Finalizers  []string          `json:"finalizers"`
	Deleted     string            `json:"deletionTimestamp"`
}

// Application is an object of this kind (argo-cd v3.6.1 pkg/apis/application/v1alpha1/types.go Application).
type Application struct {
	Metadata Metadata `json:"metadata"`
	Spec     spec     `json:"spec"`
	Status   status   `json:"status"`
	// Operation is set while somebody has asked for a sync that has not begun.
	Operation json.RawMessage `json:"operation"`
	// Dropped says why Argo CD deletes it although it is not being deleted yet, and Fault is why it could not be decoded. Kept says why it
	// stays as it is although a working tree says something else.
	Dropped string `json:"-"`
	Kept    string `json:"-"`
	Fault   error  `json:"-"`
	// Instance is its name in the marks of Argo CD, if that is known to be another one than its own.
	Instance string `json:"-"`
	// InTree is set if a working tree makes it, and trusted are the repositories that the Application in the cluster names.
	InTree  bool            `json:"-"`
	Trusted map[string]bool `json:"-"`
}

// InstanceName returns its name in the marks of Argo CD.
func (a *Application) InstanceName() string { return cmp.Or(a.Instance, a.Metadata.Name) }

// IsForeign reports whether only a working tree names a repository. Whoever proposes a change to the tree has chosen that address.
func (a *Application) IsForeign(address string) bool { return a.InTree && !a.Trusted[address] }

// Goes says why the Application goes, or returns "".
func (a *Application) Goes() string {
	if a.Metadata.Deleted != "" {
		return "the Application is being deleted"
	}
	return a.Dropped
}

// IsSkipped reports whether an annotation keeps the controller from looking at the Application, also if somebody syncs or deletes it
// (argo-cd v3.6.1 controller/appcontroller.go canProcessAppWithDestination).
func (a *Application) IsSkipped() bool {
	is, err := strconv.ParseBool(a.Metadata.Annotations[SkipAnnotation])
	return err == nil && is
}

// SkipAnnotation keeps the controller from looking at an Application.
const SkipAnnotation = "argocd.argoproj.io/skip-reconcile"

// Finalizer makes Argo CD delete the objects of an Application that goes. It may have a stage behind a slash.
const Finalizer = "resources-finalizer.argocd.argoproj.io"

// Cascades reports whether the objects of the Application go with it (types.go CascadedDeletion).
func (a *Application) Cascades() bool {
	return slices.ContainsFunc(a.Metadata.Finalizers, func(f string) bool { return f == Finalizer || strings.HasPrefix(f, Finalizer+"/") })
}

// Propagation returns how Argo CD deletes what the Application has made: in the foreground, in the background, or with orphan, so that what
// the deleted objects own stays (types.go GetPropagationPolicy, argo-cd v3.6.1 controller/sync.go SyncAppState).
func (a *Application) Propagation() string {
	if a.Goes() != "" {
		if slices.Contains(a.Metadata.Finalizers, Finalizer+"/background") {
			return "background"
		}
		return "foreground"
	}
	for _, policy := range []string{"background", "foreground", "orphan"} {
		if slices.Contains(a.Spec.SyncPolicy.SyncOptions, "PrunePropagationPolicy="+policy) {
			return policy
		}
	}
	return "foreground"
}

// Has reports whether the controller has seen that an object belongs to the Application, in its sources or in the cluster.
func (a *Application) Has(key object.Key) bool {
	return slices.ContainsFunc(a.Status.Resources, func(r resource) bool {
		return !r.Hook && key == object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	})
}

// HasChangedNamespace reports whether spec.syncPolicy.managedNamespaceMetadata is another one than at the last sync (types.go
// HasChangedManagedNamespaceMetadata).
func (a *Application) HasChangedNamespace() bool {
	is, state := a.Spec.SyncPolicy.ManagedNamespaceMetadata, a.Status.OperationState
	return is != nil && state != nil && state.SyncResult != nil && !reflect.DeepEqual(is, state.SyncResult.ManagedNamespaceMetadata)
}

// HasGroup reports whether an object of an API group belongs to the Application.
func (a *Application) HasGroup(group string) bool {
	return slices.ContainsFunc(a.Status.Resources, func(r resource) bool { return !r.Hook && r.Group == group })
}

// spec is what the Application asks for.
type spec struct {
	Source            *Source            `json:"source"`
	Sources           []Source           `json:"sources"`
	SourceHydrator    json.RawMessage    `json:"sourceHydrator"`
	Destination       Destination        `json:"destination"`
	Project           string             `json:"project"`
	SyncPolicy        syncPolicy         `json:"syncPolicy"`
	IgnoreDifferences []IgnoreDifference `json:"ignoreDifferences"`
}

// Destination names a cluster and a namespace.
type Destination struct {
	Server    string `json:"server"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Source is where manifests come from.
type Source struct {
	RepoURL        string           `json:"repoURL"`
	Path           string           `json:"path"`
	TargetRevision string           `json:"targetRevision"`
	Chart          string           `json:"chart"`
	Ref            string           `json:"ref"`
	Name           string           `json:"name"`
	TagPrefix      string           `json:"tagPrefix"`
	Helm           *HelmSource      `json:"helm"`
	Directory      *DirectorySource `json:"directory"`
	Kustomize      *KustomizeSource `json:"kustomize"`
	Plugin         json.RawMessage  `json:"plugin"`
}

// HelmSource says how a chart is rendered.
type HelmSource struct {
	ReleaseName             string          `json:"releaseName"`
	ValueFiles              []string        `json:"valueFiles"`
	IgnoreMissingValueFiles bool            `json:"ignoreMissingValueFiles"`
	Values                  string          `json:"values"`
	ValuesObject            json.RawMessage `json:"valuesObject"`
	Parameters              []parameter     `json:"parameters"`
	FileParameters          []fileParameter `json:"fileParameters"`
	SkipCRDs                bool            `json:"skipCrds"`
	SkipSchemaValidation    bool            `json:"skipSchemaValidation"`
	KubeVersion             string          `json:"kubeVersion"`
	APIVersions             []string        `json:"apiVersions"`
	Namespace               string          `json:"namespace"`
	// SkipTests leaves out the hooks of helm test. Version is that of helm, and PassCredentials is about fetching what is not in charts/.
	SkipTests       bool   `json:"skipTests"`
	Version         string `json:"version"`
	PassCredentials bool   `json:"passCredentials"`
}

// isZero reports whether it says nothing (types.go IsZero).
func (h *HelmSource) isZero() bool {
	inline, _ := h.Inline() // it was decoded from JSON
	return h.Version+h.ReleaseName+h.KubeVersion+h.Namespace == "" && len(inline) == 0 &&
		len(h.ValueFiles)+len(h.Parameters)+len(h.FileParameters)+len(h.APIVersions) == 0 &&
		!h.PassCredentials && !h.IgnoreMissingValueFiles && !h.SkipCRDs && !h.SkipTests && !h.SkipSchemaValidation
}

// KustomizeSource says what Argo CD changes in a kustomization before it builds it. What kustomize gives to helm is not here.
type KustomizeSource struct {
	NamePrefix                string                 `json:"namePrefix"`
	NameSuffix                string                 `json:"nameSuffix"`
	Namespace                 string                 `json:"namespace"`
	Images                    []string               `json:"images"`
	Replicas                  []replicas             `json:"replicas"`
	CommonLabels              map[string]string      `json:"commonLabels"`
	ForceCommonLabels         bool                   `json:"forceCommonLabels"`
	LabelWithoutSelector      bool                   `json:"labelWithoutSelector"`
	LabelIncludeTemplates     bool                   `json:"labelIncludeTemplates"`
	CommonAnnotations         map[string]string      `json:"commonAnnotations"`
	ForceCommonAnnotations    bool                   `json:"forceCommonAnnotations"`
	CommonAnnotationsEnvsubst bool                   `json:"commonAnnotationsEnvsubst"`
	Patches                   []kustomizetypes.Patch `json:"patches"`
	Components                []string               `json:"components"`
	IgnoreMissingComponents   bool                   `json:"ignoreMissingComponents"`
	// Version names a kustomize that the administrator of Argo CD has added. KubeVersion and APIVersions are for helm.
	Version     string   `json:"version"`
	KubeVersion string   `json:"kubeVersion"`
	APIVersions []string `json:"apiVersions"`
}

// isZero reports whether it says nothing (types.go IsZero).
func (k *KustomizeSource) isZero() bool {
	return k.NamePrefix+k.NameSuffix+k.Version+k.Namespace+k.KubeVersion == "" && !k.IgnoreMissingComponents &&
		len(k.Images)+len(k.Replicas)+len(k.CommonLabels)+len(k.CommonAnnotations)+len(k.Patches)+len(k.Components)+len(k.APIVersions) == 0
}

type replicas struct {
	Name  string             `json:"name"`
	Count intstr.IntOrString `json:"count"`
}

type parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString"`
}

type fileParameter struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// DirectorySource says which files of a folder are manifests.
type DirectorySource struct {
	Recurse bool            `json:"recurse"`
	Include string          `json:"include"`
	Exclude string          `json:"exclude"`
	Jsonnet json.RawMessage `json:"jsonnet"`
	// DisableExtensionFilter is set if files with other extensions than those of YAML and JSON count, too.
	DisableExtensionFilter bool `json:"disableExtensionFilter"`
}

type syncPolicy struct {
	Automated   *automated `json:"automated"`
	SyncOptions []string   `json:"syncOptions"`
	// ManagedNamespaceMetadata is what the sync sets on the namespace with CreateNamespace=true.
	ManagedNamespaceMetadata *namespaceMetadata `json:"managedNamespaceMetadata"`
}

// namespaceMetadata is metadata of a namespace.
type namespaceMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type automated struct {
	Enabled    *bool `json:"enabled"`
	Prune      bool  `json:"prune"`
	SelfHeal   bool  `json:"selfHeal"`
	AllowEmpty bool  `json:"allowEmpty"`
}

// IgnoreDifference says what is ignored of the objects that it names.
type IgnoreDifference struct {
	Group                 string   `json:"group"`
	Kind                  string   `json:"kind"`
	Name                  string   `json:"name"`
	Namespace             string   `json:"namespace"`
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
	// From names it in messages.
	From string `json:"-"`
	// IsOverwritten is set if a sync overwrites it even with RespectIgnoreDifferences.
	IsOverwritten bool `json:"-"`
}

// status is what the controller says.
type status struct {
	Sync struct {
		Status    string   `json:"status"`
		Revision  string   `json:"revision"`
		Revisions []string `json:"revisions"`
		// ComparedTo is what that status is about.
		ComparedTo struct {
			Source  Source   `json:"source"`
			Sources []Source `json:"sources"`
		} `json:"comparedTo"`
	} `json:"sync"`
	History        []historyEntry  `json:"history"`
	Resources      []resource      `json:"resources"`
	OperationState *operationState `json:"operationState"`
}

// historyEntry is a full sync that succeeded.
type historyEntry struct {
	ID int `json:"id"`
	synced
}

// synced says which sources a sync had, and their revisions. It has either one source or several.
type synced struct {
	Revision  string   `json:"revision"`
	Revisions []string `json:"revisions"`
	Source    *Source  `json:"source"`
	Sources   []Source `json:"sources"`
}

// all returns the sources and their revisions, and false if there are none.
func (s synced) all() (sources []Source, revisions []string, found bool) {
	if len(s.Sources) > 0 {
		return s.Sources, s.Revisions, true
	}
	if s.Source == nil {
		return nil, nil, false
	}
	return []Source{*s.Source}, []string{s.Revision}, true
}

// resource is an object that the controller found in the sources or in the cluster.
type resource struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Hook      bool   `json:"hook"`
}

// operationState is the last sync, or the one that is under way.
type operationState struct {
	Phase      string    `json:"phase"`
	Operation  operation `json:"operation"`
	SyncResult *struct {
		synced
		Resources []SyncedResource `json:"resources"`
		// ManagedNamespaceMetadata is what that sync has set.
		ManagedNamespaceMetadata *namespaceMetadata `json:"managedNamespaceMetadata"`
	} `json:"syncResult"`
}

// operation is a sync that somebody or the controller has asked for.
type operation struct {
	Sync struct {
		// Resources are the objects of a partial sync. A full one has none.
		Resources []resource `json:"resources"`
		DryRun    bool       `json:"dryRun"`
		Prune     bool       `json:"prune"`
		// SyncOptions take the place of those of the Application.
		SyncOptions []string `json:"syncOptions"`
		// Manifests are objects that somebody has synced in the place of those of the sources.
		Manifests []string `json:"manifests"`
	} `json:"sync"`
}

// UnderWay returns the sync that has been asked for, or has begun and not ended (argo-cd v3.6.1 controller/appcontroller.go
// isOperationInProgress), or nil.
func (a *Application) UnderWay() *operation {
	var asked operation
	switch is := a.Status.OperationState; {
	case IsSet(a.Operation) && json.Unmarshal(a.Operation, &asked) == nil:
		return &asked
	case is != nil && (is.Phase == "Running" || is.Phase == "Terminating"):
		return &is.Operation
	}
	return nil
}

// SyncedResource is an object of the last sync.
type SyncedResource struct {
	resource
	HookType string `json:"hookType"`
}

// Sources returns the sources of the Application.
func (a *Application) Sources() (out []Source) {
	if len(a.Spec.Sources) > 0 {
		out = slices.Clone(a.Spec.Sources)
	} else if a.Spec.Source != nil {
		out = []Source{*a.Spec.Source}
	}
	for i := range out {
		out[i].normalize()
	}
	return out
}

// normalize removes what says nothing, as the controller does, so that it does not decide what the source is (argo-cd v3.6.1
// util/argo/argo.go NormalizeSource).
func (s *Source) normalize() {
	if s.Kustomize != nil && s.Kustomize.isZero() {
		s.Kustomize = nil
	}
	if s.Helm != nil && s.Helm.isZero() {
		s.Helm = nil
	}
	if d := s.Directory; d != nil && !d.Recurse && !d.DisableExtensionFilter && !d.HasJsonnet() && d.Include+d.Exclude == "" {
		s.Directory = nil
	}
}

// HasJsonnet reports whether the source says how jsonnet is evaluated.
func (d *DirectorySource) HasJsonnet() bool { return IsSet(d.Jsonnet) && string(d.Jsonnet) != "{}" }

// Found returns the commit that the controller has found for a source, or "" if it has not compared the source as it is now.
func (a *Application) Found(number int) string {
	was, revisions := a.compared()
	if all := a.Sources(); number < min(len(was), len(revisions), len(all)) {
		x, y := was[number], all[number]
		if x.RepoURL == y.RepoURL && x.TargetRevision == y.TargetRevision && x.TagPrefix == y.TagPrefix {
			return revisions[number]
		}
	}
	return ""
}

// WasInSync reports whether the controller has found the Application in sync with its sources as they are now, at these revisions.
func (a *Application) WasInSync(revisions []string) bool {
	sources, was := a.compared()
	return a.Status.Sync.Status == "Synced" && slices.Equal(was, revisions) && HaveSameSources(sources, a.Sources())
}

// compared returns the sources that the controller has compared last, and their revisions.
func (a *Application) compared() (sources []Source, revisions []string) {
	is := a.Status.Sync
	if len(a.Spec.Sources) > 0 {
		return is.ComparedTo.Sources, is.Revisions
	}
	return []Source{is.ComparedTo.Source}, []string{is.Revision}
}

// Synced returns the sources and the revisions of the last full sync that succeeded, and false if there was none. With
// revisionHistoryLimit: 0 there is no history, and the last sync counts if it was such a one.
func (a *Application) Synced() (sources []Source, revisions []string, found bool) {
	if n := len(a.Status.History); n > 0 {
		return a.Status.History[n-1].all()
	}
	state := a.Status.OperationState
	if state == nil || state.SyncResult == nil || state.Phase != "Succeeded" {
		return nil, nil, false
	}
	if sync := state.Operation.Sync; sync.DryRun || len(sync.Resources) > 0 {
		return nil, nil, false
	}
	return state.SyncResult.all()
}

// IsAutomated reports whether the controller syncs by itself (types.go IsAutomatedSyncEnabled).
func (a *Application) IsAutomated() bool {
	auto := a.Spec.SyncPolicy.Automated
	return auto != nil && (auto.Enabled == nil || *auto.Enabled)
}

// Inline returns the values in the Application as text, or nil if it has none. valuesObject counts before values (argo-cd v3.6.1
// pkg/apis/application/v1alpha1/values.go ValuesYAML).
func (h *HelmSource) Inline() ([]byte, error) {
	if IsSet(h.ValuesObject) {
		return yaml.JSONToYAML(h.ValuesObject)
	}
	return []byte(h.Values), nil
}

// HaveSameSources reports whether two lists of sources say the same.
func HaveSameSources(a, b []Source) bool {
	return slices.EqualFunc(a, b, func(a, b Source) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return string(x) == string(y)
	})
}

// IsSet reports whether a field that is not decoded is there.
func IsSet(raw []byte) bool { return len(raw) > 0 && string(raw) != "null" }

// CheckTypes returns an error if a field of an Application, or of a patch of one, has another type than Argo CD gives it.
func CheckTypes(content map[string]any) error {
	text, err := json.Marshal(content)
	if err == nil {
		err = json.Unmarshal(text, &Application{})
	}
	if wrong, isType := errors.AsType[*json.UnmarshalTypeError](err); isType {
		return fmt.Errorf("%s is a %s, which is another type than Argo CD gives it", wrong.Field, wrong.Value)
	}
	return err
}
