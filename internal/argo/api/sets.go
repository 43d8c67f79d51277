package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// SetController is what the controller of ApplicationSets is told for all of them (argo-cd v3.6.1
// cmd/argocd-applicationset-controller/commands/applicationset_controller.go).
type SetController struct {
	// policy is that of sets without one of their own, and of all if they must not have one: mayOverride is then not set.
	policy      string
	mayOverride bool
	// annotations and labels are those that stay on an Application if somebody has set them.
	annotations, labels []string
	// options are those that are set.
	options map[SetOption]bool
}

// SetOption is an option of Argo CD that changes what ApplicationSets make, or what becomes of that. It is its key in the ConfigMap.
type SetOption string

// These are the options.
const (
	SetSteps  SetOption = "applicationsetcontroller.enable.progressive.syncs"
	SetGlobs  SetOption = "applicationsetcontroller.enable.new.git.file.globbing"
	SetHidden SetOption = "reposerver.include.hidden.directories"
)

// Has reports whether Argo CD has an option.
func (c SetController) Has(o SetOption) bool { return c.options[o] }

// These name the controller of ApplicationSets: its Deployment, and the beginning of its keys in the parameters of Argo CD.
const (
	setController = "argocd-applicationset-controller"
	setKey        = "applicationsetcontroller."
)

// ReadSetController reads what the controller is told: the parameters of Argo CD in a ConfigMap, and the flags of the Deployment. Without
// both, the defaults count. Namespace is that of Argo CD.
func ReadSetController(ctx context.Context, from deployer.Reader, namespace string) (SetController, error) {
	parameters := parametersIn(namespace)
	controller := object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: setController}, Version: "v1"}
	found := from.Read(ctx, []object.Ref{parameters, controller})
	for _, ref := range []object.Ref{parameters, controller} {
		if err := found[ref].Err; err != nil {
			return SetController{}, fmt.Errorf("reading %s, which says what Argo CD may change for ApplicationSets: %s", ref.Key, err.Message)
		}
	}
	told, variables := setSettings(found[parameters].Object, found[controller].Object)
	out := SetController{policy: cmp.Or(told[setKey+"policy"], "sync"), options: map[SetOption]bool{}}
	var err error
	if out.mayOverride, err = strconv.ParseBool(told[setKey+"enable.policy.override"]); err != nil {
		out.mayOverride = variables[setKey+"policy"] == "" // a flag does not count here, since Argo CD has not read it yet
	}
	for _, option := range []SetOption{SetSteps, SetGlobs, SetHidden} {
		out.options[option], _ = strconv.ParseBool(told[string(option)]) // Argo CD takes another word for false
	}
	out.annotations, out.labels = Listed(told[setKey+"global.preserved.annotations"]), Listed(told[setKey+"global.preserved.labels"])
	return out, nil
}

// setFlags are the keys in the ConfigMap by the flags of the controller.
var setFlags = map[string]string{
	"policy": setKey + "policy", "enable-policy-override": setKey + "enable.policy.override",
	"preserved-annotations": setKey + "global.preserved.annotations", "preserved-labels": setKey + "global.preserved.labels",
	"enable-progressive-syncs": string(SetSteps), "enable-new-git-file-globbing": string(SetGlobs),
}

// setSettings returns the settings by their keys in the ConfigMap: the flags of the controller count before its variables, and these before
// the ConfigMap. Variables has them without the flags. The ConfigMap and the Deployment may be nil.
func setSettings(parameters, controller map[string]any) (told, variables map[string]string) {
	variables = map[string]string{}
	for key, value := range object.Child(parameters, "data") {
		variables[key], _ = value.(string)
	}
	for _, container := range deployer.Containers(controller) {
		for _, variable := range object.Items(container, "env") {
			name, _ := variable["name"].(string)
			name, isOwn := strings.CutPrefix(name, "ARGOCD_APPLICATIONSET_CONTROLLER_")
			isOwn = isOwn && name == strings.ToUpper(name) && !strings.Contains(name, ".") // Argo CD reads no other
			if value, isText := variable["value"].(string); isText && isOwn {
				variables[setKey+strings.ToLower(strings.ReplaceAll(name, "_", "."))] = value
			}
		}
	}
	told = maps.Clone(variables)
	for flag, value := range deployer.Flags(controller) { // the last one counts
		if key, isOne := setFlags[flag]; isOne {
			told[key] = value
		}
	}
	return told, variables
}

// Listed returns the items of a list with commas.
func Listed(text string) (out []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// policyOf returns the policy for a set that has one of its own, or "" (argo-cd v3.6.1 applicationset/utils/policy.go DefaultPolicy).
func (c SetController) policyOf(own string) string {
	if own == "" || !c.mayOverride {
		return c.policy
	}
	return own
}

// Updates reports whether the controller changes Applications that exist, and Deletes whether it deletes those that a set no longer makes.
// Own is applicationsSync of the set, or "" (argo-cd v3.6.1 pkg/apis/application/v1alpha1/applicationset_types.go AllowUpdate,
// AllowDelete).
func (c SetController) Updates(own string) bool {
	policy := c.policyOf(own)
	return policy == "sync" || policy == "create-update"
}

// Deletes is explained at Updates.
func (c SetController) Deletes(own string) bool {
	policy := c.policyOf(own)
	return policy == "sync" || policy == "create-delete"
}

// Says names the policy for a set in messages.
func (c SetController) Says(own string) string {
	if own == "" || !c.mayOverride {
		return "the policy " + c.policy + " of its controller"
	}
	return "applicationsSync: " + own
}

// Keeps returns the annotations and labels that stay on an Application if somebody has set them there. Own are those that the set names
// (argo-cd v3.6.1 applicationset/controllers/applicationset_controller.go defaultPreservedAnnotations).
func (c SetController) Keeps(own Preserved) Preserved {
	return Preserved{
		Annotations: slices.Concat(own.Annotations, c.annotations,
			[]string{"notified.notifications.argoproj.io", "argocd.argoproj.io/refresh", "argocd.argoproj.io/hydrate"}),
		Labels: slices.Concat(own.Labels, c.labels),
	}
}

// Preserved names annotations and labels that an ApplicationSet leaves on its Applications.
type Preserved struct {
	Annotations []string `json:"annotations"`
	Labels      []string `json:"labels"`
}
