// Package listing is the contract of helmdrift list, beside the report of a comparison: which releases there are. It is pure data without
// secrets. internal/output/schema has its JSON Schema with that of all reports, and
// TestSchemaHasEveryField in internal/output compares the two.
package listing

import (
	"cmp"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// List is the contract of helmdrift list: the last revisions of the selected releases.
type List struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	Releases   []Release `json:"releases"`
	// Errors are about what could not be searched for releases.
	Errors []report.ScanError `json:"errors,omitempty"`
}

// Release is the last revision of a release, deployed or not.
type Release struct {
	Name string `json:"name"`
	// Namespace is the namespace of the records, as for -n.
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Revision is 0 if the labels of a record do not name it.
	Revision int    `json:"revision,omitempty"`
	Status   string `json:"status,omitempty"`
	Chart    string `json:"chart,omitempty"`
	// Helm is the major version of the Helm that last wrote the record: "3" or "4". It is empty if the record does not show it.
	Helm        string             `json:"helm,omitempty"`
	ApplyMethod report.ApplyMethod `json:"applyMethod,omitempty"`
	// Created is when the record was stored.
	Created time.Time `json:"created,omitzero"`
	// Error is set if the record could not be read. The entry then has what its labels say.
	Error *report.ObjectError `json:"error,omitempty"`
}

// New returns the list of the releases, which it sorts by cluster, namespace and name.
func New(version string, now time.Time, releases []Release, errors []report.ScanError) *List {
	order.Sort(releases, func(a, b Release) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if releases == nil {
		releases = []Release{}
	}
	return &List{
		APIVersion: report.APIVersion, Kind: report.KindReleaseList, Helmdrift: version, Time: now.UTC().Truncate(time.Second),
		Releases: releases, Errors: errors,
	}
}

// HasError reports whether anything could not be searched or read.
func (l *List) HasError() bool {
	return len(l.Errors) > 0 || slices.ContainsFunc(l.Releases, func(r Release) bool { return r.Error != nil })
}
