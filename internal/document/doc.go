// Package document compares texts that are documents: the YAML, JSON or TOML that an entry of a ConfigMap, an annotation or a field of
// a custom resource holds. The package does not know which values are secret: the caller masks them.
//
//	name, texts ─► syntaxesOf ─► parse ─► values of each side ─► walk ─► Difference
//	               format.go     yaml.go, json.go, toml.go   compare.go
//
// # When a text is a document
//
// The ending of the name decides which formats Compare tries (prometheus.yaml). Without a known ending it tries only JSON and YAML, and
// only if the text cannot be prose. INI, properties and files of variables have a setting on each line, so the differing lines say
// everything, and there is no Difference for them. Every existing side must be a map or a list in the same format: a single scalar is not
// a document. If anything is unclear, such as a key that occurs twice or a template that was not rendered, there is no Difference. Nothing
// is guessed.
//
// # When two values are equal
//
// Numbers are compared as they are written, except in TOML, which is unambiguous: 1.10 is not 1.1, because a program may read it as a
// text. A YAML word that some parsers read as a switch (on, yes) differs from the same word in quotes. So "only formatting" means that
// every parser reads the same from all sides: only blanks, comments, quotes, the order of keys, or anchors differ.
//
// # Bounds
//
// Documents come from the cluster and may be hostile. The constants in format.go bound size, depth, the size after all aliases are
// followed, and the number of changes. Larger documents have no Difference; more changes than that are counted.
//
// # Tests
//
// The tests beside this file have a line for each rule above. pkg/threeway runs the cases of whole objects (TestCases, with the files
// inside-*.txtar of testdata/threeway), also with the masked objects of a snapshot (TestInsideOfMaskedObjects).
package document
