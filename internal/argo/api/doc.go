// Package api has the objects of Argo CD that decide what a sync writes: Applications, projects with their windows, and the settings in
// argocd-cm. It fetches no source and decides nothing.
//
//	the cluster, or a working tree ─► Read, Decoded ─► Application ─► Sources, Synced, CheckDestination
//	the cluster ─► ReadProject ─► Project ─► Closed: no window lets it sync now; Forbids: the sync fails
//	            └► ReadSettings ─► Settings: marks, and what is ignored for all Applications
//
// The types are our own: those of Argo CD would link a large part of it. They have the fields that helmdrift reads.
//
// The tests of this folder have tables of projects. Windows, settings and destinations are tested with the decision, in internal/argo.
package api
