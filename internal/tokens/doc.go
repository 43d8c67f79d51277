// Package tokens replaces secrets by tokens, in data that is saved and passed on: a snapshot and the manifests in it. A report also asks
// this package which of the values that the user gave a release are secret.
//
//	object, item of a list ─► Masker.Object, Item ─► a copy with tokens
//	values of a release ────► Masker.Given ────────► a copy with tokens
//	any value or text ──────► Masker.Value, Text ──► a copy with tokens
//
// What is secret is decided in internal/secret, which also says what a token looks like, and finds tokens as it finds secrets. A Masker
// goes through a value place by place, as secret.Place.Each does. hashes.go replaces the hashes of pod templates, also in names.
package tokens
