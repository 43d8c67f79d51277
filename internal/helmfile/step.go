package helmfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Question says how to find out what helmfile does with a release.
type Question struct {
	// Chart has what the flags say about charts, and Source are the user's own logins and settings for fetching them.
	Chart  *drift.Chart
	Source fetch.Options
	// Fetch fetches a chart.
	Fetch func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)
	// PostRenderer returns what runs a program in a working directory.
	PostRenderer func(dir, program string, args []string) func(ctx context.Context, manifest []byte) ([]byte, error)
	// Helm is the major version of the helm that helmfile calls.
	Helm string
	// Known has the secrets, and Learned are those of them that the values come from.
	Known, Learned *secret.Known
}

// The codes of warnings and errors about what helmfile does.
const (
	// CodeIncomplete is the code of the error that helmdrift cannot predict something that helmfile does.
	CodeIncomplete = "helmfile-unknown"
	// CodeWarning is the code of a warning about the helmfile.
	CodeWarning = "helmfile"
)

// Step is what helmfile does with one release, and what to compare for it.
type Step struct {
	// Target is what to compare: the upgrade, or the drift of a release that helmfile uninstalls.
	Target drift.Target

	release  Release
	learned  *secret.Known
	helm     string
	action   report.DeployerAction
	warnings []report.Message
}

// New reads the records of a release and decides what helmfile does with it.
func New(ctx context.Context, from drift.Connection, q Question, r Release) (*Step, error) {
	if why := cmp.Or(r.Fault, r.refusedBy(q.Helm)); why != "" {
		return nil, errors.New(why)
	}
	s := &Step{release: r, learned: q.Learned, helm: q.Helm}
	records, err := from.Records(r.Namespace)
	if err != nil {
		return nil, err
	}
	history, err := records.History(ctx, r.Name)
	if err != nil {
		return nil, err
	}
	s.action = r.decide(history)
	s.Target = drift.Target{Namespace: r.Namespace, Release: r.Name}
	switch s.action {
	case report.DeployerUninstall:
		s.warn(deployer.WhatGoes(controller, s.action))
	case report.DeployerNone:
		return nil, errNothing
	default:
		s.Target.Chart = s.chart(q)
	}
	return s, nil
}

// errNothing means that there is nothing to compare: the release is not installed, and helmfile leaves it so.
var errNothing = errors.New("it is not installed, and helmfile does not install it")

// decide returns what helmfile does with a release whose records are known (helmfile v1.8.0 pkg/state/state.go SyncReleases,
// DeleteReleases).
func (r *Release) decide(history release.History) report.DeployerAction {
	n := len(history.Entries)
	isThere := n > 0 && history.Entries[n-1].Status != "uninstalled"
	switch {
	case !r.IsInstalled && isThere:
		return report.DeployerUninstall
	case !r.IsInstalled:
		return report.DeployerNone
	case isThere:
		return report.DeployerUpgrade
	}
	return report.DeployerInstall
}

// refusedBy says why helmfile sync and helmfile apply fail with a major version of Helm, although helmfile diff does not (helmfile v1.8.0
// pkg/state/state.go flagsForUpgrade). Helm 4 does not know the flag --recreate-pods; of the others, helmfile itself says that.
func (r *Release) refusedBy(helm string) string {
	has := func(flag string) bool { return r.IsInstalled && slices.Contains(r.OnlyUpgrade, flag) }
	switch {
	case helm == "3" && has("--force-conflicts"):
		return "helmfile fails to upgrade it: forceConflicts needs Helm 4"
	case helm == "3" && has("--rollback-on-failure"):
		return "helmfile fails to upgrade it: rollbackOnFailure needs Helm 4"
	case helm == "4" && has("--recreate-pods"):
		return "helmfile fails to upgrade it: recreatePods needs Helm 3"
	case has("--force") && has("--force-conflicts"):
		return "helmfile fails to upgrade it: force and forceConflicts exclude each other"
	case has("--atomic") && has("--rollback-on-failure"):
		return "helmfile fails to upgrade it: atomic and rollbackOnFailure exclude each other"
	}
	return ""
}

func (s *Step) warn(message string) {
	s.warnings = append(s.warnings, report.Message{Code: CodeWarning, Message: message})
}

// chart returns the chart with the values and the flags that helmfile gives Helm.
func (s *Step) chart(q Question) *drift.Chart {
	r, a := &s.release, s.release.arguments
	out := *q.Chart
	out.PostRender = nil
	if a.postRenderer != "" {
		program := a.postRenderer
		if strings.ContainsRune(program, filepath.Separator) {
			program = inDir(r.call.Dir, program)
		}
		out.PostRender = q.PostRenderer(r.call.Dir, program, a.postRendererArgs)
	}
	ref, options := r.source(q.Source)
	out.Ref = cmp.Or(r.Chart, a.chart)
	out.Fetch = func(ctx context.Context) (string, func(), error) { return q.Fetch(ctx, ref, options) }
	readFile := out.ReadFile
	out.ReadFile = func(ctx context.Context, name string) ([]byte, error) {
		if text, isKept := r.call.Files[name]; isKept {
			return text, nil
		}
		if !strings.Contains(name, "://") {
			name = inDir(r.call.Dir, name) // a file that syncArgs name
		}
		return readFile(ctx, name)
	}
	out.Values = a.values
	switch {
	case a.reset:
		out.Values.Reuse = render.ReuseReset
	case a.reuse:
		out.Values.Reuse = render.ReuseValues
	case a.resetThenReuse:
		out.Values.Reuse = render.ReuseAfterReset
	}
	out.Install = s.action == report.DeployerInstall
	out.SkipCRDs, out.CreateNamespace = a.skipCRDs, a.createNamespace
	out.EnableDNS, out.SkipSchemaValidation = a.enableDNS, a.skipSchema
	return &out
}

// source returns where Helm finds the chart. A folder that helmfile has deleted since was copied.
func (r *Release) source(with fetch.Options) (ref string, options fetch.Options) {
	from := r.arguments.source
	ref = r.arguments.chart
	local := inDir(r.call.Dir, ref)
	if r.call.Chart != "" {
		ref = r.call.Chart
	} else if _, err := os.Stat(local); err == nil && !strings.Contains(ref, "://") {
		ref = local
	}
	options = with
	options.Version, options.Devel, options.RepoURL = from.Version, from.Devel, from.RepoURL
	options.Username, options.Password, options.PassCredentials = from.Username, from.Password, from.PassCredentials
	options.InsecureSkipTLSVerify, options.PlainHTTP, options.Verify = from.InsecureSkipTLSVerify, from.PlainHTTP, from.Verify
	for _, file := range []struct {
		to                   *string
		ofHelmfile, ofReader string
	}{
		{&options.CertFile, from.CertFile, ""}, {&options.KeyFile, from.KeyFile, ""}, {&options.CAFile, from.CAFile, ""},
		{&options.Keyring, from.Keyring, with.Keyring}, {&options.RegistryConfig, from.RegistryConfig, with.RegistryConfig},
		{&options.RepositoryConfig, from.RepositoryConfig, with.RepositoryConfig},
		{&options.RepositoryCache, from.RepositoryCache, with.RepositoryCache},
	} {
		if *file.to = file.ofReader; file.ofHelmfile != "" {
			*file.to = inDir(r.call.Dir, file.ofHelmfile)
		}
	}
	return ref, options
}

// Adapt changes options so that they compare what helmfile does.
func (s *Step) Adapt(o drift.Options) drift.Options {
	o.Helm, o.Learned = s.helm, (*drift.Secrets)(s.learned)
	a := s.release.arguments
	if a == nil {
		return o
	}
	o.ForceConflicts, o.ForceReplace, o.TakeOwnership, o.NoHooks = a.forceConflicts, a.force, a.takeOwnership, a.noHooks
	switch a.serverSide {
	case "true":
		o.ApplyMethod = report.ApplyServerSide
	case "false":
		o.ApplyMethod = report.ApplyClientSide
	}
	return o
}

// Contexts returns the contexts of the kubeconfig that the releases name, and "" for those that name none.
func Contexts(all []Release) map[string]int {
	out := map[string]int{}
	for _, r := range all {
		if r.Fault == "" {
			out[r.Context]++
		}
	}
	return out
}

// Locate gives releases without a namespace that of the kubeconfig, and the releases of other clusters than the chosen one a fault.
func Locate(all []Release, chosen, namespace string) {
	for i := range all {
		r := &all[i]
		r.Namespace = cmp.Or(r.Namespace, namespace)
		if r.Fault == "" && r.Context != "" && r.Context != chosen {
			r.Fault = fmt.Sprintf("it is in the cluster of the context %s, and this run compares with another one: --kube-context %s compares it",
				r.Context, hint.ShellWord(r.Context))
		}
	}
}
