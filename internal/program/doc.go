// Package program runs other programs that the user has chosen: the post-renderer of --post-renderer, the downloader plugins of Helm that
// pkg/fetch finds, git, sops for --sops, and helmfile with the helm that it calls for --helmfile. Apart from these, helmdrift runs only the
// pager (internal/terminal), children of its own (internal/confine), and credential plugins of the kubeconfig.
//
//	manifest ──────► PostRenderer ───► the manifest as the program wants it
//	URL ───────────► Plugins ────────► a chart or a values file
//	commit ────────► Archive, Remote ► its files: of a working tree, or of a repository at an address
//	encrypted text ► Sops ───────────► the text in clear
//	helmfile ──────► Helmfile, Pass ─► what helmfile prints, and what the real helm prints for it
//
// Such a program has the user's rights, environment and files, because the user asked for it. It has limits all the same:
//
//   - in what it may print, because its output is read into memory. A program that prints more is killed at once;
//   - in time. A plugin has a limit of its own, and a post-renderer that of the rendering, which ctx has;
//   - in what it leaves behind when it is killed. On Unix it has a process group of its own, and the whole group is killed. Only on a
//     terminal it stays in the group of helmdrift, because there it may ask for a passphrase. A program that ends by itself may leave
//     others. On Linux the program is also killed when helmdrift is, even by a signal that helmdrift does not see.
//
// When a plugin has ended, the user sees its standard error, with its name in front and without the secrets known by then. If a
// post-renderer fails, its error quotes its standard error.
package program
