// Package tree builds a working tree of Git as Flux's kustomize-controller would build a commit with the same files: it returns every
// object that Flux would apply, and says which Kustomization of Flux makes it. It is a part of the guest internal/flux.
//
//	folder ─► artifact: what source-controller keeps ─► kustomization.yaml, found or generated ─► kustomize ─► variables ─► objects ─┐
//	             ▲                                                                                                                  │
//	             └────────────── source of the tree? ◄──── Kustomizations of Flux among them ◄──────────────────────────────────────┘
//
// [Build] begins with the folder that the user names. If a Kustomization in it builds that folder itself, as "flux bootstrap" writes it,
// the folder is built with its settings. If none does, the caller may know one of the cluster ([Candidate]). Every further Kustomization is
// built once. Its source must be a branch of the tree: worktree.Find says which remotes the tree has, and a [LocalSource] maps a source to
// another folder. What cannot be built is a [Problem], never silence.
//
// # A tree is foreign text
//
// Somebody who opens a pull request writes the tree, so a caller runs Build in a child process within limits. Build starts no program,
// opens no connection and writes no file: package kustomize sees to that.
//
// A caller may fetch remote bases and decrypt what SOPS encrypted ([Outside]). What was decrypted is in Answer.Secrets and in no message.
//
// The artifact that Flux builds from has no symbolic links, because source-controller leaves them out. So there are none here either,
// and a path through one is refused. Of the folder .git only the file config is read, for the remotes.
//
// The tree is taken as if all of it were committed: files that Git ignores are part of it.
//
// # YAML
//
// Kustomize reads the files, and what it accepts is accepted. An object whose variables were replaced is read with sigs.k8s.io/yaml, so
// types are guessed anew (YAML 1.1), as in the controller. Of objects that come already rendered, documents that repeat a key are refused.
//
// # What is not known
//
// Encrypted values, and variables of a Secret that cannot be read, become unknown.Text or unknown.Any. The caller finds it again in what is
// rendered, and treats these fields as unknown. In the data of a Secret it is encoded in base64. A Problem says what it stands for.
//
// Objects that the tree gives no namespace have none here: kustomize-controller does not add one, and the API server then refuses objects
// of kinds that need one (fluxcd/pkg/ssa v0.76.1 errors/errors.go).
//
// # Tests
//
// The folders below testdata are trees with the objects that they make. TestTrees in test/gitops compares random trees with what the
// libraries of kustomize-controller make of them.
package tree
