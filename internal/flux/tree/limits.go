package tree

// The limits of what Flux makes of a tree. Those of a tree and of one build are in internal/kustomize. The largest public trees of Flux
// have 300 Kustomizations.
const (
	maxObject         = 3 << 20 // bytes of an object: no API server takes more (k8s.io/apiserver v0.36.3 pkg/server/config.go)
	maxKustomizations = 1_000   // Kustomizations of Flux
	maxKustomizeDepth = 20      // Kustomizations that Kustomizations make
	maxReleases       = 2_000   // HelmReleases that all of them make
)
