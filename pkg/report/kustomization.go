package report

// Kustomization is the file kustomization.yaml of a folder in which Resources are what Helm renders.
type Kustomization struct {
	APIVersion  string           `json:"apiVersion"`
	Kind        string           `json:"kind"`
	Resources   []string         `json:"resources"`
	SortOptions KustomizeSort    `json:"sortOptions"`
	Patches     []KustomizePatch `json:"patches"`
}

// NewKustomization returns a kustomization with patches. The objects keep Helm's order, in which it creates them.
func NewKustomization(patches []KustomizePatch) *Kustomization {
	return &Kustomization{
		APIVersion: "kustomize.config.k8s.io/v1beta1", Kind: "Kustomization", Resources: []string{"all.yaml"},
		SortOptions: KustomizeSort{Order: "fifo"}, Patches: patches,
	}
}

// KustomizeSort is the order of the objects that kustomize prints.
type KustomizeSort struct {
	Order string `json:"order"`
}

// KustomizePatch is a patch of one object.
type KustomizePatch struct {
	Target KustomizeTarget `json:"target"`
	// Patch is the patch as JSON: an object is a strategic merge patch, and a list is a JSON patch (RFC 6902).
	Patch string `json:"patch"`
}

// KustomizeTarget selects an object. Each part is a regular expression that matches the whole text, and an absent one matches everything.
type KustomizeTarget struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}
