// Package release tests what a release is made of. Without flags it builds packages from the section nfpms of .goreleaser.yaml with
// goreleaser's own library, installs the one for Debian, and compares binaries from two folders; "make release-files" makes what it needs.
// With -dist it tests all files of a release that goreleaser made: "make snapshot-release".
//
// It is a module of its own, so that what reads packages and manifests stays out of what users build.
package release
