package snapshot

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// These are the first two keys of every snapshot.
const (
	APIVersion = report.APIVersion
	Kind       = "Snapshot"
)

// Snapshot is the content of a file: gzip of this as JSON. Objects are as the API server returned them, except that secrets are replaced if
// Masked is set. Lists are in a fixed order, so that equal answers make equal files.
type Snapshot struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	// Masked is set if secrets are replaced by tokens.
	Masked bool `json:"masked"`
	// Cluster is the name of the cluster in reports, and Namespace is the namespace of the records.
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Release   string `json:"release"`
	// Chart is the chart whose objects and lookups were captured too. It is empty if there was none.
	Chart string `json:"chart,omitempty"`

	Records     Records   `json:"records"`
	Releases    []Release `json:"releases,omitempty"`
	Server      Server    `json:"server"`
	Objects     []Object  `json:"objects"`
	Terminating []string  `json:"terminating,omitempty"`
	// NamespacesUnread are the messages about namespaces that could not be read.
	NamespacesUnread []report.Message `json:"namespacesUnread,omitempty"`
	Definitions      []Definition     `json:"definitions,omitempty"`
	Documents        []Document       `json:"openapi,omitempty"`
	Autoscalers      []Autoscalers    `json:"autoscalers,omitempty"`
	Lists            []List           `json:"lists,omitempty"`
	LookupServer     string           `json:"lookupServer,omitempty"`
	Lookups          []Lookup         `json:"lookups,omitempty"`
}

// Records are the release records: the list of all revisions, and the content of the revisions that a comparison needs.
type Records struct {
	// Resource and Kind describe the objects that hold the records. They are empty if the records are not in the cluster.
	Resource string  `json:"resource,omitempty"`
	Kind     string  `json:"kind,omitempty"`
	Entries  []Entry `json:"entries"`
	// Revisions are the records that were read.
	Revisions []Revision `json:"revisions"`
	// LastProblem says why the last record cannot be read. It is empty if it can.
	LastProblem string `json:"lastProblem,omitempty"`
}

// HasText reports whether the snapshot has the texts of its manifests.
func (s *Snapshot) HasText() bool {
	return !slices.ContainsFunc(s.Records.Revisions, func(r Revision) bool { return r.Text == nil })
}

// Entry is one record of the list.
type Entry struct {
	Name            string `json:"name"`
	Revision        int    `json:"revision"`
	Status          string `json:"status"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Revision is one record that was read. Namespace is the record's own.
type Revision struct {
	StoredAs     string     `json:"storedAs"`
	Namespace    string     `json:"namespace"`
	Revision     int        `json:"revision"`
	Status       string     `json:"status"`
	ChartName    string     `json:"chartName,omitempty"`
	ChartVersion string     `json:"chartVersion,omitempty"`
	ApplyMethod  string     `json:"applyMethod,omitempty"`
	Writer       string     `json:"writer,omitempty"`
	Manifest     []Manifest `json:"manifest"`
	// Text is the manifest itself, which only a diff needs. If secrets are replaced, comments and what cannot be searched are replaced
	// too. It is nil in snapshots of older versions.
	Text  *string `json:"manifestText,omitempty"`
	Hooks []Hook  `json:"hooks,omitempty"`
	// Config, Metadata and Defaults are the values that upgrades can reuse. A record can have several texts of each.
	Config   []json.RawMessage `json:"config,omitempty"`
	Metadata []json.RawMessage `json:"chartMetadata,omitempty"`
	Defaults []json.RawMessage `json:"chartValues,omitempty"`
}

// Manifest is one document of a manifest: an object, or the reason why it cannot be read.
type Manifest struct {
	Source string          `json:"source,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
	Fault  string          `json:"fault,omitempty"`
}

// Hook is one hook of a revision.
type Hook struct {
	Name           string   `json:"name"`
	Kind           string   `json:"kind"`
	Path           string   `json:"path,omitempty"`
	Events         []string `json:"events,omitempty"`
	Weight         int      `json:"weight,omitempty"`
	DeletePolicies []string `json:"deletePolicies,omitempty"`
	// Manifest has the version, kind, namespace and name of the object, and nothing else. It is empty in snapshots of older versions.
	Manifest string `json:"manifest,omitempty"`
}

// Release is another release that annotations of objects name. It says whether that release is installed, or why that could not be read.
type Release struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Installed bool   `json:"installed"`
	Problem   string `json:"problem,omitempty"`
}

// Server describes the API server and what it serves.
type Server struct {
	Version     string   `json:"version"`
	Major       string   `json:"major"`
	Minor       string   `json:"minor"`
	APIVersions []string `json:"apiVersions"`
	// Problem says why the version could not be read. It is empty if it could.
	Problem string `json:"problem,omitempty"`
	// Kinds are the served kinds, and Undiscovered are the groups whose kinds could not be discovered.
	Kinds        []ServedKind   `json:"kinds"`
	Undiscovered []Undiscovered `json:"undiscovered,omitempty"`
}

// ServedKind is a kind and whether its objects live in namespaces.
type ServedKind struct {
	Group      string `json:"group"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// Undiscovered is an API group that could not be discovered, with the warning of a chart that asks for it.
type Undiscovered struct {
	Group    string           `json:"group"`
	Warnings []report.Message `json:"warnings"`
}

// Object is the answer about one object that was asked for: the object, an absence or an error.
type Object struct {
	Group     string          `json:"group"`
	Version   string          `json:"version"`
	Kind      string          `json:"kind"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Object    json.RawMessage `json:"object,omitempty"`
	Absence   string          `json:"absence,omitempty"`
	// PlainStatus is set if the server has no status subresource for the kind.
	PlainStatus bool                `json:"plainStatus,omitempty"`
	Error       *report.ObjectError `json:"error,omitempty"`
}

// Definition is the answer about the CustomResourceDefinition of a kind, without status. It has no object if there is none.
type Definition struct {
	Group    string           `json:"group"`
	Kind     string           `json:"kind"`
	Object   json.RawMessage  `json:"object,omitempty"`
	Warnings []report.Message `json:"warnings,omitempty"`
}

// Document is the OpenAPI document of a group and version of custom kinds.
type Document struct {
	Group    string           `json:"group"`
	Version  string           `json:"version"`
	Document json.RawMessage  `json:"document,omitempty"`
	Warnings []report.Message `json:"warnings,omitempty"`
}

// Autoscalers are the autoscalers of a namespace.
type Autoscalers struct {
	Namespace string           `json:"namespace"`
	Found     []Autoscaler     `json:"found,omitempty"`
	Warnings  []report.Message `json:"warnings,omitempty"`
}

// Autoscaler sets the replicas of the object that the first four keys name.
type Autoscaler struct {
	Group      string `json:"group"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Autoscaler string `json:"autoscaler"`
	ToZero     bool   `json:"toZero,omitempty"`
	FromZero   bool   `json:"fromZero,omitempty"`
	Paused     bool   `json:"paused,omitempty"`
}

// List is a list of objects that was asked for, or the error of reading it. The objects lack what no forecast reads.
type List struct {
	Group     string            `json:"group"`
	Version   string            `json:"version"`
	Kind      string            `json:"kind"`
	Namespace string            `json:"namespace"`
	Items     []json.RawMessage `json:"items,omitempty"`
	Error     string            `json:"error,omitempty"`
	// Forbidden is set if the role does not allow the list.
	Forbidden bool `json:"forbidden,omitempty"`
}

// Lookup is what a template of the chart looked up, and the answer of the server.
type Lookup struct {
	Path        string `json:"path"`
	Accept      string `json:"accept,omitempty"`
	Status      string `json:"status"`
	Code        int    `json:"code"`
	ContentType string `json:"contentType,omitempty"`
	Body        string `json:"body,omitempty"`
	// Error is the error of the request. Then there is no answer.
	Error string `json:"error,omitempty"`
}
