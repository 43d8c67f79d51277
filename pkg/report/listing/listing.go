package report

import (
	"cmp"
	"slices"
	"time"
)

// ReleaseList is the contract of helmdrift list: the last revisions of the selected releases.
type ReleaseList struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Helmdrift  string          `json:"helmdrift"`
	Time       time.Time       `json:"time"`
	Releases   []ListedRelease `json:"releases"`
	// Errors are about what could not be searched for releases.
	Errors []ScanError `json:"errors,omitempty"`
}

// ListedRelease is the last revision of a release, deployed or not.
type ListedRelease struct {
	Name string `json:"name"`
	// Namespace is the namespace of the records, as for -n.
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Revision is 0 if the labels of a record do not name it.
	Revision int    `json:"revision,omitempty"`
	Status   string `json:"status,omitempty"`
	Chart    string `json:"chart,omitempty"`
	// Helm is the major version of the Helm that last wrote the record: "3" or "4". It is empty if the record does not show it.
	Helm        string      `json:"helm,omitempty"`
	ApplyMethod ApplyMethod `json:"applyMethod,omitempty"`
	// Created is when the record was stored.
	Created time.Time `json:"created,omitzero"`
	// Error is set if the record could not be read. The entry then has what its labels say.
	Error *ObjectError `json:"error,omitempty"`
}

// NewReleaseList returns the list of the releases, which it sorts by cluster, namespace and name.
func NewReleaseList(version string, now time.Time, releases []ListedRelease, errors []ScanError) *ReleaseList {
	slices.SortStableFunc(releases, func(a, b ListedRelease) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if releases == nil {
		releases = []ListedRelease{}
	}
	return &ReleaseList{
		APIVersion: APIVersion, Kind: KindReleaseList, Helmdrift: version, Time: now.UTC().Truncate(time.Second), Releases: releases,
		Errors: errors,
	}
}

// HasError reports whether anything could not be searched or read.
func (l *ReleaseList) HasError() bool {
	return len(l.Errors) > 0 || slices.ContainsFunc(l.Releases, func(r ListedRelease) bool { return r.Error != nil })
}
