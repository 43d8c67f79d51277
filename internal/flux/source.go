package flux

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file finds the chart that the sources of a HelmRelease offer, as source-controller chooses it.

// source is a HelmRepository, an OCIRepository, a HelmChart or any other source.
type source struct {
	Metadata api.Meta `json:"metadata"`
	Spec     struct {
		api.ChartSpec
		URL             string     `json:"url"`
		Type            string     `json:"type"`
		Insecure        bool       `json:"insecure"`
		Provider        string     `json:"provider"`
		SecretRef       *secretRef `json:"secretRef"`
		CertSecretRef   *secretRef `json:"certSecretRef"`
		ProxySecretRef  *secretRef `json:"proxySecretRef"`
		PassCredentials bool       `json:"passCredentials"`
		Ref             reference  `json:"ref"`
		Ignore          string     `json:"ignore"`
		Include         []any      `json:"include"`
		Submodules      bool       `json:"recurseSubmodules"`
		Sparse          []string   `json:"sparseCheckout"`
		bucketSpec
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64           `json:"observedGeneration"`
		Conditions         []api.Condition `json:"conditions"`
		Artifact           *struct {
			Revision string `json:"revision"`
			Digest   string `json:"digest"`
		} `json:"artifact"`
	} `json:"status"`
	// kind is its kind, and inTree is set if a working tree has it.
	kind   string
	inTree bool
}

// bucketSpec has the fields of a Bucket alone.
type bucketSpec struct {
	Endpoint string         `json:"endpoint"`
	Bucket   string         `json:"bucketName"`
	Region   string         `json:"region"`
	Prefix   string         `json:"prefix"`
	STS      map[string]any `json:"sts"`
}

// reference chooses from the tags of an OCIRepository, or what a GitRepository has.
type reference struct {
	tree.GitRef
	Digest       string `json:"digest"`
	SemverFilter string `json:"semverFilter"`
}

// secretRef names a Secret in the namespace of the source.
type secretRef struct {
	Name string `json:"name"`
}

// offer is the chart that a source offers.
type offer struct {
	// ref and from say what to fetch. Ref is empty if helmdrift cannot fetch from this source; then the user has to give the chart.
	ref  string
	from fetch.Options
	// order says how source-controller changes the chart.
	order ChartOrder
	// latest is the version of the chart that the controller has now, as far as its status says so, and isCurrent is set if that is what the
	// source offers.
	latest    string
	isCurrent bool
	// digest is that of the archive that the controller has, or "" if the archive is not as it was fetched.
	digest string
	// repository is the source if it holds files, and not charts. The version of the chart ends with its revision if revises is set, and with
	// generation, which may be "".
	repository *source
	revises    bool
	generation string
	// moves is set if a tree changes which files the repository has, or source-controller has not looked at a change of them yet. Then what
	// the controllers have of it is not what comes next.
	moves bool
	// title names the source in messages, and chartPath is the place of the chart in a repository of files.
	title, chartPath string
	// waits says what the controller waits for, and doubts what is not known about the chart.
	waits  string
	doubts []string
	inputs []report.DeployerInput
	// unread says after a colon why the chart cannot be read from its source, or is "".
	unread string
	// isSuspended is set if the HelmChart is suspended, so that source-controller keeps the chart that it has.
	isSuspended bool
	// tag is the tag of an OCIRepository that source-controller has chosen, or "".
	tag string
	// login is the Secret with the credentials of the source, and namespace its namespace.
	login     *secretRef
	namespace string
	// url is the address of the source, and inTree is set if the source is in a working tree.
	url    string
	inTree bool
}

// offerOf reads the sources of a HelmRelease for a question.
func offerOf(ctx context.Context, h *api.HelmRelease, from deployer.Reader, q Question) (*offer, error) {
	namespace := sourceNamespace(h)
	switch ref := h.Spec.ChartRef; {
	case h.Spec.Chart != nil:
		return fromTemplate(ctx, h, from, q)
	case ref == nil:
		return nil, fmt.Errorf("%s has neither spec.chart nor spec.chartRef", h.Title())
	case ref.Kind == "OCIRepository":
		return fromOCI(ctx, from, namespace, ref.Name, q)
	case ref.Kind == "HelmChart":
		made, err := readSource(ctx, from, "HelmChart", namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		return fromSpec(ctx, from, made.Spec.ChartSpec, namespace, made, q)
	default:
		return &offer{title: deployer.TitleOf(ref.Kind, namespace, ref.Name)}, nil
	}
}

// fromTemplate returns the offer for spec.chart. helm-controller makes a HelmChart of it in the namespace of the source
// (fluxcd/helm-controller v1.6.0 internal/reconcile/helmchart_template.go buildHelmChartFromTemplate).
func fromTemplate(ctx context.Context, h *api.HelmRelease, from deployer.Reader, q Question) (*offer, error) {
	wanted := h.Spec.Chart.Spec
	wanted.Interval = cmp.Or(wanted.Interval, h.Spec.Interval)
	namespace := sourceNamespace(h)
	made, err := readSource(ctx, from, "HelmChart", namespace, h.Metadata.Namespace+"-"+h.Metadata.Name)
	switch {
	case errors.Is(err, deployer.ErrAbsent):
		made = nil
	case err != nil:
		return nil, err
	case !made.isMadeOf(wanted):
		// The controller will update the HelmChart, and then its status says something else.
		made.Metadata.Generation++
	}
	return fromSpec(ctx, from, wanted, namespace, made, q)
}

// folder returns the folder of a tree with the content of the source, or "". The tree need not be there. What is merged is not in a source
// that is suspended, so only a folder that the user gives has its content.
func (s *source) folder(t *applied.Tree) string {
	if s.Spec.Suspend {
		return s.local(t)
	}
	return t.Folder(s.kind, s.Metadata.Namespace, s.Metadata.Name, s.Spec.URL, s.Spec.Ref.GitRef)
}

// local returns the folder that the user gives for the source, or "". No remote of a tree has an empty address.
func (s *source) local(t *applied.Tree) string {
	return t.Folder(s.kind, s.Metadata.Namespace, s.Metadata.Name, "", s.Spec.Ref.GitRef)
}

// isIn reports whether a tree has the content of the source.
func (s *source) isIn(t *applied.Tree) bool { return s.folder(t) != "" }

// artifact returns the content of a source that a tree has.
func (s *source) artifact(t *applied.Tree) *ArtifactOrder {
	return &ArtifactOrder{Dir: s.folder(t), Kind: s.kind, Ignore: s.Spec.Ignore}
}

// isMadeOf reports whether a HelmChart has the spec that helm-controller gives it.
func (s *source) isMadeOf(wanted api.ChartSpec) bool {
	wanted.SourceRef.Namespace = ""
	wanted.Version, wanted.ReconcileStrategy = cmp.Or(wanted.Version, "*"), cmp.Or(wanted.ReconcileStrategy, "ChartVersion")
	have := s.Spec.ChartSpec
	have.SourceRef.Namespace, have.Suspend = "", false
	have.Version, have.ReconcileStrategy = cmp.Or(have.Version, "*"), cmp.Or(have.ReconcileStrategy, "ChartVersion")
	is, err := time.ParseDuration(have.Interval)
	want, errWant := time.ParseDuration(wanted.Interval)
	if err != nil || errWant != nil || is == want { // the API server has an interval in each of them
		have.Interval = wanted.Interval
	}
	a, _ := json.Marshal(wanted)
	b, _ := json.Marshal(have)
	return string(a) == string(b)
}

// readSource reads a source.
func readSource(ctx context.Context, from deployer.Reader, kind, namespace, name string) (*source, error) {
	ref := object.Ref{Key: object.Key{Group: api.SourceGroup, Kind: kind, Namespace: namespace, Name: name}, Version: "v1"}
	out := &source{kind: kind}
	err := api.Flux.Read(ctx, from, ref, out)
	if over, isOverlay := from.(interface{ Makes(ref object.Ref) bool }); isOverlay {
		out.inTree = over.Makes(ref)
	}
	return out, err
}

// fromSpec returns the offer for a HelmChart. Made is the HelmChart as it is, or nil if there is none yet.
func fromSpec(ctx context.Context, from deployer.Reader, wanted api.ChartSpec, namespace string, made *source, q Question) (*offer, error) {
	kind := wanted.SourceRef.Kind
	out := &offer{title: deployer.TitleOf(kind, namespace, wanted.SourceRef.Name), namespace: namespace, chartPath: wanted.Chart}
	out.order.ValuesFiles, out.order.IgnoreMissing = valuesFiles(wanted), wanted.IgnoreMissingValuesFiles
	out.inputs = []report.DeployerInput{{Use: "chart", Kind: kind, Namespace: namespace, Name: wanted.SourceRef.Name}}
	generation := int64(1)
	if made != nil {
		generation = made.Metadata.Generation
		out.isCurrent = generation == made.Status.ObservedGeneration && made.Status.Artifact != nil
		if made.Status.Artifact != nil {
			out.latest = made.Status.Artifact.Revision
			if kind == "HelmRepository" && out.isCurrent && len(out.order.ValuesFiles) == 0 {
				out.digest = made.Status.Artifact.Digest
			}
		}
		switch title := deployer.TitleOf("HelmChart", made.Metadata.Namespace, made.Metadata.Name); {
		case made.Spec.Suspend && !out.isCurrent:
			out.waits = title + " is suspended, and source-controller has not built it as it is now"
		case made.isMadeOf(wanted):
			out.waits = made.waits(title)
		}
		out.isSuspended = made.Spec.Suspend && out.isCurrent
	}
	repository, err := readSource(ctx, from, kind, namespace, wanted.SourceRef.Name)
	if err != nil {
		return nil, fmt.Errorf("the source of the chart: %w", err)
	}
	switch {
	case kind == "HelmRepository":
	case out.isSuspended && !q.Own:
		out.unread = ": the HelmChart is suspended, and source-controller keeps the chart that it built"
		return out, nil
	default:
		out.repository = repository
	}
	out.moves = out.repository != nil && repository.moves(q)
	isHeld := repository.Spec.Suspend || made != nil && made.Spec.Suspend
	comesNext := out.repository != nil && !isHeld && (out.moves || repository.isIn(q.Tree))
	if comesNext && out.waits != "" {
		out.doubts, out.waits = append(out.doubts, out.waits+"; the files that come next may change that"), ""
	}
	switch {
	case kind == tree.KindBucket:
		out.unread = repository.notS3(q)
	case out.moves && repository.Spec.Ref.Fetched() == "":
		out.unread = ": source-controller has not chosen a tag for its range of versions yet"
	}
	if len(out.order.ValuesFiles) > 0 {
		out.generation = strconv.FormatInt(generation, 10)
	}
	revision := ""
	if out.revises = out.repository != nil && wanted.ReconcileStrategy == "Revision"; out.revises {
		switch revision = repository.revisionDigest(); {
		case out.repository.isIn(q.Tree):
			revision = unknown.Text // the commit is yet to come
		case out.moves:
			revision = cmp.Or(shortDigest(repository.Spec.Ref.Commit), unknown.Text)
		case q.Own || !out.hasBucket(q):
			out.doubts = append(out.doubts, "the version of the chart ends with the revision of "+out.title+", which another commit changes")
		}
	}
	out.setRevision(revision)
	if kind != "HelmRepository" || q.Own {
		return out, nil
	}
	return out, out.fromRepository(repository, wanted)
}

// setRevision sets what source-controller adds to the version of the chart (fluxcd/source-controller v1.9.3
// internal/controller/helmchart_controller.go buildFromTarballArtifact).
func (o *offer) setRevision(revision string) {
	o.order.Metadata = strings.Trim(revision+"."+o.generation, ".")
}

// valuesFiles returns the values files that replace the default values. values.yaml alone replaces nothing (fluxcd/source-controller v1.9.3
// internal/helm/chart/builder.go GetValuesFiles).
func valuesFiles(c api.ChartSpec) []string {
	if len(c.ValuesFiles) == 1 && path.Clean(c.ValuesFiles[0]) == "values.yaml" {
		return nil
	}
	return c.ValuesFiles
}

// fromRepository adds what to fetch from a HelmRepository.
func (o *offer) fromRepository(repository *source, wanted api.ChartSpec) error {
	where := repository.Spec.URL
	o.from = fetch.Options{Version: wanted.Version, PlainHTTP: repository.Spec.Insecure}
	if (repository.Spec.Suspend || o.isSuspended) && o.isCurrent {
		what := o.title
		if o.isSuspended {
			what = "the HelmChart"
		}
		o.from.Version, _, _ = strings.Cut(o.latest, "+")
		o.doubts = append(o.doubts, what+" is suspended, so Flux takes no newer version than the one that it has")
	}
	if repository.Spec.Type == "oci" || strings.HasPrefix(where, "oci://") {
		o.ref = strings.TrimSuffix(where, "/") + "/" + wanted.Chart
	} else {
		o.ref, o.from.RepoURL = wanted.Chart, where
	}
	return o.reach(repository)
}

// fromOCI returns the offer of an OCIRepository. helm-controller adds the digest of the manifest to the version of the chart
// (fluxcd/helm-controller v1.6.0 internal/controller/helmrelease_controller.go mutateChartWithSourceRevision).
func fromOCI(ctx context.Context, from deployer.Reader, namespace, name string, q Question) (*offer, error) {
	repository, err := readSource(ctx, from, "OCIRepository", namespace, name)
	if err != nil {
		return nil, fmt.Errorf("the source of the chart: %w", err)
	}
	out := &offer{title: deployer.TitleOf("OCIRepository", namespace, name), namespace: namespace}
	out.inputs = []report.DeployerInput{{Use: "chart", Kind: "OCIRepository", Namespace: namespace, Name: name}}
	out.waits = repository.waits(out.title)
	out.from.PlainHTTP = repository.Spec.Insecure
	where, choice := strings.TrimSuffix(repository.Spec.URL, "/"), repository.Spec.Ref
	if repository.Status.Artifact != nil && (repository.isObserved() || repository.choosesAsBefore(q)) {
		// What the controller has is what it deploys, even if somebody has moved the tag since.
		tag, digest, found := strings.Cut(repository.Status.Artifact.Revision, "@")
		if out.tag = strings.ReplaceAll(tag, "_", "+"); !found {
			out.tag, digest = "", repository.Status.Artifact.Revision
		}
		out.ref, out.order.Metadata = where+"@"+digest, repository.revisionDigest()
		return out, out.reach(repository)
	}
	switch {
	case choice.Digest != "":
		out.ref, out.order.Metadata = where+"@"+choice.Digest, shortDigest(choice.Digest)
	case choice.SemVer != "" && choice.SemverFilter != "":
		return nil, hint.New(fmt.Errorf("%s has a semverFilter, and source-controller has not chosen a tag yet", out.title),
			"try again when it is ready")
	default:
		out.ref, out.from.Version, out.order.Metadata = where, cmp.Or(choice.SemVer, choice.Tag, "latest"), unknown.Text
		out.doubts = append(out.doubts,
			"source-controller has not seen "+out.title+" as it is now, so the digest in the version of the chart is not known")
	}
	return out, out.reach(repository)
}

// isObserved reports whether source-controller has looked at the source as it is now.
func (s *source) isObserved() bool { return s.Status.ObservedGeneration == s.Metadata.Generation }

// choosesAsBefore reports whether a source that a tree changes chooses what the one of the cluster does, which source-controller has
// looked at.
func (s *source) choosesAsBefore(q Question) bool {
	live := &source{}
	ref := object.Ref{
		Key:     object.Key{Group: api.SourceGroup, Kind: s.kind, Namespace: s.Metadata.Namespace, Name: s.Metadata.Name},
		Version: "v1",
	}
	if q.Tree == nil || api.Flux.Decode(q.Tree.Live(ref), "the "+s.kind, live) != nil {
		return false
	}
	return live.isObserved() && reflect.DeepEqual(live.choice(), s.choice())
}

// choice returns the fields that decide which files a source has.
func (s *source) choice() []any {
	return []any{s.Spec.URL, s.Spec.Ref, s.Spec.Ignore, s.Spec.Include, s.Spec.Submodules, s.Spec.Sparse, s.Spec.Provider, s.Spec.bucketSpec}
}

// moves reports whether a tree changes which files a source has, or source-controller has not looked at such a change yet. A tree that has
// the files itself knows them, and a source that is suspended keeps those of the last commit that source-controller fetched.
func (s *source) moves(q Question) bool {
	return s.inTree && !s.Spec.Suspend && !s.isIn(q.Tree) && !s.isObserved() && !s.choosesAsBefore(q)
}

// checkTag says why helm-controller does not take a chart of an OCIRepository, or returns "". A tag that is a version must be that of the
// chart (fluxcd/helm-controller v1.6.0 internal/controller/helmrelease_controller.go mutateChartWithSourceRevision).
func (o *offer) checkTag(version string) string {
	tag, err := semver.NewVersion(o.tag)
	is, errIs := semver.NewVersion(version)
	if err != nil || errIs != nil || tag.Equal(is) {
		return ""
	}
	return fmt.Sprintf("%s has the tag %s, and the chart has version %s, which helm-controller refuses", o.title, o.tag, version)
}

// revisionDigest returns the part of an artifact's revision that the controllers add to the version of a chart: the first 12 letters of
// the digest or the commit (fluxcd/source-controller v1.9.3 internal/controller/helmchart_controller.go buildFromTarballArtifact).
func (s *source) revisionDigest() string {
	if s.Status.Artifact == nil {
		return ""
	}
	_, digest, found := strings.Cut(s.Status.Artifact.Revision, "@")
	if !found {
		digest = s.Status.Artifact.Revision
	}
	return shortDigest(digest)
}

// shortDigest returns the first 12 letters of a digest without its algorithm, or "" if it has fewer.
func shortDigest(digest string) string {
	const length = 12
	if _, hash, found := strings.Cut(digest, ":"); found {
		digest = hash
	}
	if len(digest) < length {
		return ""
	}
	return digest[:length]
}

// waits says why helm-controller does not use a source, or returns "" (fluxcd/helm-controller v1.6.0
// internal/controller/helmrelease_controller.go isReady).
func (s *source) waits(title string) string {
	why, isStalled := api.HasStatus(s.Status.Conditions, "Stalled", "True")
	notReady, _ := api.HasStatus(s.Status.Conditions, "Ready", "False")
	switch {
	case !s.isObserved() && s.Spec.Suspend:
		return title + " is suspended, and source-controller has not looked at it as it is now"
	case !s.isObserved():
		if notReady == "" {
			return "" // the controller is about to look at it
		}
		return title + " is not ready: " + notReady
	case isStalled:
		return title + " is not ready: " + why
	case s.Status.Artifact == nil:
		return title + " is not ready: " + cmp.Or(notReady, "it does not have an artifact")
	}
	return ""
}

// reach checks the address of a source, and notes what else is needed to fetch from it.
func (o *offer) reach(s *source) error {
	field := "spec.url"
	if o.url = s.Spec.URL; s.kind == tree.KindBucket {
		field, o.url = "spec.endpoint", api.EndpointURL(s.Spec.Endpoint, s.Spec.Insecure)
	}
	o.login, o.inTree = s.Spec.SecretRef, s.inTree
	if s.Spec.CertSecretRef != nil {
		o.doubts = append(o.doubts, "spec.certSecretRef of "+o.title+" is not used: --ca-file, --cert-file and --key-file name certificates")
	}
	return address.CheckURL(o.url, field+" of "+o.title, s.inTree)
}

// credentials returns the user name and the password in the Secret of a source, for its own host alone. Known learns them.
func (o *offer) credentials(ctx context.Context, from deployer.Reader, known *secret.Known) (username, password string, err error) {
	value, err := o.secret(ctx, from, known)
	if err != nil {
		return "", "", err
	}
	if config := value(".dockerconfigjson"); config != "" {
		username, password = loginFor(config, o.url)
	} else {
		username, password = value("username"), value("password")
	}
	if username == "" && password == "" {
		return "", "", fmt.Errorf("%s has no user name and password for the host of %s", o.secretTitle(), o.title)
	}
	known.Add(password)
	return username, password, nil
}

// secretTitle names the Secret of a source.
func (o *offer) secretTitle() string { return deployer.TitleOf("Secret", o.namespace, o.login.Name) }

// secret reads the Secret of a source, which known learns. Value returns what it has under a key, or "".
func (o *offer) secret(ctx context.Context, from deployer.Reader, known *secret.Known) (value func(key string) string, err error) {
	ref := object.Ref{Key: object.Key{Kind: "Secret", Namespace: o.namespace, Name: o.login.Name}, Version: "v1"}
	live := from.Read(ctx, []object.Ref{ref})[ref]
	switch {
	case live.Err != nil:
		return nil, fmt.Errorf("reading %s for %s: %s", o.secretTitle(), o.title, live.Err.Message)
	case live.Object == nil:
		return nil, fmt.Errorf("%s, with the credentials of %s, does not exist", o.secretTitle(), o.title)
	}
	known.AddObject("", "Secret", live.Object)
	data, _ := live.Object["data"].(map[string]any)
	return func(key string) string {
		text, _ := data[key].(string)
		raw, _ := base64.StdEncoding.DecodeString(text)
		return string(raw)
	}, nil
}

// loginFor returns the login for the host of a URL in a configuration of docker.
func loginFor(config, text string) (username, password string) {
	var all struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	u, err := url.Parse(text)
	if err != nil || json.Unmarshal([]byte(config), &all) != nil {
		return "", ""
	}
	for host, login := range all.Auths {
		host = strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "http://")
		if host, _, _ = strings.Cut(host, "/"); host != u.Host {
			continue
		}
		if login.Username == "" {
			raw, _ := base64.StdEncoding.DecodeString(login.Auth)
			login.Username, login.Password, _ = strings.Cut(string(raw), ":")
		}
		return login.Username, login.Password
	}
	return "", ""
}

// rootOf returns the folder of a repository of files whose folder chart the user gave, or "" if the user gave another one.
func rootOf(given, chart string) string {
	if root, isIn := strings.CutSuffix(path.Clean(given), path.Clean("/"+chart)); isIn {
		return root
	}
	return ""
}
