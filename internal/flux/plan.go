package flux

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/bucket"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tempdir"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Question asks what Flux does next with the release of a HelmRelease.
type Question struct {
	Namespace, Name string
	// Chart is the chart of the user, or what the flags say about the chart of the sources. Own is set if it is the user's.
	Chart *drift.Chart
	Own   bool
	// Source are the user's own logins and settings for fetching. WithCredentials uses those of the sources instead.
	Source          fetch.Options
	WithCredentials bool
	// Tree is the working tree that charts and objects come from, or nil.
	Tree *applied.Tree
	// Commit fetches the files of a commit into a folder, which done removes. It may be nil; then a chart in a GitRepository is not fetched.
	Commit func(context.Context, CommitOrder) (dir string, done func(), err error)
	// Bucket lists the objects of a bucket. Done removes what was fetched from it. It may be nil; then a chart in a Bucket is not fetched.
	Bucket func(context.Context, bucket.Source) (listing *bucket.Listing, done func(), err error)
	// Fetch fetches a chart, and Prepare and PostRender call the functions PrepareChart and PostRender of this package. Render renders a chart
	// and calls PostRender in the same child process.
	Fetch      func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)
	Prepare    func(context.Context, ChartOrder) (ChartAnswer, error)
	PostRender func(context.Context, RenderOrder) ([]byte, error)
	Render     func(context.Context, drift.ChartRequest, RenderOrder) (*drift.RenderedChart, error)
	// Known learns the secrets that are read.
	Known *secret.Known
	// settings returns the settings of helm-controller, which are read once for many HelmReleases. It is set by this package.
	settings func(context.Context, deployer.Reader) settings
}

// Plan is what Flux does next, and what to compare for it.
type Plan struct {
	// Target is what to compare: the upgrade, or the drift of a release that Flux leaves as it is.
	Target drift.Target
	// Preview is an upgrade that is compared beside Target. If Target has no chart although that of the sources is known, it is the upgrade to
	// that chart. If Flux may have another chart of the same version, it is the upgrade to that of the sources with the values that are
	// deployed. Its chart is nil if there is no preview.
	Preview drift.Target
	// kept is the HelmRelease whose post-renderers the preview has, if they are not those of release. Previews is set once the preview is
	// compared.
	kept     *api.HelmRelease
	previews bool
	// Connection is what the comparison reads.
	Connection drift.Connection

	reading  deployer.Reader
	release  *api.HelmRelease
	tree     *applied.Tree
	render   func(context.Context, drift.ChartRequest, RenderOrder) (*drift.RenderedChart, error)
	composed *api.Composition
	offer    *offer
	chart    identity
	// content is the contentOf the chart, and digest that of the values.
	content, digest string
	decision        decision
	// unfetched is why the chart could not be fetched from its source, or nil.
	unfetched error
	// isOther is set if the controller has another archive of the chart's version than helmdrift. MayBeOther is set if it has the version, and
	// its archive cannot be compared.
	isOther     bool
	mayBeOther  bool
	method      report.ApplyMethod
	warnings    []report.Message
	problems    []report.Message
	files       deployer.Fetched
	definitions []render.Document
	// doubt says what the rendering does not show, because values are not known.
	doubt string
}

// The codes of warnings and errors about what Flux does.
const (
	// CodeIncomplete is the code of the error that helmdrift cannot predict something that Flux does.
	CodeIncomplete = "flux-unknown"
	// CodeWarning is the code of a warning about the sources or the values.
	CodeWarning = "flux"
	// CodeDigest is the code of the warning that values or a chart are not those of the last attempt of the controller.
	CodeDigest = "flux-differs"
)

// New reads a HelmRelease and everything that decides what Flux does with it. The caller closes the plan.
func New(ctx context.Context, from drift.Connection, q Question) (*Plan, error) {
	var reading deployer.Reader = from.Cluster
	var sets setReader
	if q.Tree != nil {
		sets = setReader{q.Tree.Over, map[string]bool{}}
		reading, from.Lookups = sets, q.Tree.Lookups(from.Lookups)
	}
	h, err := api.Read(ctx, reading, q.Namespace, q.Name)
	if err != nil {
		return nil, q.Tree.Explain(err)
	}
	ref := api.HelmReleaseRef(q.Namespace, q.Name)
	if q.Tree != nil {
		for _, gone := range q.Tree.Dropped(ctx, []map[string]any{reading.Read(ctx, []object.Ref{ref})[ref].Object}) {
			h = gone
		}
	}
	p, err := newPlan(ctx, reading, from, q, h)
	if err != nil {
		return nil, err
	}
	for _, problem := range q.Tree.Problems() {
		if problem.Severity == tree.Failed || problem.Severity == tree.Unbuilt && sets.mayMake(ref, problem.Where) {
			p.lacks(problem.String())
		} else {
			p.warn(CodeWarning, problem.String())
		}
	}
	return p, nil
}

// newPlan reads everything else than the HelmRelease. Reading knows the objects of Flux.
func newPlan(ctx context.Context, reading deployer.Reader, from drift.Connection, q Question, h *api.HelmRelease) (p *Plan, err error) {
	if q.settings == nil {
		q.settings = settingsOnce()
	}
	p = &Plan{release: h, tree: q.Tree, render: q.Render, Connection: withCharts(from), reading: reading}
	if h.Spec.KubeConfig != nil {
		return nil, hint.New(fmt.Errorf("%s deploys to another cluster, which spec.kubeConfig names", h.Title()),
			"connect to that cluster, and compare its release: helmdrift diff "+h.ReleaseName()+" -n "+h.StorageNamespace())
	}
	if isGoing(h) && q.Tree != nil {
		p.reading = q.Tree.Over.Cluster // the tree may drop what it is made of as well
	}
	if p.composed, err = h.Compose(ctx, p.reading); err != nil {
		return nil, err
	}
	q.Known.AddKnown(p.secrets())
	rest := h.Spec
	if rest.Values = nil; api.HasUnknown(rest) {
		p.lacks("a field of " + h.Title() + " beside its values is not known, such as its name or its chart: Flux may do something else")
	}
	path, err := p.findChart(ctx, q)
	if err == nil {
		err = p.decide(ctx, q, path)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close removes the files of the plan.
func (p *Plan) Close() { p.files.Close() }

// warn and lacks add a warning, and an error that makes the report incomplete.
func (p *Plan) warn(code, message string) {
	p.warnings = append(p.warnings, report.Message{Code: code, Message: message})
}

func (p *Plan) lacks(message string) {
	p.problems = append(p.problems, report.Message{Code: CodeIncomplete, Message: message})
}

// findChart fetches the chart and prepares it as the controllers do. It returns an empty path if the chart cannot be fetched from its
// source.
func (p *Plan) findChart(ctx context.Context, q Question) (path string, err error) {
	if isGoing(p.release) {
		p.offer = &offer{}
		return "", nil
	}
	if p.offer, err = offerOf(ctx, p.release, p.reading, q); err != nil {
		return "", err
	}
	o := p.offer
	if ref := p.release.Spec.ChartRef; ref != nil && ref.Kind == "OCIRepository" && q.settings(ctx, p.reading).noDigest {
		o.order.Metadata = ""
	}
	var done func()
	switch {
	case q.Own:
		path, done, err = q.Chart.Fetch(ctx)
	case o.repository != nil && o.repository.isIn(q.Tree):
		o.order.Artifact = o.repository.artifact(q.Tree)
		o.order.Artifact.Chart = o.chartPath
		if o.repository.local(q.Tree) == "" { // the user's folder has what the source has
			o.doubtFiles()
		}
	case o.ref == "" && !o.hasCommit(q) && !o.hasBucket(q):
		return "", nil
	default:
		switch {
		case o.ref != "":
			path, done, err = p.fetch(ctx, q)
		case o.repository.kind == tree.KindBucket:
			err = p.fetchBucket(ctx, q)
		default:
			done, err = p.fetchCommit(ctx, q)
		}
		if err != nil && ctx.Err() == nil {
			// The status of the chart still decides what the controller does next.
			p.unfetched = err
			p.lacks(hint.Sentence(err))
			return "", nil
		}
	}
	if err != nil {
		return "", err
	}
	p.files.Keep(done)
	o.order.Path, o.order.AllowOutsideLinks = path, q.Chart.AllowOutsideLinks
	if info, err := os.Stat(path); q.Own && err == nil && info.IsDir() && o.chartPath != "" && len(o.order.ValuesFiles) > 0 {
		if o.order.Root = rootOf(filepath.ToSlash(path), o.chartPath); o.order.Root == "" {
			return "", hint.New(fmt.Errorf("the valuesFiles of %s are paths in %s, and %s is not the folder %s of it", p.release.Title(), o.title,
				q.Chart.Ref, o.chartPath), "give the folder of the chart in a working tree of the source")
		}
	}
	answer, err := q.Prepare(ctx, o.order)
	if err != nil {
		return "", fmt.Errorf("the chart of %s: %w", p.release.Title(), err)
	}
	p.chart, p.content = identity{answer.Name, answer.Version}, answer.Content
	if why := o.checkTag(answer.Version); why != "" && !q.Own {
		o.waits = why
	}
	// Source-controller builds a chart again only if it gets another version (fluxcd/source-controller v1.9.3
	// internal/helm/chart/builder_local.go Build, builder_remote.go generateBuildResult).
	p.mayBeOther = !q.Own && o.isCurrent && o.digest == "" && o.latest == p.chart.version
	if answer.Archive == nil {
		return path, p.checkContent(path, q.Own)
	}
	dir, err := tempdir.New()
	if err != nil {
		return "", err
	}
	p.files.Keep(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "chart.tgz")
	return path, os.WriteFile(path, answer.Archive, 0o600)
}

// checkContent finds out whether source-controller has another archive of the version that the repository offers. It does not fetch a
// version again that it has (fluxcd/source-controller v1.9.3 internal/helm/chart/builder_remote.go generateBuildResult).
func (p *Plan) checkContent(path string, own bool) error {
	if own || p.offer.digest == "" || p.offer.latest != p.chart.version {
		return nil
	}
	archive, err := os.ReadFile(path)
	p.isOther = err == nil && fmt.Sprintf("sha256:%x", sha256.Sum256(archive)) != p.offer.digest
	return err
}

// fetch fetches the chart from its source, with the user's own logins or, if the user asks for it, with those of the source.
func (p *Plan) fetch(ctx context.Context, q Question) (path string, done func(), err error) {
	o, with := p.offer, q.Source
	with.Version, with.RepoURL, with.Devel, with.PlainHTTP = o.from.Version, o.from.RepoURL, false, o.from.PlainHTTP || with.PlainHTTP
	with.PassCredentials = false // whatever the source says: its credentials are for its own host
	with.Plugins.Forbidden, with.Remote = true, true
	with.Refuse = func(ip netip.Addr) error { return address.Check(ip, o.title, o.inTree) }
	if o.login != nil && q.WithCredentials {
		if with.Username, with.Password, err = o.credentials(ctx, p.reading, q.Known); err != nil {
			return "", nil, err
		}
	}
	path, done, err = q.Fetch(ctx, o.ref, with)
	if err != nil && o.login != nil && !q.WithCredentials {
		return "", nil, hint.New(fmt.Errorf("%s: %w", o.title, err),
			"the source has a secretRef: --with-source-credentials uses it; otherwise log in with helm, or give the chart as CHART")
	}
	if err != nil {
		return "", nil, hint.New(fmt.Errorf("%s: %w", o.title, err), cmp.Or(hint.Of(err),
			"if the address is reachable in the cluster only, forward its port or give the chart as CHART"))
	}
	return path, done, nil
}

// decide decides what Flux does, and chooses what to compare. Path is the chart, or "".
func (p *Plan) decide(ctx context.Context, q Question, path string) error {
	h := p.release
	waits, err := p.waits(ctx, q)
	if err != nil {
		return err
	}
	records, err := p.Connection.Records(h.StorageNamespace())
	if err != nil {
		return err
	}
	history, err := records.History(ctx, h.ReleaseName())
	if err != nil {
		return err
	}
	records = recordsOnce{records, h.StorageNamespace(), map[drift.Target]*release.Loaded{}}
	p.digest = api.Digest(p.composed.Values)
	s := situation{
		release: h, chart: p.chart, values: p.digest, isUnknown: len(p.composed.Unknown) > 0, waits: waits,
	}
	for _, entry := range history.Entries {
		s.stored = append(s.stored, entry.Revision)
		s.number, s.state = entry.Revision, entry.Status
	}
	if last := h.Last(); last != nil && last.APIVersion != "" && last.Version == s.number {
		if loaded, err := records.Load(ctx, h.ReleaseName(), 0, release.Options{}); err == nil {
			s.foreign = foreign(last, loaded.Last)
		}
	}
	if s.state == "failed" || isPending(s.state) {
		s.retries = q.settings(ctx, p.reading).retries
	}
	if last := h.Last(); s.chart.name == "" && p.offer.isCurrent && !p.offer.moves && last != nil {
		// The chart itself is not here, but the controller says which version it has.
		s.chart = identity{last.ChartName, p.offer.latest}
	}
	p.chart = s.chart
	p.decision = s.decide()
	if p.chart.name == "" && p.decision.action != report.DeployerBlocked && p.unfetched == nil && !isGoing(h) {
		p.lacks("which version of the chart comes next is not known: " + hint.Sentence(p.noChart()))
	}
	p.addUnknown()
	p.prove(s, q.Own)
	return p.chooseTarget(ctx, records, q, path, s)
}

// addUnknown says which values are not known. If Flux would do nothing, they may make it upgrade.
func (p *Plan) addUnknown() {
	unknown := strings.Join(p.composed.Unknown, "; ")
	switch {
	case unknown == "":
	case p.decision.action == report.DeployerNone:
		p.lacks("whether the values changed is not known: " + unknown)
	case p.composed.Whole:
		p.lacks("a document of the values is not known, so the upgrade may change more than is shown: " + unknown)
	default:
		p.warn(CodeWarning, "values that are not known: "+unknown)
	}
}

// waits says what helm-controller waits for, or returns "" (fluxcd/helm-controller v1.6.0 internal/controller/helmrelease_controller.go
// checkDependencies).
func (p *Plan) waits(ctx context.Context, q Question) (string, error) {
	h := p.release
	for _, d := range h.Spec.DependsOn {
		namespace := cmp.Or(d.Namespace, h.Metadata.Namespace)
		title := "the dependency " + namespace + "/" + d.Name
		if d.ReadyExpr != "" {
			p.lacks(title + " has a readyExpr, which helmdrift does not evaluate: whether Flux waits for it is not known")
			continue
		}
		why, err := p.waitsFor(ctx, namespace, d.Name, title)
		switch {
		case err != nil:
			p.lacks(title + " cannot be read, so whether Flux waits for it is not known: " + err.Error())
		case why != "":
			return why, nil
		}
	}
	return cmp.Or(p.refusesSource(ctx, q), p.offer.waits), nil
}

// waitsFor says why a dependency keeps helm-controller from acting, or returns "". It fails if the dependency cannot be read. One that is
// reconciled next, as it changes as well, is waited for only until it has been. One that is suspended stays as ready as it is
// (fluxcd/helm-controller v1.6.0 internal/controller/helmrelease_controller.go Reconcile).
func (p *Plan) waitsFor(ctx context.Context, namespace, name, title string) (string, error) {
	ref := api.HelmReleaseRef(namespace, name)
	if p.tree != nil && p.tree.Deletes(ctx, ref, p.reading.Read(ctx, []object.Ref{ref})[ref].Object) != "" {
		return title + " goes", nil
	}
	on := &api.HelmRelease{}
	switch err := api.Flux.Read(ctx, p.reading, ref, on); {
	case errors.Is(err, deployer.ErrAbsent):
		return title + " does not exist", nil
	case err != nil:
		return "", err
	}
	_, isReady := api.HasStatus(on.Status.Conditions, "Ready", "True")
	isObserved := on.Metadata.Generation == on.Status.ObservedGeneration
	switch {
	case isReady && isObserved:
		return "", nil
	case !isObserved && (isReady || len(on.Status.Conditions) == 0 && !on.Spec.Suspend):
		p.warn(CodeWarning, title+" changes as well, and Flux waits until it is ready")
		return "", nil
	}
	return title + " is not ready", nil
}

// prove compares what was composed with what helm-controller says of its last attempt, if it attempted the HelmRelease as it is. Own is set
// if the user gives the chart, which may have any version.
func (p *Plan) prove(s situation, own bool) {
	status := p.release.Status
	if status.LastAttemptedGeneration != p.release.Metadata.Generation || status.LastAttemptedConfigDigest == "" {
		return
	}
	switch {
	case s.isUnknown || status.LastAttemptedConfigDigest == s.values:
	case len(p.release.Spec.ValuesFrom) > 0:
		p.warn(CodeDigest, "the values are not those of Flux's last attempt: a ConfigMap or a Secret of spec.valuesFrom changed since, or "+
			"helmdrift composes them otherwise")
	default:
		p.warn(CodeDigest, "the values are not those of Flux's last attempt, although the HelmRelease is: helmdrift composes them otherwise")
	}
	isKnown := s.chart.version != "" && !strings.Contains(s.chart.version, unknown.Text) // the commit to come may be a part of it
	if !own && isKnown && status.LastAttemptedRevision != s.chart.version {
		p.warn(CodeDigest, fmt.Sprintf("the chart version is %s, and %s at Flux's last attempt: %s offers another one since, or helmdrift "+
			"chooses otherwise", s.chart.version, status.LastAttemptedRevision, p.offer.title))
	}
}

// chooseTarget chooses what to compare for the decision.
func (p *Plan) chooseTarget(ctx context.Context, records drift.Records, q Question, path string, s situation) error {
	h := p.release
	stored := drift.Target{Namespace: h.StorageNamespace(), Release: h.ReleaseName()}
	with := stored
	if path != "" {
		with.Chart = p.upgradeChart(q, path)
	}
	p.Target = stored
	switch p.decision.action {
	case report.DeployerUpgrade, report.DeployerInstall:
		if err := p.findMethod(ctx, records, q); err != nil {
			return err
		}
		p.addKept(ctx, records, q, path, s)
		if p.Target = with; path == "" {
			if s.number == 0 {
				return p.noChart()
			}
			if p.unfetched == nil {
				p.lacks(hint.Sentence(p.noChart()))
			}
		}
	case report.DeployerRollback:
		p.Target.RollbackTo = p.decision.revision
		return p.findMethod(ctx, records, q)
	case report.DeployerReinstall, report.DeployerUninstall:
		if last := h.Last(); last != nil {
			p.Target.Namespace, p.Target.Release = cmp.Or(h.Status.StorageNamespace, h.StorageNamespace()), last.Name
		}
		p.warn(CodeWarning, deployer.WhatGoes("Flux", p.decision.action))
	default:
		if s.number == 0 && !isGoing(h) {
			if p.Target = with; path == "" {
				return p.noChart()
			}
			return p.findMethod(ctx, records, q)
		}
		p.Preview = with
	}
	return nil
}

// noChart returns the error of a chart that helmdrift cannot fetch.
func (p *Plan) noChart() error {
	if p.unfetched != nil {
		return p.unfetched
	}
	return hint.New(errors.New("the chart is in "+p.offer.title+", which helmdrift does not fetch"+p.offer.unread), p.adviceForChart())
}

// adviceForChart says how the user gives the chart.
func (p *Plan) adviceForChart() string {
	if s := p.offer.repository; s != nil && p.tree != nil {
		return fmt.Sprintf("--local-source %s/%s/%s=FOLDER says where its content is", s.kind, s.Metadata.Namespace, s.Metadata.Name)
	}
	h, where := p.release.Metadata, cmp.Or(p.offer.chartPath, "FOLDER")
	return fmt.Sprintf("give it as CHART: helmdrift diff hr/%s %s -n %s", h.Name, hint.ShellWord(where), h.Namespace)
}

// findMethod finds out how the operation writes (fluxcd/helm-controller v1.6.0 internal/action/upgrade.go Upgrade, install.go newInstall,
// rollback.go Rollback).
func (p *Plan) findMethod(ctx context.Context, records drift.Records, q Question) error {
	h, isServerSide := p.release, false
	onInstall, chosen := h.Spec.Install.ServerSideApply, h.Spec.Upgrade.ServerSideApply
	if p.decision.action == report.DeployerRollback {
		chosen = h.Spec.Rollback.ServerSideApply
	}
	switch {
	case p.installs() && onInstall == nil:
		isServerSide = !q.settings(ctx, p.reading).helm3
	case p.installs():
		isServerSide = *onInstall
	case chosen == "enabled" || chosen == "disabled":
		isServerSide = chosen == "enabled"
	default:
		decisive, err := p.decisive(ctx, records)
		if err != nil || decisive == nil {
			return err
		}
		isServerSide = decisive.ApplyMethod == report.ApplyServerSide
	}
	if p.method = report.ApplyClientSide; isServerSide {
		p.method = report.ApplyServerSide
	}
	return nil
}

// decisive returns the record that says how the next operation writes: the last one, or the one that a rollback goes back to.
func (p *Plan) decisive(ctx context.Context, records drift.Records) (*release.Record, error) {
	if p.decision.action == report.DeployerRollback {
		loaded, err := records.LoadRollback(ctx, p.release.ReleaseName(), p.decision.revision, release.Options{})
		if err != nil {
			return nil, err
		}
		return loaded.Target, nil
	}
	loaded, err := records.Load(ctx, p.release.ReleaseName(), 0, release.Options{})
	if err != nil {
		return nil, err
	}
	return loaded.Last, nil
}

// installs reports whether helm-controller installs the release, or would if nothing kept it from acting, also after it has uninstalled
// another one.
func (p *Plan) installs() bool {
	otherwise := p.decision.otherwise
	return p.decision.action == report.DeployerInstall || otherwise == report.DeployerInstall || otherwise == report.DeployerReinstall
}

// upgradeChart returns the chart with the values and the options that helm-controller gives Helm (fluxcd/helm-controller v1.6.0
// internal/action/upgrade.go newUpgrade, install.go newInstall).
func (p *Plan) upgradeChart(q Question, path string) *drift.Chart {
	h := p.release
	out := *q.Chart
	if !q.Own {
		out.Ref = p.offer.title
	}
	out.Fetch = func(context.Context) (string, func(), error) { return path, nil, nil }
	name, readFile := "values of "+h.Metadata.Name, out.ReadFile
	text, err := json.Marshal(p.composed.Values)
	out.Values = render.ValueOptions{Files: []string{name}, Set: deployer.Integers(p.composed.Values), Reuse: render.ReuseReset}
	out.ReadFile = func(ctx context.Context, wanted string) ([]byte, error) {
		if wanted == name {
			return text, err
		}
		return readFile(ctx, wanted)
	}
	out.Install, out.EnableDNS = true, false
	if p.installs() {
		out.CreateNamespace = h.Spec.TargetNamespace != "" && h.Spec.Install.CreateNamespace
		out.SkipCRDs = h.Spec.Install.CRDs == "Skip"
		out.SkipSchemaValidation = h.Spec.Install.DisableSchemaValidation
	} else {
		out.UpgradeCRDs, out.SkipCRDs = true, h.Spec.Upgrade.CRDs == "Skip"
		out.SkipSchemaValidation = h.Spec.Upgrade.DisableSchemaValidation
		if h.Spec.Upgrade.PreserveValues {
			out.Values.Reuse = render.ReuseValues
		}
	}
	out.PostRender = func(ctx context.Context, manifest []byte) ([]byte, error) {
		return q.PostRender(ctx, renderOrder(h, manifest))
	}
	return &out
}

// addKept adds the preview of an upgrade to the same version of the chart with the values and the post-renderers that are deployed.
// Whatever it changes is a change of the chart, and source-controller keeps the chart that it has.
func (p *Plan) addKept(ctx context.Context, records drift.Records, q Question, path string, s situation) {
	h, last := p.release, p.release.Last()
	if !p.mayBeOther || last == nil || last.ChartVersion != p.chart.version {
		return
	}
	if loaded, err := records.Load(ctx, h.ReleaseName(), 0, release.Options{}); err == nil && hasContent(loaded, p.content) {
		return // the chart has not changed
	}
	was := h
	if q.Tree != nil {
		if now := q.Tree.Live(api.HelmReleaseRef(h.Metadata.Namespace, h.Metadata.Name)); now != nil {
			was = api.HelmReleaseOf(now)
		}
	}
	if last.Version != s.number || was.Fault != nil || digestOf(was.Spec.PostRenderers) != h.Status.ObservedPostRenderersDigest ||
		digestOf(was.Spec.CommonMetadata) != h.Status.ObservedCommonMetadataDigest {
		p.warn(CodeWarning, unknownContent+"what the deployed values and post-renderers make of it cannot be compared with what is deployed")
		return
	}
	out := p.upgradeChart(q, path)
	out.UpgradeCRDs = false // somebody else may have changed a definition
	if out.Values = (render.ValueOptions{Reuse: render.ReuseAfterReset}); was.Spec.Upgrade.PreserveValues {
		out.Values.Reuse = render.ReuseValues
	}
	p.Preview, p.kept = drift.Target{Namespace: h.StorageNamespace(), Release: h.ReleaseName(), Chart: out}, was
}

// secrets returns the secrets of the values and of the variables of a tree, which a report must not show wherever the chart puts them.
func (p *Plan) secrets() *secret.Known {
	known := &secret.Known{}
	for _, s := range slices.Concat(p.composed.Secrets, p.composed.Learned, p.tree.SecretObjects()) {
		known.AddMembers(s)
	}
	known.AddKnown(p.tree.Secrets())
	return known
}

// Adapt changes options so that they compare what Flux does.
func (p *Plan) Adapt(o drift.Options) drift.Options {
	h := p.release
	o.TakeOwnership, o.NoHooks = !h.Spec.Upgrade.DisableTakeOwnership, h.Spec.Upgrade.DisableHooks
	replaces := p.decision.action == report.DeployerUpgrade && h.Spec.Upgrade.Force
	switch {
	case p.installs():
		o.TakeOwnership, o.NoHooks, o.Helm = !h.Spec.Install.DisableTakeOwnership, h.Spec.Install.DisableHooks, "4"
	case p.decision.action == report.DeployerRollback:
		o.NoHooks, replaces = h.Spec.Rollback.DisableHooks, h.Spec.Rollback.Force
	}
	o.ApplyMethod = p.method
	o.ForceConflicts = p.method == report.ApplyServerSide
	// fluxcd/helm-controller v1.6.0 internal/action/upgrade.go Upgrade, rollback.go Rollback, newRollback
	o.By = &threeway.Deployment{Manager: report.ControllerFlux, ForcesConflicts: true}
	o.ForceReplace = p.method == report.ApplyClientSide && replaces
	o.FromFlux, o.Learned = false, (*drift.Secrets)(p.secrets())
	if len(p.composed.Unknown) > 0 || strings.Contains(p.chart.version, unknown.Text) {
		o.Unknown = unknown.Text
	}
	o.Ignore = slices.Concat(p.ignoreRules(), o.Ignore)
	o.Render = func(ctx context.Context, q drift.ChartRequest) (*drift.RenderedChart, error) {
		run := func(ctx context.Context, q drift.ChartRequest) (*drift.RenderedChart, error) {
			by := h
			if p.previews && p.kept != nil {
				by = p.kept
			}
			return p.render(ctx, q, renderOrder(by, nil))
		}
		answer, err := run(ctx, q)
		if err == nil && o.Unknown != "" {
			var doubt string
			if doubt, err = unknown.Sharpen(ctx, run, q, answer); doubt != "" {
				p.doubt = doubt
			}
		}
		if err == nil {
			answer.Rendered.Definitions = ownDefinitions(h, answer.Rendered.Definitions)
			p.definitions = answer.Rendered.Definitions
			if len(answer.Rendered.Hooks) == 0 || !patches(h) {
				// The post-renderers of Flux change nothing of a hook that a comparison looks at.
				answer.Rendered.Warnings = slices.DeleteFunc(answer.Rendered.Warnings, func(m report.Message) bool {
					return m.Code == render.CodeHooksNotPostRendered
				})
			}
		}
		return answer, err
	}
	return o
}

// ignoreRules returns the rules of spec.driftDetection.ignore.
func (p *Plan) ignoreRules() (out []report.RuleText) {
	h := p.release
	if h.Spec.DriftDetection == nil {
		return nil
	}
	for i, rule := range h.Spec.DriftDetection.Ignore {
		text := report.RuleText{
			Name: fmt.Sprintf("%s ignore[%d]", h.Title(), i), Origin: report.ControllerFlux, Paths: rule.Paths, Literal: true,
			Reason: "Flux puts it back only when it upgrades the release",
		}
		if t := rule.Target; t != nil {
			text.Target = &report.TargetText{
				Group: t.Group, Version: t.Version, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name,
				LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
			}
		}
		out = append(out, text)
	}
	return out
}
