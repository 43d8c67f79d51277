package terraform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Question says how to find out what Terraform does with a release.
type Question struct {
	// Chart has what the flags say about charts, and Source are the user's own logins and settings for fetching them.
	Chart  *drift.Chart
	Source fetch.Options
	// Fetch fetches a chart.
	Fetch func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)
	// PostRenderer returns what runs the program of postrender, or nil if the user does not allow it.
	PostRenderer func(command []string) func(ctx context.Context, manifest []byte) ([]byte, error)
	// Known learns the secrets of the plan.
	Known *secret.Known
}

// Step is what Terraform does with one release, and what to compare for it.
type Step struct {
	// Target is what to compare: the upgrade, or the drift of a release that Terraform leaves or uninstalls.
	Target drift.Target
	// preview is the upgrade to the chart and the values of the plan if Terraform leaves the release. Otherwise its chart is nil.
	preview drift.Target

	release  Release
	decision decision
	warnings []report.Message
	problems []report.Message
	// doubt says what the rendering does not show, because values are not known.
	doubt string
}

// The codes of warnings and errors about what Terraform does.
const (
	// CodeIncomplete is the code of the error that helmdrift cannot predict something that Terraform does.
	CodeIncomplete = "terraform-unknown"
	// CodeWarning is the code of a warning about the plan.
	CodeWarning = "terraform"
)

// New reads the records of a release and decides what Terraform does with it.
func New(ctx context.Context, from drift.Connection, q Question, r Release) (*Step, error) {
	q.Known.AddKnown(r.Known())
	if r.Fault != "" {
		return nil, fmt.Errorf("%s: %s", r.Address, r.Fault)
	}
	s := &Step{release: r}
	at := r.place()
	records, err := from.Records(at.Namespace)
	if err != nil {
		return nil, err
	}
	history, err := records.History(ctx, at.Name)
	if err != nil {
		return nil, err
	}
	if len(history.Entries) == 0 && r.Change != Creates {
		return nil, hint.New(fmt.Errorf("%s: the plan knows release %s in namespace %s, and this cluster does not have it", r.Address, at.Name,
			at.Namespace), "the plan does not say which cluster the provider uses: --kube-context chooses it; otherwise make the plan again")
	}
	if err := s.release.addWritten(ctx, records); err != nil {
		return nil, err
	}
	q.Known.AddKnown(s.release.Known())
	s.decision = r.decide(history)
	s.checkAge(history)
	s.chooseTarget(q)
	if s.decision.action == report.DeployerInstall && s.Target.Chart == nil { // there is no drift to compare instead
		return nil, fmt.Errorf("%s: %s", r.Address, s.problems[len(s.problems)-1].Message)
	}
	return s, nil
}

// Known returns the secrets of the release.
func (r *Release) Known() *secret.Known {
	out := &secret.Known{}
	out.Add(r.Now.Password)
	for _, s := range r.Secrets {
		out.AddMembers(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{s.Name: s.Text}})
	}
	return out
}

// addWritten adds what set_wo has given to the release as secrets. No plan has these values, so they are
// those that the record has and the plan does not.
func (r *Release) addWritten(ctx context.Context, records drift.Records) error {
	if r.Was == nil {
		return nil
	}
	var was, will map[string]any
	if err := errors.Join(json.Unmarshal(r.Was, &was), json.Unmarshal([]byte(cmp.Or(string(r.Values), "{}")), &will)); err != nil {
		return err
	}
	loaded, err := records.Load(ctx, r.place().Name, 0, release.Options{Values: true})
	if err != nil {
		return err
	}
	for _, record := range slices.Compact([]*release.Record{loaded.Old, loaded.Last}) { // most often, they are the same
		if record == nil || record.Values == nil {
			continue
		}
		given, _, err := record.Values.Decode()
		if err != nil {
			return err
		}
		r.addSecret("set_wo", without(without(given, was), will))
	}
	return nil
}

// without returns the values without those that others have at the same place.
func without(values, others map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range values {
		below, isMap := value.(map[string]any)
		beside, areMaps := others[key].(map[string]any)
		switch {
		case isMap && areMaps:
			out[key] = without(below, beside)
		case !reflect.DeepEqual(value, others[key]):
			out[key] = value
		}
	}
	return out
}

// place returns where the release is that is compared: the one that is uninstalled, or the one that the plan has afterwards.
func (r *Release) place() Place {
	out := r.Now.Place
	if r.Change != Creates && r.Before.Name != "" {
		out = r.Before
	}
	out.Namespace = cmp.Or(out.Namespace, "default")
	return out
}

// Namespace returns the namespace of the release that is compared. It is not known if the plan has a fault.
func (r *Release) Namespace() (namespace string, isKnown bool) {
	return r.place().Namespace, r.Fault == ""
}

// Namespaces returns the namespaces of releases, in order.
func Namespaces(releases []Release) (out []string) {
	for _, r := range releases {
		if namespace, isKnown := r.Namespace(); isKnown {
			out = append(out, namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *Step) warn(message string) {
	s.warnings = append(s.warnings, report.Message{Code: CodeWarning, Message: message})
}

func (s *Step) lacks(message string) {
	s.problems = append(s.problems, report.Message{Code: CodeIncomplete, Message: message})
}

// checkAge says if the release has changed since the plan.
func (s *Step) checkAge(history release.History) {
	n := len(history.Entries)
	if n == 0 || s.release.Revision == 0 {
		return
	}
	if last := history.Entries[n-1].Revision; last != s.release.Revision {
		s.warn(fmt.Sprintf("the plan knows revision %d, and the release has revision %d: make the plan again", s.release.Revision, last))
	}
}

// chooseTarget chooses what to compare for the decision.
func (s *Step) chooseTarget(q Question) {
	r, at := &s.release, s.release.place()
	s.Target = drift.Target{Namespace: at.Namespace, Release: at.Name}
	with := s.Target
	switch s.decision.action {
	case report.DeployerInstall, report.DeployerUpgrade:
		for _, note := range r.Notes {
			s.warn(note)
		}
		for _, what := range r.Lacks {
			s.lacks(what)
		}
		s.addUnknown()
		if with.Chart = s.chart(q); with.Chart != nil {
			s.Target = with
		}
	case report.DeployerUninstall, report.DeployerReinstall:
		s.warn(deployer.WhatGoes(controller, s.decision.action))
	case report.DeployerNone:
		if r.Change == Leaves && !r.WriteOnly && len(r.Unknown)+len(r.Lacks) == 0 {
			s.preview = with
			s.preview.Chart = s.chart(q)
		}
	}
}

// addUnknown says which values are not known.
func (s *Step) addUnknown() {
	switch unknown := strings.Join(s.release.Unknown, "; "); {
	case unknown == "":
	case s.release.Whole:
		s.lacks("values are known only after the apply, so the upgrade may change more than is shown: " + unknown)
	default:
		s.warn("values that are known only after the apply: " + unknown)
	}
}

// chart returns the chart with the values and the options that the provider gives Helm, or nil if it cannot be rendered.
func (s *Step) chart(q Question) *drift.Chart {
	r, a := &s.release, &s.release.Now
	out := *q.Chart
	out.PostRender = nil
	if len(a.PostRenderer) > 0 {
		if out.PostRender = q.PostRenderer(a.PostRenderer); out.PostRender == nil {
			s.lacksPostRenderer()
			return nil
		}
	}
	from := a.source(q.Source)
	out.Ref = from.title
	out.Fetch = func(ctx context.Context) (string, func(), error) {
		path, done, err := q.Fetch(ctx, from.ref, from.options)
		if err != nil && from.isPath {
			err = hint.New(err, "a path in a plan begins in the folder where Terraform runs: run helmdrift in that folder")
		}
		return path, done, err
	}
	name, readFile := "values of "+r.Address, out.ReadFile
	out.ReadFile = func(ctx context.Context, wanted string) ([]byte, error) {
		if wanted == name {
			return r.Values, nil
		}
		return readFile(ctx, wanted)
	}
	out.Values = render.ValueOptions{Files: []string{name}, Set: r.Integers}
	out.Install = s.decision.action == report.DeployerInstall
	switch {
	case out.Install:
		out.CreateNamespace, out.SkipCRDs = a.CreateNamespace, a.SkipCRDs
	case s.decision.upgradesFirst:
	case a.ResetValues:
		out.Values.Reuse = render.ReuseReset
	case a.ReuseValues:
		out.Values.Reuse = render.ReuseValues
	}
	if a.RecreatePod && s.decision.action == report.DeployerUpgrade {
		s.warnings = append(s.warnings, deployer.PodsGo("recreate_pods"))
	}
	return &out
}

// lacksPostRenderer says that the program of a plan does not run.
func (s *Step) lacksPostRenderer() {
	program := s.release.Now.PostRenderer[0]
	if s.decision.action == report.DeployerNone {
		s.warn(unknownContent + "--post-renderer " + hint.ShellWord(program) + " lets the post-renderer of the plan run")
		return
	}
	what := "the upgrade"
	if s.decision.action == report.DeployerInstall {
		what = "the installation"
	}
	s.lacks(what + " is not predicted, because the plan names the post-renderer " + program +
		" and helmdrift runs no program of a plan by itself: --post-renderer " + hint.ShellWord(program) + " allows it")
}

// source is where the provider finds a chart. Title names it without credentials.
type source struct {
	ref, title string
	isPath     bool
	options    fetch.Options
}

// source returns where the provider finds the chart (terraform-provider-helm v3.1.2 helm/resource_helm_release.go chartPathOptions,
// useChartVersion, buildChartNameWithRepository, getVersion).
func (a *Arguments) source(with fetch.Options) source {
	chart := strings.TrimSpace(a.Chart)
	out := source{ref: chart, title: chart, options: with}
	o, repository := &out.options, ""
	address, err := url.Parse(a.Repository)
	_, errRequest := url.ParseRequestURI(a.Repository)
	switch {
	case a.Repository == "":
	case err == nil && address.Scheme == "oci":
		address.Path = path.Join(address.Path, chart)
		out.ref = address.String()
		out.title = out.ref
	case errRequest == nil:
		repository = a.Repository
	case !strings.Contains(chart, "/"):
		out.ref = a.Repository + "/" + chart
		out.title = out.ref
	}
	isURL := strings.Contains(out.ref, "://")
	if address, err := url.Parse(out.title); isURL && err == nil {
		address.User, address.RawQuery = nil, ""
		out.title = address.String()
	}
	_, errURL := url.ParseRequestURI(out.ref)
	out.isPath = !isURL && repository == "" &&
		(fetch.IsLocal(out.ref) || filepath.IsAbs(out.ref) || strings.HasPrefix(out.ref, ".") || strings.Count(out.ref, "/") != 1)
	o.Version, o.Devel, o.RepoURL = "", false, repository
	if hasVersion := strings.HasPrefix(out.ref, "oci://") || errURL != nil && !fetch.IsLocal(out.ref); hasVersion {
		o.Version, o.Devel = strings.TrimSpace(a.Version), a.Devel && a.Version == ""
	}
	o.Username, o.Password, o.PassCredentials = a.Username, a.Password, a.PassCredentials
	o.CAFile, o.CertFile, o.KeyFile = a.CAFile, a.CertFile, a.KeyFile
	o.Verify, o.Keyring = a.Verify, cmp.Or(a.Keyring, o.Keyring)
	return out
}

// Adapt changes options so that they compare what the provider does: it links Helm 3, and applies client-side.
func (s *Step) Adapt(o drift.Options) drift.Options {
	a := &s.release.Now
	o.Helm, o.ApplyMethod, o.Learned = "3", report.ApplyClientSide, (*drift.Secrets)(s.release.Known())
	o.TakeOwnership, o.ForceConflicts, o.NoHooks = a.TakeOwnership && !s.decision.upgradesFirst, false, a.DisableWebhooks
	o.ForceReplace = a.ForceUpdate && s.release.Change == Updates
	if len(s.release.Unknown) > 0 {
		o.Unknown = unknown.Text
	}
	run := o.Render
	o.Render = func(ctx context.Context, q drift.ChartRequest) (*drift.RenderedChart, error) {
		answer, err := run(ctx, q)
		if err == nil && o.Unknown != "" {
			var doubt string
			if doubt, err = unknown.Sharpen(ctx, run, q, answer); doubt != "" {
				s.doubt = doubt
			}
		}
		return answer, err
	}
	return o
}

// Choose returns the releases of a plan with these addresses and in these namespaces. It returns all if there are none. An address of a
// module or of a resource with count or for_each chooses all in it. An address that chooses nothing is an error.
func (p *Plan) Choose(addresses, namespaces []string) ([]Release, error) {
	inPlan, found := make([]bool, len(addresses)), make([]bool, len(addresses))
	var out []Release
	for _, r := range p.Releases {
		namespace, isKnown := r.Namespace()
		isIn := len(namespaces) == 0 || !isKnown || slices.Contains(namespaces, namespace)
		isChosen := isIn && len(addresses) == 0
		for i, address := range addresses {
			if holds(address, r.Address) {
				inPlan[i], found[i], isChosen = true, found[i] || isIn, isIn
			}
		}
		if isChosen {
			out = append(out, r)
		}
	}
	if i := slices.Index(inPlan, false); i >= 0 {
		return nil, hint.New(errors.New(addresses[i]+": the plan has no such helm_release"), "it has "+p.someAddresses())
	}
	if i := slices.Index(found, false); i >= 0 || len(out) == 0 {
		err := fmt.Errorf("the plan has no such helm_release in namespace %s", strings.Join(namespaces, ", "))
		if i >= 0 {
			err = fmt.Errorf("%s: %w", addresses[i], err)
		}
		return nil, hint.New(err, "without -n, the releases of all namespaces of the plan are compared")
	}
	return out, nil
}

// holds reports whether an address is that of a resource, or of something that has the resource.
func holds(address, resource string) bool {
	rest, isIn := strings.CutPrefix(resource, address)
	return isIn && (rest == "" || strings.ContainsAny(rest[:1], ".[ "))
}

// someAddresses returns the first addresses of a plan.
func (p *Plan) someAddresses() string {
	const most = 5
	var out []string
	for i, r := range p.Releases {
		if i == most {
			return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", len(p.Releases)-most)
		}
		out = append(out, r.Address)
	}
	return strings.Join(out, ", ")
}
