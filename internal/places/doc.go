// Package places changes values where a working tree has them, if a controller composes the values of a release from several places. It
// knows no controller: internal/flux/keep has the places of a HelmRelease, and internal/argo those of an Application.
//
//	edits of the composed values ─► Editor.Rewrite ─► for each value the first layer that has it ─► Place.Apply ─► Editor.Changes
//	                                     │
//	                                     └── Values: what the controller composes of the layers, asked after each change
//
// An [Editor] writes no file. After each change it asks for the composed values, and refuses a change that does not lead to the wanted
// ones. A controller proves more: it reads the changed files again as its tree, and a [Proof] collects what that refutes.
//
// The cases of both are its tests: internal/flux/keep/testdata/places and internal/argo/testdata/places.
package places
