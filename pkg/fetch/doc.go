// Package fetch brings a chart to this machine: whatever `helm upgrade` takes as CHART becomes the path of a directory or
// an archive.
//
// The order of the attempts, and who gets to see which credentials, are Helm's (helm v3.22.0 pkg/action/install.go
// LocateChart and pkg/downloader/chart_downloader.go ResolveChartVersion):
//
//  1. A file or directory of that name, before everything else.
//  2. With --repo, the chart of that name in the index of that repository.
//  3. oci://, from a registry.
//  4. A URL. Where the index of a known repository lists it, with the credentials of that repository.
//  5. repo/name, by the index that `helm repo update` left on this machine.
//
// Helm's own packages talk to servers and read indexes. The rest is here, because Helm's writes to stdout and into its
// caches, takes no context, and puts passwords into errors. This package writes to one temporary directory only, which
// the caller removes.
//
// Differences from Helm, all on purpose:
//
//   - The digest that an index gives for an archive is compared. Helm 3 does not look at it.
//   - An index that cannot be read does not keep a chart from being fetched by its URL.
//   - Downloader plugins (s3://, secrets:// ...) are not run: this program starts no other that it was not told to start.
//   - No answer may be longer than 128 MiB. Helm itself loads no chart of more than 100 MiB.
//   - A registry without TLS needs PlainHTTP, as in Helm 4. Helm 3 falls back to plain HTTP where a server answers so, and
//     anybody on the way can answer so.
//   - A redirect takes credentials to no other scheme or port; net/http, which Helm leaves this to, looks at the host alone.
//     PassCredentials allows it, but never from https to http.
//
// An index takes up to two hundred times its size to read. Options.ReadIndex can have that done where it may fail.
package fetch
