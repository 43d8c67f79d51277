// Package fetch brings a chart to this machine: it turns whatever `helm upgrade` accepts as CHART into the path of a directory or
// an archive. It also reads values files.
//
//	reference, flags ─► Chart ─► locate: path, --repo, oci://, URL or repo/name ─► source: URL, credentials, digest
//	                                                                                  │
//	                      path ◄─ verify the signature ◄─ compare the digest ◄─ read ─┘
//
// A program uses it like this:
//
//	path, done, err := fetch.Chart(ctx, "repo/shop", fetch.Options{Version: "1.2.0", RepositoryConfig: file, RepositoryCache: dir})
//	if err != nil {
//		return err
//	}
//	defer done()
//
// Chart tries in this order, and sends the same credentials to the same servers as Helm (helm v3.22.0 pkg/action/install.go
// LocateChart and pkg/downloader/chart_downloader.go ResolveChartVersion):
//
//  1. A file or directory of that name, before everything else.
//  2. With --repo, the chart of that name in the index of that repository.
//  3. With oci://, a registry.
//  4. A URL, which a plugin fetches if Helm does not know its scheme (plugins.go). If the index of a known
//     repository lists it, the credentials of that repository are used.
//  5. Otherwise repo/name, in the index that `helm repo update` left on this machine.
//
// Helm's own packages talk to registries and check signatures. This package does the rest itself, because Helm's code prints to
// stdout, writes to its caches, takes no context, has passwords in its errors, and links its client for clusters.
//
// # What always holds
//
//   - The package writes only to one temporary directory, which the caller removes.
//   - A call ends when its context ends.
//   - An error has one line and contains no credentials: no password of a flag or a repository, and no user, password or query
//     of a URL.
//
// # Differences from Helm
//
//   - The digest that an index has for an archive is compared. Helm 3 ignores it.
//   - A chart can be fetched by its URL even if some index cannot be read.
//   - A downloader plugin (s3://, secrets:// ...) gets the URLs that the user gives, and those in the index of a repository
//     of the same scheme. Helm runs it for every URL of every index.
//   - No answer may be longer than 128 MiB. Helm itself loads no chart of more than 100 MiB.
//   - A registry without TLS needs PlainHTTP, as in Helm 4. Helm 3 falls back to plain HTTP if the server's answer is not TLS, and
//     anybody on the network path can send such an answer.
//   - After a redirect, credentials are sent to no other scheme or port. Helm leaves this to net/http, which looks only at the
//     host. PassCredentials lifts the restriction, but never from https to http.
//
// # Reading indexes
//
// Reading an index takes up to two hundred times its size in memory. With Options.ReadIndex, the caller can do that in a process
// that may fail.
package fetch
