// Package program runs the programs that the user has chosen and helmdrift did not write: the post-renderer of --post-renderer, and the
// downloader plugins of Helm that pkg/fetch finds. Apart from credential plugins of the kubeconfig, these are all.
//
//	manifest ─► PostRenderer ─► the manifest as the program wants it
//	URL ──────► Plugins ──────► a chart or a values file
//
// Such a program has the user's rights, environment and files, because the user asked for it. It is bounded all the same in what it may
// print, because its output is read into memory, and a plugin in how long it may run.
//
// What a plugin prints to its standard error is shown with its name when it has ended, without what is known to be secret by then. That
// of a post-renderer is quoted in the error if it fails.
package program
