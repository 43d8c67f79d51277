// Package valuesfile changes a Helm values file at given paths and leaves every other byte as it is.
//
//	bytes ─► Parse ─► File ─► Apply(edits) ─► bytes
//
//	edits ─► on the data ───────────────► wanted ──────────────────┐
//	           └─► smallest changes ─► on the text ─► new text ─► read again: equal? ─► bytes, or an error
//
// The package has no cluster, no Helm and no flags. It never encodes the whole file. go.yaml.in/yaml/v3 parses the text, locate.go
// finds where each node begins and ends, edit.go cuts and inserts, and write.go writes the new values. After the last edit the text
// is read as Helm reads it and compared with the edited data. If they differ, Apply returns an error and no text.
//
// # What Helm reads
//
// Helm reads a values file with sigs.k8s.io/yaml, which follows YAML 1.1 (helm v3.22.0 pkg/chartutil/values.go ReadValues
// and pkg/cli/values/options.go MergeValues; helm v4.3.1 pkg/chart/common/values.go ReadValues):
//
//   - y, yes, on, 0x1f, 0b1, 012, 1_000 and 1e3 are booleans and numbers, ~ is null, and dates are strings (go.yaml.in/yaml/v2 v2.4.4
//     resolve.go). A string that looks like one of these is quoted, and so is one that YAML 1.2 takes for a number or a date.
//   - Integers are exact up to 64 bits in the text. Helm itself may read them as floats of 53 bits.
//   - The last of two equal keys wins (yaml/v2 decode.go mapping). A set edits the last one, and a removal removes all.
//   - A "<<" overwrites the keys before it and not those after it (yaml/v2 decode.go merge). YAML says that a key wins wherever it stands.
//     An edit of a key that a later "<<" overwrites is refused.
//   - Of several documents, Helm 3 reads the first (yaml/v2 Unmarshal) and Helm 4 merges all (helm v4.3.1 pkg/chart/v2/loader/load.go
//     LoadValues). A file with a second document that is not empty is refused.
//   - A null removes the default of the chart (helm v3.22.0 pkg/chartutil/coalesce.go coalesceValues). It is written as null.
//
// # How a change is written
//
//   - A map that replaces a map, and a list that replaces a list, become changes of their parts. What stays equal stays as it is.
//   - A new key follows the last key of its map, a new item the last item of its list. A new item at another index precedes the comments
//     of the item that it moves; a new first item follows the comments of the list.
//   - A key or item that goes away takes along the comments on its own lines and the comment lines directly above it that begin in its
//     column. Comments below it stay.
//   - A map or list that loses its last part becomes {} or [].
//   - An empty map, list or value becomes a block if the map around it is a block. Its comment stays on its line.
//   - Within {…} and […] everything is written in that style. If all keys of the file are quoted as in JSON, new ones are too.
//   - A replaced string keeps its quotes if the new one can have them. A string with several lines becomes a block scalar with "|" if that
//     keeps it exactly, and is quoted otherwise.
//   - Indentation and quotes follow the neighbours, and otherwise what most of the file has.
//
// # Anchors
//
// An edit changes its own place and no other. An alias *x to a map is replaced by a map that begins with "<<: *x" and has the changed keys
// after it; any other alias is replaced by the value. A key that a merge provides is written after the merge. Removing such a key is
// refused, because YAML has no way to remove a merged key. A value that has an anchor, or lies in one, can change only if the same edits
// make the same change wherever its aliases are. Otherwise the edit is refused, with the lines of anchor and alias.
//
// # A part of another text
//
// [Documents] reads each document of a text with several, and Apply then returns the whole text. [File.ApplyNested] edits the YAML text
// that a string of the document holds, such as the entry of a ConfigMap. Of a literal block scalar, only the lines that the edits change
// are written.
//
// # Errors
//
// Errors name the file and the line or the path. They never quote a value, because it may be secret.
package valuesfile
