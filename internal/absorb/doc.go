// Package absorb finds the changes of a values file that make a chart render what the cluster holds. It implements the command helmdrift
// absorb, except for flags and formats.
//
//	drift.Target ─► Run ─► drift.Compare: which fields drifted
//	                  ├──► internal/absorb/search: which values control them (it asks for renderings and knows nothing else)
//	                  │        ▲
//	                  │        └── ServeVariants: one chart rendered with many values, in this process or a child (internal/absorb/vary,
//	                  │            variants.go, variant_server.go)
//	                  ├──► the proof: the changed file is rendered, and the release is compared with that (prove.go)
//	                  ├──► patches of kustomize for what no value controls, proved too (patch.go, internal/absorb/kustomize)
//	                  └──► Absorption ─► Report: absorption.Result, masked (report.go)
//
// [File] is the values file: internal/valuesfile edits its text, so that every other byte stays ([RewriteValues]). [TreeFiles] are the
// files of a working tree, if a controller composes the values from several of them.
//
// # Secrets
//
// An [Absorption] holds values in clear. It never writes a secret into a value or a patch. If a field holds the content of a Secret of the
// release, a value whose name announces a secret, or another known secret, it is not absorbed, and the reason says so.
package absorb
