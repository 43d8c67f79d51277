package api

// This file has the fields of Flux's objects that decide what the controllers do. The types are our own: those of Flux would link the
// types of every kind that they mention.

// Meta is the metadata that matters here.
type Meta struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Generation  int64             `json:"generation"`
	Annotations map[string]string `json:"annotations"`
	Deleted     string            `json:"deletionTimestamp"`
}

// HelmRelease is an object of this kind (fluxcd/helm-controller v1.6.0 api/v2/helmrelease_types.go HelmRelease).
type HelmRelease struct {
	Metadata Meta   `json:"metadata"`
	Spec     spec   `json:"spec"`
	Status   Status `json:"status"`
	// Dropped says why Flux deletes it although it is not being deleted yet, and Fault is why it could not be decoded.
	Dropped string `json:"-"`
	Fault   error  `json:"-"`
}

// spec is what the HelmRelease asks for.
type spec struct {
	Interval           string            `json:"interval"`
	Chart              *chartTemplate    `json:"chart"`
	ChartRef           *sourceRef        `json:"chartRef"`
	KubeConfig         map[string]any    `json:"kubeConfig"`
	Suspend            bool              `json:"suspend"`
	ReleaseName        string            `json:"releaseName"`
	TargetNamespace    string            `json:"targetNamespace"`
	StorageNamespace   string            `json:"storageNamespace"`
	DependsOn          []dependency      `json:"dependsOn"`
	ServiceAccountName string            `json:"serviceAccountName"`
	DriftDetection     *driftDetection   `json:"driftDetection"`
	Install            install           `json:"install"`
	Upgrade            upgrade           `json:"upgrade"`
	Rollback           rollback          `json:"rollback"`
	Test               test              `json:"test"`
	ValuesFrom         []ValuesReference `json:"valuesFrom"`
	// Values are decoded as JSON, so every number is a float64, as helm-controller has them (v2 HelmRelease.GetValues).
	Values             map[string]any  `json:"values"`
	CommonMetadata     *CommonMetadata `json:"commonMetadata"`
	PostRenderers      []PostRenderer  `json:"postRenderers"`
	PostRenderStrategy string          `json:"postRenderStrategy"`
}

// chartTemplate is what helm-controller makes a HelmChart of.
type chartTemplate struct {
	Spec ChartSpec `json:"spec"`
}

// ChartSpec says which chart is wanted. A HelmChart has the same fields, and suspend.
type ChartSpec struct {
	Chart                    string    `json:"chart"`
	Version                  string    `json:"version"`
	SourceRef                sourceRef `json:"sourceRef"`
	ReconcileStrategy        string    `json:"reconcileStrategy"`
	ValuesFiles              []string  `json:"valuesFiles"`
	IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
	Suspend                  bool      `json:"suspend"`
	// Interval and Verify do not change the chart, but the generation of the HelmChart.
	Interval string         `json:"interval"`
	Verify   map[string]any `json:"verify"`
}

// sourceRef names a source. Its namespace is that of the object with the reference if it is empty.
type sourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// EndpointURL returns the address of the server of a Bucket.
func EndpointURL(endpoint string, isInsecure bool) string {
	if isInsecure {
		return "http://" + endpoint
	}
	return "https://" + endpoint
}

// dependency names a HelmRelease that must be ready first.
type dependency struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	ReadyExpr string `json:"readyExpr"`
}

// driftDetection says whether Flux looks for drift. Its ignore rules have the form of report.RuleText.
type driftDetection struct {
	Mode   string       `json:"mode"`
	Ignore []ignoreRule `json:"ignore"`
}

// ignoreRule names fields that drift detection leaves out.
type ignoreRule struct {
	Paths  []string  `json:"paths"`
	Target *Selector `json:"target"`
}

// install, upgrade and rollback are the options of these actions.
type install struct {
	Strategy                *Strategy   `json:"strategy"`
	Remediation             Remediation `json:"remediation"`
	DisableTakeOwnership    bool        `json:"disableTakeOwnership"`
	DisableHooks            bool        `json:"disableHooks"`
	DisableSchemaValidation bool        `json:"disableSchemaValidation"`
	Replace                 bool        `json:"replace"`
	CRDs                    string      `json:"crds"`
	CreateNamespace         bool        `json:"createNamespace"`
	ServerSideApply         *bool       `json:"serverSideApply"`
}

type upgrade struct {
	Strategy                *Strategy   `json:"strategy"`
	Remediation             Remediation `json:"remediation"`
	DisableTakeOwnership    bool        `json:"disableTakeOwnership"`
	DisableHooks            bool        `json:"disableHooks"`
	DisableSchemaValidation bool        `json:"disableSchemaValidation"`
	Force                   bool        `json:"force"`
	PreserveValues          bool        `json:"preserveValues"`
	CRDs                    string      `json:"crds"`
	ServerSideApply         string      `json:"serverSideApply"`
	ChartNameChangeStrategy string      `json:"chartNameChangeStrategy"`
}

type rollback struct {
	DisableHooks    bool   `json:"disableHooks"`
	Force           bool   `json:"force"`
	ServerSideApply string `json:"serverSideApply"`
}

// Strategy is RemediateOnFailure or RetryOnFailure.
type Strategy struct {
	Name string `json:"name"`
}

// Remediation says what happens after a failure. Strategy is not read for an installation, which is always uninstalled.
type Remediation struct {
	Retries              int    `json:"retries"`
	RemediateLastFailure *bool  `json:"remediateLastFailure"`
	IgnoreTestFailures   *bool  `json:"ignoreTestFailures"`
	Strategy             string `json:"strategy"`
}

// test says whether helm-controller runs the tests of the chart.
type test struct {
	Enable         bool `json:"enable"`
	IgnoreFailures bool `json:"ignoreFailures"`
}

// ValuesReference names a ConfigMap or a Secret with values.
type ValuesReference struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey"`
	TargetPath string `json:"targetPath"`
	Optional   bool   `json:"optional"`
	Literal    bool   `json:"literal"`
}

// The types below are encoded for a digest, so their fields have the order, the names and the options of helm-controller's own
// (api v1.6.0 v2 PostRenderer, Kustomize and CommonMetadata, fluxcd/pkg apis/kustomize v1.19.1 Patch, Selector and Image).

// CommonMetadata are labels and annotations for all objects.
type CommonMetadata struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// PostRenderer is one step after the rendering.
type PostRenderer struct {
	Kustomize *Kustomize `json:"kustomize,omitempty"`
}

// Kustomize is what a step may have of a kustomization.
type Kustomize struct {
	Patches []patch `json:"patches,omitempty"`
	Images  []image `json:"images,omitempty"`
}

// patch is a strategic merge patch or a JSON patch.
type patch struct {
	Patch  string    `json:"patch"`
	Target *Selector `json:"target,omitempty"`
}

// Selector selects objects.
type Selector struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
}

// image replaces the images of a name.
type image struct {
	Name    string `json:"name"`
	NewName string `json:"newName,omitempty"`
	NewTag  string `json:"newTag,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// Status is what helm-controller has done and seen.
type Status struct {
	ObservedGeneration           int64       `json:"observedGeneration"`
	ObservedPostRenderersDigest  string      `json:"observedPostRenderersDigest"`
	ObservedCommonMetadataDigest string      `json:"observedCommonMetadataDigest"`
	LastAttemptedGeneration      int64       `json:"lastAttemptedGeneration"`
	Conditions                   []Condition `json:"conditions"`
	StorageNamespace             string      `json:"storageNamespace"`
	History                      []Revision  `json:"history"`
	LastAttemptedReleaseAction   string      `json:"lastAttemptedReleaseAction"`
	InstallFailures              int64       `json:"installFailures"`
	UpgradeFailures              int64       `json:"upgradeFailures"`
	LastAttemptedRevision        string      `json:"lastAttemptedRevision"`
	LastAttemptedConfigDigest    string      `json:"lastAttemptedConfigDigest"`
	LastHandledReconcileAt       string      `json:"lastHandledReconcileAt"`
	LastHandledForceAt           string      `json:"lastHandledForceAt"`
	LastHandledResetAt           string      `json:"lastHandledResetAt"`
}

// Condition is a condition of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Revision is what helm-controller remembers of a revision of the release (fluxcd/helm-controller v1.6.0 api/v2/snapshot_types.go
// Snapshot).
type Revision struct {
	APIVersion   string                `json:"apiVersion"`
	Name         string                `json:"name"`
	Namespace    string                `json:"namespace"`
	Version      int                   `json:"version"`
	Status       string                `json:"status"`
	ChartName    string                `json:"chartName"`
	ChartVersion string                `json:"chartVersion"`
	ConfigDigest string                `json:"configDigest"`
	TestHooks    *map[string]*TestHook `json:"testHooks"`
}

// TestHook is what became of one test.
type TestHook struct {
	Phase string `json:"phase"`
}

// HasStatus reports whether a condition has a status, such as True, and returns its message.
func HasStatus(conditions []Condition, kind, status string) (message string, found bool) {
	for _, c := range conditions {
		if c.Type == kind && c.Status == status {
			return c.Message, true
		}
	}
	return "", false
}
