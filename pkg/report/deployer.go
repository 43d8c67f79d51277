package report

// Deployer is what the controller that deploys a release does next.
type Deployer struct {
	// Kind, Namespace and Name are the object that the release comes from, such as a HelmRelease. Controller is who acts on it.
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Controller string `json:"controller"`
	// Action is what the controller does next, and Reason says why. Otherwise is what a blocked controller would do.
	Action    DeployerAction `json:"action"`
	Reason    string         `json:"reason"`
	Otherwise DeployerAction `json:"otherwise,omitempty"`
	// PutsBack says when the controller puts drift back.
	PutsBack PutsBack `json:"putsBack"`
	// NotRolledOut is how many objects of the chart differ from what is deployed although the controller does nothing, because the chart has
	// the same version.
	NotRolledOut int `json:"notRolledOut,omitempty"`
	// Inputs are the objects, the chart and the values that the answer depends on.
	Inputs []DeployerInput `json:"inputs,omitempty"`
}

// DeployerAction is what a controller does to a release.
type DeployerAction string

// These are the actions. A reinstall uninstalls the release first. A sync is that of Argo CD, which makes no revision. A correction writes
// fields that drifted, without a revision. Blocked means that something keeps the controller from acting, and unknown that it is not known.
const (
	DeployerUpgrade   DeployerAction = "upgrade"
	DeployerInstall   DeployerAction = "install"
	DeployerReinstall DeployerAction = "reinstall"
	DeployerUninstall DeployerAction = "uninstall"
	DeployerRollback  DeployerAction = "rollback"
	DeployerSync      DeployerAction = "sync"
	DeployerCorrect   DeployerAction = "correct"
	DeployerNone      DeployerAction = "none"
	DeployerBlocked   DeployerAction = "blocked"
	DeployerUnknown   DeployerAction = "unknown"
)

// PutsBack says when a controller puts drift back.
type PutsBack string

// These are the times. With PutsBackUpgrade it does so whenever it upgrades the release, as far as the verdicts say, and with PutsBackHand
// only if somebody tells it to.
const (
	PutsBackNow     PutsBack = "now"
	PutsBackUpgrade PutsBack = "next-upgrade"
	PutsBackHand    PutsBack = "by-hand"
	PutsBackNever   PutsBack = "never"
	PutsBackUnknown PutsBack = "unknown"
)

// DeployerInput is something that the answer of a Deployer depends on.
type DeployerInput struct {
	// Use is "chart" or "values".
	Use       string `json:"use"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Version is the version of a chart.
	Version string `json:"version,omitempty"`
}

// These are the controllers of a HelmRelease and of an Application.
const (
	ControllerFlux = "helm-controller"
	ControllerArgo = "argocd-application-controller"
)

// Tool returns the name of what the controller belongs to, such as Flux. That of a nil Deployer is empty.
func (d *Deployer) Tool() string {
	switch {
	case d == nil:
		return ""
	case d.Controller == ControllerFlux:
		return "Flux"
	case d.Controller == ControllerArgo:
		return "Argo CD"
	}
	return d.Controller
}

// Uninstalls reports whether the controller uninstalls the release, for good or before it installs it anew. A nil Deployer does not.
func (d *Deployer) Uninstalls() bool {
	return d != nil && (d.Action == DeployerUninstall || d.Action == DeployerReinstall)
}

// Says returns what the controller does and why, in one clause, and when it puts drift back.
func (d *Deployer) Says() string {
	said := map[DeployerAction]string{
		DeployerUpgrade: "upgrades it", DeployerInstall: "installs it", DeployerReinstall: "uninstalls it and installs it anew",
		DeployerUninstall: "uninstalls it", DeployerRollback: "rolls it back", DeployerSync: "syncs it",
		DeployerCorrect: "puts back what drifted", DeployerNone: "does nothing", DeployerBlocked: "does not act",
	}[d.Action]
	switch {
	case d.Action == DeployerUnknown:
		return "what " + d.Tool() + " does is not known: " + d.Reason
	case said == "":
		said = string(d.Action)
	}
	said = d.Tool() + " " + said + ": " + d.Reason
	switch {
	case d.Action == DeployerNone && d.PutsBack == PutsBackHand:
		said += "; a sync by hand puts drift back, as the verdicts say"
	case d.Action == DeployerNone && d.PutsBack == PutsBackUpgrade && d.Controller == ControllerArgo:
		said += "; it puts drift back with the next sync, as the verdicts say"
	case d.Action == DeployerNone && d.PutsBack == PutsBackUpgrade:
		said += "; it puts drift back at the next upgrade, as the verdicts say"
	case d.Action == DeployerBlocked && d.PutsBack == PutsBackNever:
		said += "; until then it puts no drift back"
	}
	return said
}
