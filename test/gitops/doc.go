// Package gitops checks the patches that absorb prints for the documents where tools keep the values of a release. A patch must be valid
// and do what it says. The tests merge it into a whole document, as the tool's users do, and then the document must fit the tool's schema
// and hold the values. The package is a module of its own, because these schemas come with the modules of the tools:
//
//	Flux     the Go type HelmRelease of helm-controller, strictly decoded
//	Argo CD  the CustomResourceDefinition of Applications, by the API server's own validation; the Go types link most of Kubernetes
//	helmfile the keys of its Go types, read from their source; linking them would take the clients of every cloud
//	Flux     the values that helm-controller composes, with its own function
//	kustomize  the patches that kustomize itself reads are in test/e2e
package gitops
