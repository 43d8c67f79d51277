// Package source fetches the sources of an Application of Argo CD, and composes the values of a chart as the repo-server does.
//
//	Application ─► Fetcher.Folders ─┬► Folder.Values ─► files, --set expressions ─► Values.ReadFile
//	working tree ─► Local ──────────┘├► Folder.Manifests: the text of a folder of manifests
//	                                 └► Folder.Kustomize ─► KustomizeOrder.Build, in a child process: the objects of a kustomization
//
// A [Folder] is a source whose files are on this machine: a chart from a repository, a commit, or a folder of the working tree. No path of
// an Application leads out of the repository that it names, links included. Plugins and jsonnet are refused, since they are foreign
// programs. Package kustomize sees to it that a kustomization runs and fetches nothing.
//
// The files of this folder test the values, patterns and overrides. test/argocd/story compares what they make with the real repo-server.
package source
