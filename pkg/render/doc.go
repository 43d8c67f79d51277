// Package render creates the objects that Helm would send: from the manifest of a stored revision, or from a chart with its
// values.
//
//	manifest text ─────────────────────────────► Parse ─► objects, warnings, documents that cannot be read
//	                                               ▲
//	chart, values, old revision ─► Chart ─► manifest text ─┐
//	                                 └── a second manifest ┴─► what is new with every upgrade
//
// A program uses both like this:
//
//	manifest := render.Parse(text, render.ParseOptions{Namespace: "prod", Scope: cluster.Scope})
//	rendered, err := render.Chart(ctx, render.ChartOptions{Path: "./chart", ReleaseName: "web", Namespace: "prod",
//		LastRevision: 1, Capabilities: capabilities})
//
// The package creates no client. What depends on the cluster is passed in: as values (the capabilities, the configuration for
// lookups of templates) or as a function (the scope of a kind).
//
// # Manifest to objects
//
// Parse reads a manifest in the same steps as Helm, because another YAML library would read other objects: to Helm, "y" is
// true, 0644 is 420, and 12345678901234567890 is a float. The steps are (helm v3.22.0 pkg/kube/client.go Client.Build, on
// k8s.io/cli-runtime v0.37.1 pkg/resource):
//
//  1. The stream is split into documents (StreamVisitor.Visit, apimachinery util/yaml YAMLOrJSONDecoder). A line that begins
//     with "---" is a separator; comments have no meaning. A stream that begins with "{" is a series of JSON values.
//  2. Each document becomes JSON by YAML 1.1 rules (sigs.k8s.io/yaml): anchors and "<<" are expanded, the last of two equal
//     keys wins, and integers are exact up to 64 bits. Empty and null documents are dropped.
//  3. UnstructuredJSONScheme decodes it into an object. A document with a top-level "items" is a list, whatever its kind; a
//     kind that only ends in List is an object like any other.
//  4. Metadata must decode as ObjectMeta (metadataValidatingDecoder): a label that is a number is refused.
//  5. Lists are flattened (FlattenListVisitor), one level deep.
//  6. Objects of namespaced kinds that name no namespace get the default one (SetNamespace); those of cluster-scoped kinds
//     lose theirs (FilterNamespace). The cluster decides on the scope, never the text.
//
// Helm stops if a step fails. Parse continues, so that one bad document does not hide drift in the others. A document that
// cannot be read is an error of the Manifest; what Helm would refuse later is the Problem of an Object. Neither quotes the
// document, as the errors of the libraries do, because it may be a Secret.
//
// Two features do not come from Helm. Parse reads the template of an object from the "# Source:" comment at the head of its
// document; a post-rendered manifest may have no such comments. And Parse keeps an object once if the manifest has it more
// than once: Helm applies each in turn (Client.update visits the targets in order), so the last one wins.
//
// # Chart to manifest
//
// Chart does what `helm upgrade` does after it has read the record and before it writes to the cluster (pkg/action/upgrade.go
// prepareUpgrade, pkg/action/action.go renderResources). It uses Helm's public packages except pkg/action, which links clients
// and registries that have no use here. The steps are: load the chart, check its dependencies, choose values, process the
// dependencies, coalesce and validate the values, check kubeVersion, render, drop the notes, sort, post-render. The manifest
// equals Helm's byte for byte; a test compares it with the manifest of action.Upgrade.
//
// Helm 3 and Helm 4 do the same steps with libraries of their own. The libraries differ in what templates can call and see, in
// the nulls of values, in how they split a text into documents, and in the order of kinds. The common steps are written once;
// helm3.go and helm4.go have the rest. Chart does not follow Helm 4 in one point: Helm 4 by default passes the hooks through
// the post-renderer together with the manifest. Chart passes only the manifest, with a warning, because hooks cannot drift.
//
// # Values that are new with every upgrade
//
// A password made by randAlphaNum changes with each upgrade although nobody changed anything. If a chart calls such a function,
// it is rendered twice, and the caller compares the two manifests. The parse trees of the rendered templates, and of everything
// that they include, show which functions a chart calls. If tpl renders texts as templates, the values and files that may be
// such a text count too.
//
// Two renderings in a row hide two kinds of differences. They see nearly the same time, which is often printed as a day only,
// and `keys` mostly lists a map in the same order both times. Therefore the second rendering uses changed templates: their
// clock is a year ahead, and they reverse the lists of keys. If a chart fails with these changes, it is rendered once more
// without them.
//
// # Errors
//
// A problem with a chart or its values is an Error, with file and line as far as Helm reports them, and a hint if there is
// something to try. Helm's own errors quote values, texts given to tpl and rendered documents. Chart removes these
// quotations, and removes from the rest what ChartOptions.Known knows; Known learns the values before Helm sees them.
//
// Helm's loader refuses paths in an archive that lead out of it, and charts that unpack to more than 100 MiB. Archives within
// archives each have a limit of their own. A template can loop for ever and fill the memory, and so can YAML: a caller of Chart
// or ReadDocuments must bound its time and memory from outside (internal/confine), unless NeedsNoBounds allows the manifest.
// Aliases that would make a document larger than the API server accepts are not expanded. If ReadDocuments runs in another
// process, it sends the documents back, and the caller passes them to Objects; internal/jobs estimates the memory for comparing
// the objects.
//
// Helm's libraries log to the standard loggers (Helm 3 through log, Helm 4 through slog and log, both to stderr by default),
// sometimes with values in the text. A caller that wants to keep the log clean redirects both, or sends them through the Known
// that it passes to Chart. Nothing is printed to stdout.
package render
