// Package document compares texts that are documents: the YAML, JSON, TOML, INI or properties that an entry of a ConfigMap, an annotation
// or a field of a custom resource holds. The package is pure. It does not know which values are secret: the caller masks.
//
//	name, texts ─► formatsOf ─► parse ─► values of each side ─► walk ─► Difference
//	               format.go    yaml.go, json.go, toml.go, lines.go     compare.go
//
// # When a text is a document
//
// The ending of the name says which formats are tried (prometheus.yaml, app.properties). Without a known ending only JSON and YAML are, and
// only if the text cannot be prose. Every side that is there must be a map or a list in the same format: a single scalar is not a document.
// If anything is unclear, such as a key that occurs twice or a template that was not rendered, there is no Difference. Nothing is guessed.
//
// # When two values are equal
//
// Numbers are compared as they are written, except in TOML, which has one reading: 1.10 is not 1.1, because a program may read it as a
// text. A YAML word that some parsers read as a switch (on, yes) is not the same word in quotes. So "only formatting" means that every
// parser reads the same from all sides: what differs is blanks, comments, quotes, the order of keys, or anchors.
//
// # Bounds
//
// Documents come from the cluster and may be hostile. The constants in format.go bound size, depth, the size after all aliases are
// followed, and the number of changes. Larger documents have no Difference; more changes than that are counted.
package document
