package argo

import (
	"encoding/json"
	"slices"
)

// This file has the fields of Argo CD's objects that decide what a sync writes. The types are our own: those of Argo CD would link a large part
// of it.

// meta is the metadata that matters here.
type meta struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Annotations map[string]string `json:"annotations"`
	Deleted     string            `json:"deletionTimestamp"`
}

// Application is an object of this kind (argo-cd v3.6.1 pkg/apis/application/v1alpha1/types.go Application).
type Application struct {
	Metadata meta   `json:"metadata"`
	Spec     spec   `json:"spec"`
	Status   status `json:"status"`
	// Operation is set while somebody has asked for a sync that has not begun.
	Operation json.RawMessage `json:"operation"`
	// fault is why it could not be decoded.
	fault error
	// inTree is set if a working tree makes it, and trusted are the repositories that the Application in the cluster names.
	inTree  bool
	trusted map[string]bool
}

// isForeign reports whether only a working tree names a repository. Whoever proposes a change to the tree has chosen that address.
func (a *Application) isForeign(address string) bool { return a.inTree && !a.trusted[address] }

// spec is what the Application asks for.
type spec struct {
	Source            *source            `json:"source"`
	Sources           []source           `json:"sources"`
	SourceHydrator    json.RawMessage    `json:"sourceHydrator"`
	Destination       destination        `json:"destination"`
	Project           string             `json:"project"`
	SyncPolicy        syncPolicy         `json:"syncPolicy"`
	IgnoreDifferences []ignoreDifference `json:"ignoreDifferences"`
}

type destination struct {
	Server    string `json:"server"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// source is where manifests come from.
type source struct {
	RepoURL        string           `json:"repoURL"`
	Path           string           `json:"path"`
	TargetRevision string           `json:"targetRevision"`
	Chart          string           `json:"chart"`
	Ref            string           `json:"ref"`
	Name           string           `json:"name"`
	Helm           *helmSource      `json:"helm"`
	Directory      *directorySource `json:"directory"`
	Kustomize      json.RawMessage  `json:"kustomize"`
	Plugin         json.RawMessage  `json:"plugin"`
}

// helmSource says how a chart is rendered.
type helmSource struct {
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

// directorySource says which files of a folder are manifests.
type directorySource struct {
	Recurse bool            `json:"recurse"`
	Include string          `json:"include"`
	Exclude string          `json:"exclude"`
	Jsonnet json.RawMessage `json:"jsonnet"`
}

type syncPolicy struct {
	Automated                *automated      `json:"automated"`
	SyncOptions              []string        `json:"syncOptions"`
	ManagedNamespaceMetadata json.RawMessage `json:"managedNamespaceMetadata"`
}

type automated struct {
	Enabled    *bool `json:"enabled"`
	Prune      bool  `json:"prune"`
	SelfHeal   bool  `json:"selfHeal"`
	AllowEmpty bool  `json:"allowEmpty"`
}

type ignoreDifference struct {
	Group                 string   `json:"group"`
	Kind                  string   `json:"kind"`
	Name                  string   `json:"name"`
	Namespace             string   `json:"namespace"`
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
	// from names it in messages.
	from string
}

// status is what the controller says.
type status struct {
	Sync struct {
		Status    string   `json:"status"`
		Revision  string   `json:"revision"`
		Revisions []string `json:"revisions"`
	} `json:"sync"`
	History        []historyEntry  `json:"history"`
	Resources      []resource      `json:"resources"`
	OperationState *operationState `json:"operationState"`
}

// historyEntry is a full sync that succeeded.
type historyEntry struct {
	ID        int      `json:"id"`
	Revision  string   `json:"revision"`
	Revisions []string `json:"revisions"`
	Source    *source  `json:"source"`
	Sources   []source `json:"sources"`
}

// resource is an object that the controller found in the sources or in the cluster.
type resource struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	Hook      bool   `json:"hook"`
}

// operationState is the last sync, or the one that is under way.
type operationState struct {
	Phase     string `json:"phase"`
	Operation struct {
		// Sync has the objects of a partial sync. A full one has none.
		Sync struct {
			Resources []resource `json:"resources"`
		} `json:"sync"`
	} `json:"operation"`
	SyncResult *struct {
		Revision  string           `json:"revision"`
		Revisions []string         `json:"revisions"`
		Source    *source          `json:"source"`
		Sources   []source         `json:"sources"`
		Resources []syncedResource `json:"resources"`
	} `json:"syncResult"`
}

// syncedResource is an object of the last sync.
type syncedResource struct {
	resource
	HookType string `json:"hookType"`
}

// sources returns the sources of the Application.
func (a *Application) sources() []source {
	if len(a.Spec.Sources) > 0 {
		return a.Spec.Sources
	}
	if a.Spec.Source != nil {
		return []source{*a.Spec.Source}
	}
	return nil
}

// synced returns the sources and the revisions of the last full sync that succeeded, and false if there was none.
func (a *Application) synced() (sources []source, revisions []string, found bool) {
	if len(a.Status.History) == 0 {
		return nil, nil, false
	}
	last := a.Status.History[len(a.Status.History)-1]
	if len(last.Sources) > 0 {
		return last.Sources, last.Revisions, true
	}
	if last.Source == nil {
		return nil, nil, false
	}
	return []source{*last.Source}, []string{last.Revision}, true
}

// isAutomated reports whether the controller syncs by itself (types.go IsAutomatedSyncEnabled).
func (a *Application) isAutomated() bool {
	auto := a.Spec.SyncPolicy.Automated
	return auto != nil && (auto.Enabled == nil || *auto.Enabled)
}

// haveSameSources reports whether two lists of sources say the same.
func haveSameSources(a, b []source) bool {
	return slices.EqualFunc(a, b, func(a, b source) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return string(x) == string(y)
	})
}
