package flux

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file reads the flags of helm-controller, for the HelmReleases to which one of them matters.

// settings are the flags and feature gates of helm-controller that change what it does (fluxcd/helm-controller v1.6.0 main.go,
// internal/features/features.go).
type settings struct {
	// sameNamespace is --no-cross-namespace-refs. The others are the feature gates DefaultToRetryOnFailure, UseHelm3Defaults and
	// DisableChartDigestTracking.
	sameNamespace, retries, helm3, noDigest bool
	// isRead is set if the Deployment was there and could be read. Otherwise the settings are the defaults.
	isRead bool
}

// readSettings reads the settings from the Deployment of helm-controller where flux install puts it.
func readSettings(ctx context.Context, from deployer.Reader) (out settings) {
	ref := object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "flux-system", Name: "helm-controller"}, Version: "v1"}
	o := from.Read(ctx, []object.Ref{ref})[ref].Object
	out.isRead = len(deployer.Containers(o)) > 0
	for name, value := range deployer.Flags(o) {
		switch name {
		case "no-cross-namespace-refs":
			out.sameNamespace = value != "false"
		case "feature-gates":
			out.setGates(value)
		}
	}
	return out
}

// setGates sets the gates of --feature-gates.
func (s *settings) setGates(text string) {
	for gate := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(gate), "=")
		switch name {
		case "DefaultToRetryOnFailure":
			s.retries = value == "true"
		case "UseHelm3Defaults":
			s.helm3 = value == "true"
		case "DisableChartDigestTracking":
			s.noDigest = value == "true"
		}
	}
}

// settingsOnce returns a function that reads the settings at its first call.
func settingsOnce() func(context.Context, deployer.Reader) settings {
	var out settings
	var once sync.Once
	return func(ctx context.Context, from deployer.Reader) settings {
		once.Do(func() { out = readSettings(ctx, from) })
		return out
	}
}

// sourceNamespace returns the namespace of the HelmChart or the OCIRepository that a HelmRelease reads.
func sourceNamespace(h *api.HelmRelease) string {
	namespace := ""
	switch {
	case h.Spec.Chart != nil:
		namespace = h.Spec.Chart.Spec.SourceRef.Namespace
	case h.Spec.ChartRef != nil:
		namespace = h.Spec.ChartRef.Namespace
	}
	return cmp.Or(namespace, h.Metadata.Namespace)
}

// refusesSource says why helm-controller does not read the source of the HelmRelease, or returns "" (fluxcd/helm-controller v1.6.0
// internal/acl/acl.go AllowsAccessTo).
func (p *Plan) refusesSource(ctx context.Context, q Question) string {
	namespace := sourceNamespace(p.release)
	if namespace == p.release.Metadata.Namespace {
		return ""
	}
	switch s := q.settings(ctx, p.reading); {
	case s.sameNamespace:
		return "its source is in namespace " + namespace + ", and helm-controller has --no-cross-namespace-refs"
	case !s.isRead:
		p.warn(CodeWarning, "its source is in namespace "+namespace+". Flux refuses that if helm-controller has --no-cross-namespace-refs, and "+
			"Deployment helm-controller in namespace flux-system, which would show that, cannot be read")
	}
	return ""
}
