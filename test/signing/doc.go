// Package signing executes what signs a release and what verifies it, with a Sigstore of its own on the loopback interface: the sections
// of .goreleaser.yaml that make checksums and signatures, the steps of .github/workflows/release.yaml that push and sign the image and that
// verify the release, and the commands of docs/dev/release.md. Nothing of them is repeated here; only the addresses of the registry and of
// the issuer are replaced. "make signing" runs it.
//
// It does not test the services that the public uses, nor how cosign finds them (TUF): cosign reads its roots and the addresses of the
// services from files that "cosign trusted-root create" and "cosign signing-config create" wrote.
//
// The Sigstore consists of
//
//   - cosign, of the version that cosign-installer installs for the workflow
//   - Fulcio, the certificate authority, as a library: it knows GitHub's tokens and writes GitHub's identities
//   - Rekor 2, the public log, with its files in a folder
//   - a log of certificates that only promises (RFC 6962), and an authority for timestamps (RFC 3161)
//   - an issuer, which gives the workflow its identity as GitHub does
//
// What gh attests and verifies is not executed: GitHub makes and stores attestations. A program that only looks at its arguments takes the
// place of gh.
//
// It is a module of its own, because cosign and Fulcio depend on the libraries of every key store.
package signing
