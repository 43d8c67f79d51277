// Package appset finds the Applications that a working tree makes: those in its files, and those that ApplicationSets generate. It is a
// part of the guest internal/argo.
//
//	files ─► documents ─┬─► Applications ──────────────────────────────────────────────► Answer.Made
//	                    └─► ApplicationSets ─► generators ─► parameters ─► template ────────▲
//	                                              ▲
//	                                              └── folders and files of the tree
//
// Argo CD applies a folder of Applications because another Application names it, or because somebody has applied it. The second is in no
// file, so [Build] takes every Application in the files below the folder that the user names, except templates of charts. What an
// Application of the tree makes itself is rendered by internal/argo, which calls Build again for the documents.
//
// # Generators
//
// list, git, matrix and merge need nothing but the tree. The others ask clusters and servers, so a set that has one is a problem of the
// answer, and the answer has the Applications of its other generators. If a generator or a template fails, the set makes nothing, since
// Argo CD then changes nothing. Parameters, the plain form {{name}} and templates of Go with the functions of sprig follow argo-cd v3.6.1
// applicationset.
//
// # A tree is foreign text
//
// Somebody who opens a pull request writes the tree, and a template can loop. A caller runs Build in a child process within limits of time
// and memory. Build starts no program and opens no connection; its templates read no environment and ask no server for a name. Files come
// through os.Root, so no link leads out of the tree, and nothing below a folder .git is read.
//
// The tree is taken as if all of it were committed: files that Git ignores are part of it.
package appset
