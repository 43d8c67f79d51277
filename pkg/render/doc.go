// Package render makes the objects that Helm would send: from the manifest text of a stored revision, or from a chart
// with its values. It makes no client of its own; what depends on the cluster comes in as values (the capabilities, the
// configuration under which templates look things up) or as a function (the scope of a kind).
//
// # Manifest to objects
//
// Parse follows the route a manifest takes in Helm, because the same text read by another YAML library is another
// object: "y" is true, 0644 is 420, 12345678901234567890 is a float. That route is (helm v3.22.0
// pkg/kube/client.go Client.Build, on k8s.io/cli-runtime v0.37.0 pkg/resource):
//
//  1. The stream is cut into documents (StreamVisitor.Visit, apimachinery util/yaml YAMLOrJSONDecoder). A line that
//     begins with "---" separates; comments mean nothing. A stream that begins with "{" is a series of JSON values.
//  2. Each document becomes JSON by YAML 1.1 rules (sigs.k8s.io/yaml): anchors and "<<" expanded, the last of two equal
//     keys wins, integers exact up to 64 bits. Empty and null documents vanish.
//  3. UnstructuredJSONScheme makes it an object. Whatever has a top-level "items" is a list, whatever its kind says;
//     a kind that merely ends in List is an object like any other.
//  4. Metadata must decode as ObjectMeta (metadataValidatingDecoder): a label that is a number is refused.
//  5. Lists are flattened (FlattenListVisitor), one level deep.
//  6. Objects of namespaced kinds that name no namespace get the default one (SetNamespace); those of cluster-scoped kinds
//     lose theirs (FilterNamespace). The scope is the cluster's word, never the text's.
//
// Helm stops where a step fails. Parse goes on, so that one bad document does not hide the drift of the rest: what
// cannot be read is an error of the Manifest, what Helm would refuse later is the Problem of an Object. Neither ever
// quotes the document: it may be a Secret, and the libraries' own errors do quote it.
//
// Two things are this package's own. The template that an object came from is read from the "# Source:" comment at the
// head of its document, if there is one: it is a remark, and a post-rendered manifest has none. And an object that the
// manifest names more than once is kept once: Helm applies each in turn (Client.update visits the target in order), so
// the last one is what counts.
//
// # Chart to manifest
//
// Chart does what `helm upgrade` does between reading the record and talking to the cluster (pkg/action/upgrade.go
// prepareUpgrade, pkg/action/action.go renderResources), with Helm's own public pieces and without pkg/action, whose
// clients and registries have no place here: load, check dependencies, choose values, process dependencies, coalesce
// and validate them, check kubeVersion, render, drop the notes, sort, post-render. The manifest is Helm's byte for byte;
// a test holds it against action.Upgrade.
//
// Helm 3 and Helm 4 do the same steps with libraries of their own, which differ in what templates can call and see, in the
// nulls of values, in how a text is split into documents and in the order of kinds. What the two share is written once;
// helm3.go and helm4.go hold the rest. One difference is kept out: Helm 4 sends hooks through the post-renderer together
// with the manifest, unless told otherwise, and Chart sends the manifest only, with a warning. Hooks cannot drift.
//
// # What is new each time
//
// A password made by randAlphaNum is another one with each upgrade, and no change that anybody made. If a chart calls such a
// function, it is rendered twice, and the caller compares the two manifests. Which functions a chart calls is read from the
// parse trees of its templates, from those that are rendered down to what they include; where tpl runs texts as templates, from
// the values and files that can be such a text as well.
//
// Two renderings in a row hide two kinds of differences: they see nearly the same time, most of all where it is cut to a
// day, and they see the maps that `keys` lists mostly in the same order. So the second rendering gets changed templates, in which
// the clock is a year ahead and lists of keys are turned round. A chart that does not bear that is rendered once more as it is.
//
// # Errors
//
// What is wrong with a chart or its values is an Error, with file and line as far as Helm tells them, and a hint where
// there is something to try. Helm's own errors quote values, texts given to tpl and rendered documents; these are left out,
// and what remains goes through ChartOptions.Known, which learns the values before Helm sees them.
//
// Paths in an archive that lead out of it, and charts that unpack to more than 100 MiB, are refused by Helm's loader. Archives
// within archives each have that limit of their own. Templates can loop for ever and fill the memory, and so can YAML: whoever
// calls Chart or Read bounds its time and memory from outside (internal/confine), unless the manifest is Harmless. Aliases that
// would make a document larger than the API server takes are not followed. A caller that reads in another process sends the
// documents of Read back, and makes Objects of them; Manifest.Weight says what comparing those takes.
//
// Helm's libraries log through the standard loggers (Helm 3 through log, Helm 4 through slog and log, both to stderr unless
// redirected), sometimes with values in the text. A caller that must keep these quiet redirects both, or sends them through
// the Known that it gives to Chart; nothing is printed to stdout.
package render
