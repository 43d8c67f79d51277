// Package render makes the objects that Helm would send: from the manifest text of a stored revision, or from a chart
// with its values. It knows no client; what depends on the cluster comes in as values (the capabilities, the template
// engine) or as a function (the scope of a kind).
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
// and validate them, check kubeVersion, render, drop the notes, sort. The manifest is Helm's byte for byte; a test holds
// it against action.Upgrade.
//
// Helm's libraries log through the standard loggers (log and slog, both to stderr unless redirected), sometimes
// with values in the text. A caller that must keep these quiet redirects both; nothing is printed to stdout.
package render
