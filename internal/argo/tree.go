package argo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/places"
	"github.com/helmdrift/helmdrift/internal/reread"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file lays the Applications of a working tree over those of the cluster, and finds those that Applications of the tree make.

// These are the limits of Applications that make Applications.
const (
	maxMakers       = 8
	maxApplications = 10_000
)

// Tree is a working tree of Git with Applications, as they will be in the cluster after a merge.
type Tree struct {
	worktree.Tree
	// dir is the folder that the user named.
	dir string
	// made are the Applications, and sets are the ApplicationSets. Namespace is where those may be whose files name none,
	// besides that of Argo CD.
	made      map[object.Key]*madeApp
	sets      []appset.Set
	namespace string
	// problems say what could not be found out. doubts are those of them that are about what an ApplicationSet makes, by its title.
	problems []string
	doubts   map[string][]string
	// search searches the tree, and found is what that finds without what Applications make.
	search Search
	found  appset.Answer
	// settings are those of Argo CD for the Applications of a namespace, and controllers say what it may change for the sets there. Both are
	// read when they are needed, and again if that failed.
	settings    ofNamespaces[api.Settings]
	controllers ofNamespaces[api.SetController]
	// mayMake has the folders of charts, and whether one of their files could be an Application.
	mayMake once.Map[string, bool]
}

// madeApp is an Application of the tree.
type madeApp struct {
	appset.Made
	content map[string]any
	// live is the one of the cluster, or nil, and app is the one after content is written over it.
	live map[string]any
	app  *api.Application
	// controller is that of the set that makes it, if it is live.
	controller api.SetController
	// isLoose is set if neither its file nor what makes it names its namespace. isWhole is set if all of its sources are in the tree, and it
	// is known which objects of Argo CD they make.
	isLoose, isWhole bool
	// doubts are those of the problems that are about it.
	doubts []string
}

// Search searches a working tree in a child process.
type Search func(context.Context, appset.Order) (appset.Answer, error)

// NewTree finds the Applications that a working tree makes. Namespace is that of Applications which name none, if the cluster has them
// there.
func NewTree(ctx context.Context, from drift.Connection, q Question, dir string, of worktree.Tree, search Search) (*Tree, error) {
	t := &Tree{Tree: of, dir: dir, made: map[object.Key]*madeApp{}, namespace: q.Namespace, search: search, doubts: map[string][]string{}}
	q.Tree = t
	answer, err := search(ctx, appset.Order{Tree: of, Dir: dir})
	if err != nil {
		return nil, err
	}
	t.found = answer
	e := expansion{Tree: t, from: from, q: q, loose: map[[2]string]object.Key{}, built: map[string]bool{}}
	defer e.dropBuilt()
	for depth := 0; ; depth++ {
		added := e.add(ctx, answer)
		var documents []appset.Document
		for _, m := range added {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			documents = append(documents, e.documentsOf(ctx, m)...)
		}
		switch {
		case len(documents) == 0:
			return t, nil
		case depth == maxMakers:
			t.problems = append(t.problems, fmt.Sprintf("more than %d Applications make each other; those below are not looked at", maxMakers))
			return t, nil
		}
		if answer, err = search(ctx, appset.Order{Tree: of, Documents: documents}); err != nil {
			return nil, err
		}
	}
}

// Problems returns what could not be found out about the tree, one line each. Without a tree there are none.
func (t *Tree) Problems() []string {
	if t == nil {
		return nil
	}
	return t.problems
}

// local returns the folder of a source, and false if the tree does not have it. A chart is loaded from the folder, so the path to it must
// not leave the tree either.
func (t *Tree) local(s api.Source) (f *source.Folder, has bool, err error) {
	if t == nil || s.Chart != "" || !t.Has(s.RepoURL, s.TargetRevision) {
		return nil, false, nil
	}
	if f, err = source.In(t.Root, s, "the working tree"); err == nil {
		f.InTree = true
	}
	return f, true, err
}

// foldersOf returns the sources of an Application that are in the tree, without those that cannot be read: the report of the Application
// says so.
func (t *Tree) foldersOf(a *api.Application) (out []*source.Folder) {
	for _, s := range a.Sources() {
		f, has, err := t.local(s)
		if !has || err != nil {
			continue
		}
		f.OfSeveral = len(a.Spec.Sources) > 0
		if f.Override(a.InstanceName()) == nil {
			out = append(out, f)
		}
	}
	return out
}

// all returns the Applications in the order of their names.
func (t *Tree) all() []*api.Application {
	var out []*api.Application
	for _, key := range t.names() {
		out = append(out, t.made[key].app)
	}
	return out
}

// names returns the names of the Applications in their order.
func (t *Tree) names() []object.Key { return order.Sorted(maps.Keys(t.made), object.Key.Compare) }

// remarks returns what could not be found out about the tree but for one of its Applications, one line each.
func (t *Tree) remarks(without *api.Application) []string {
	out := slices.Clone(t.problems)
	for _, m := range t.made {
		if m.app != without && m.app.Fault != nil {
			out = append(out, m.app.Fault.Error())
		}
	}
	slices.Sort(out)
	return slices.Compact(out) // Applications of a namespace may have the same fault
}

// find returns an Application of the tree, or one that it drops.
func (t *Tree) find(ctx context.Context, from drift.Connection, q Question) (*api.Application, error) {
	if found := t.made[api.RefTo("Application", q.Namespace, q.Name).Key]; found != nil {
		return found.app, found.app.Fault
	}
	gone, err := t.dropped(ctx, from, q)
	if err != nil {
		return nil, err
	}
	for _, a := range gone {
		if a.Metadata.Namespace == q.Namespace && a.Metadata.Name == q.Name {
			return a, a.Fault
		}
	}
	var elsewhere []string
	for key := range t.made {
		if key.Name == q.Name {
			elsewhere = append(elsewhere, "-n "+key.Namespace)
		}
	}
	slices.Sort(elsewhere)
	advice, unread := "without --from, helmdrift compares the Application in the cluster", t.remarks(nil)
	switch {
	case len(elsewhere) > 0:
		advice = "it makes one with " + strings.Join(elsewhere, " and with ")
	case len(unread) > 0: // one that was not read may make it, or drop it
		advice = "this could not be read: " + strings.Join(unread, "; ")
	}
	return nil, hint.New(fmt.Errorf("%s makes no Application %s in namespace %s", t.dir, q.Name, q.Namespace), advice)
}

// expansion adds Applications to a tree.
type expansion struct {
	*Tree
	from drift.Connection
	q    Question
	// loose are the Applications whose files do not name their namespace, by file and name.
	loose map[[2]string]object.Key
	// built are the folders of kustomizations that Applications of the tree build, and the files that these made objects of Argo CD of.
	built map[string]bool
	// isFull is set if the tree makes more Applications than maxApplications.
	isFull bool
}

// dropBuilt removes the Applications of files that a kustomization made others of. One beside a kustomization that no Application of the
// tree builds is a problem, since it may make another one of it.
func (e *expansion) dropBuilt() {
	for _, at := range e.names() {
		switch m := e.made[at]; {
		case m.By != "" || !m.IsKustomized:
		case e.built[m.File]:
			delete(e.made, at)
		case !e.built[path.Dir(m.File)]:
			e.doubt(m, m, "a kustomization is in its folder, and no Application of the tree builds it: the Application may be another one")
		}
	}
}

// add adds the Applications of an answer, laid over those of the cluster, and returns the new ones.
func (e *expansion) add(ctx context.Context, answer appset.Answer) (added []*madeApp) {
	e.problems, e.sets = append(e.problems, answer.Problems...), append(e.sets, answer.Sets...)
	for _, s := range answer.Sets {
		e.doubts[s.Title()] = append(e.doubts[s.Title()], append(s.Doubts, e.unresolved(ctx, s)...)...)
	}
	var fresh []*madeApp
	var refs []object.Ref
	for _, m := range answer.Made {
		one := &madeApp{Made: m}
		if json.Unmarshal(m.JSON, &one.content) != nil {
			continue // it was encoded by the child
		}
		key := object.RefOf(one.content).Key
		if faults := validation.NameIsDNSSubdomain(key.Name, false); len(faults) > 0 {
			e.problem(one, fmt.Sprintf("it makes an Application with the name %q, which no object may have", key.Name))
			continue
		}
		if one.isLoose = key.Namespace == ""; one.isLoose {
			refs = append(refs, api.RefTo("Application", e.q.Namespace, key.Name), api.RefTo("Application", defaultNamespace, key.Name))
		} else {
			refs = append(refs, api.RefTo("Application", key.Namespace, key.Name))
		}
		fresh = append(fresh, one)
	}
	order.Sort(refs, func(a, b object.Ref) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	live := e.from.Cluster.Read(ctx, slices.Compact(refs))
	for _, one := range fresh {
		if e.settle(ctx, one, live) {
			added = append(added, one)
		}
	}
	return added
}

// setOptions says what options of Argo CD change that helmdrift does not resolve.
var setOptions = map[api.SetOption]string{
	api.SetSteps:  "Argo CD syncs its Applications step by step (strategy RollingSync), whatever their syncPolicy is",
	api.SetGlobs:  "its patterns match other files",
	api.SetHidden: "its patterns match hidden folders",
}

// unresolved adds what helmdrift does not resolve of a set because of the options of Argo CD, and returns it.
func (e *expansion) unresolved(ctx context.Context, s appset.Set) (out []string) {
	if len(s.Depends) == 0 {
		return nil
	}
	controller, err := e.controllerOf(ctx, e.from, cmp.Or(s.Namespace, e.q.Namespace, defaultNamespace))
	if err != nil {
		out = []string{s.Title() + ": what Argo CD makes of it is not known: " + err.Error()}
	}
	for _, option := range s.Depends {
		if controller.Has(option) {
			out = append(out, fmt.Sprintf("%s: with %s, %s, which helmdrift does not resolve", s.Title(), option, setOptions[option]))
		}
	}
	e.problems = append(e.problems, out...)
	return out
}

// defaultNamespace is that of Argo CD if nothing says otherwise.
const defaultNamespace = "argocd"

// problem adds what is wrong with an Application.
func (t *Tree) problem(m *madeApp, what string) {
	t.problems = append(t.problems, cmp.Or(m.By, m.File)+": "+what)
}

// doubt adds what is wrong with an Application, which keeps the report of another one, or of itself, from being complete.
func (t *Tree) doubt(of, m *madeApp, what string) {
	t.problem(m, what)
	of.doubts = append(of.doubts, t.problems[len(t.problems)-1])
}

// isInDoubt reports whether a problem is about an Application that the tree makes.
func (t *Tree) isInDoubt(app object.Key, problem string) bool {
	m := t.made[app]
	return m != nil && (slices.Contains(m.doubts, problem) || slices.Contains(t.doubts[m.By], problem))
}

// settle adds an Application of the tree, and reports whether it is new. One that an Application or a set makes takes the place of the
// same one in a file, since the file is where its maker has it from.
func (e *expansion) settle(ctx context.Context, one *madeApp, live map[object.Ref]cluster.Live) bool {
	at := object.RefOf(one.content).Key
	if one.isLoose {
		at.Namespace = defaultNamespace
		if here := live[api.RefTo("Application", e.q.Namespace, at.Name)]; here.Object != nil || here.Err != nil {
			at.Namespace = e.q.Namespace // one that may not be read may be there, and is an error below
		}
		one.content = places.With(one.content, at.Namespace, "metadata", "namespace")
	}
	inFile := [2]string{one.File, at.Name}
	if other, found := e.loose[inFile]; one.By != "" && found && other != at {
		delete(e.made, other)
	}
	was := e.made[at]
	switch {
	case was == nil && len(e.made) >= maxApplications:
		if !e.isFull {
			e.problem(one, fmt.Sprintf("the tree makes more than %d Applications", maxApplications))
		}
		e.isFull = true
		return false
	case was != nil && was.By != "" && was.By != one.By || was != nil && was.By == "" && one.By == "":
		if !isSameSpec(was.content, one.content) {
			e.doubt(was, one, fmt.Sprintf("it makes Application %s/%s, and so does %s; only the first is compared",
				at.Namespace, at.Name, cmp.Or(was.By, was.File)))
		}
		return false
	case was != nil && was.By != "":
		return false // its maker has made it before: Applications that make each other end here
	}
	found := live[api.RefTo("Application", at.Namespace, at.Name)]
	one.live = found.Object
	var err error
	if one.Set != "" && found.Object != nil {
		one.controller, err = e.controllerOf(ctx, e.from, at.Namespace)
	}
	if one.app = one.over(found.Object); found.Err != nil {
		one.app.Fault = fmt.Errorf("reading %s: %s", one.app.Title(), found.Err.Message) // what it tracks and has applied is not known
	} else if err != nil {
		one.app.Fault = fmt.Errorf("whether %s changes %s is not known: %w", one.By, one.app.Title(), err)
	}
	switch settings, err := e.settingsOf(ctx, e.from, at.Namespace); {
	case err == nil:
		one.app.Instance = (&Plan{app: one.app, settings: settings}).instance()
		e.doubtLeft(one, settings)
	case one.app.Fault == nil:
		one.app.Fault = err
	}
	e.made[at] = one
	if was != nil {
		one.isWhole = was.isWhole // its documents are there if it says the same
	}
	if one.isLoose && one.By == "" {
		e.loose[inFile] = at
	}
	return was == nil || !isSameSpec(was.content, one.content)
}

// doubtLeft doubts an Application of the cluster if the one that makes it ignores something that changes.
func (e *expansion) doubtLeft(one *madeApp, settings api.Settings) {
	for _, maker := range e.made {
		if one.live == nil || one.Set != "" || maker.app.Title() != one.By {
			continue
		}
		rules := slices.Clone(maker.app.Spec.IgnoreDifferences)
		for _, d := range settings.Ignores {
			if d.Kind == "Application" { // patterns of kinds are about what other controllers set
				rules = append(rules, d)
			}
		}
		if will, _, err := one.contentOver(one.live); err == nil && leaves(rules, one.live, will) {
			e.doubt(one, one, "it ignores differences of Application "+object.RefOf(one.live).Key.Name+
				" that the tree changes, and whether a sync writes them is not resolved")
		}
	}
}

// documentsOf returns the Applications and the ApplicationSets among what an Application of the tree makes. It looks at the sources that
// are in the tree. If these cannot be rendered, that is a problem only if they could have made one.
func (e *expansion) documentsOf(ctx context.Context, m *madeApp) []appset.Document {
	if m.app.Fault != nil || m.app.CheckDestination() != nil {
		return nil // its own report says so
	}
	all := e.foldersOf(m.app)
	m.isWhole = len(all) == len(m.app.Sources())
	var out []appset.Document
	for _, f := range all {
		if f.IsRef() {
			continue
		}
		found, err := e.render(ctx, m, f, all)
		if err != nil {
			e.problems = append(e.problems, m.app.Title()+": whether it makes Applications is not known: "+err.Error())
			m.isWhole = false
		}
		out = append(out, found...)
	}
	return out
}

// render returns what one of all sources makes of Argo CD's kinds.
func (e *expansion) render(ctx context.Context, m *madeApp, f *source.Folder, all []*source.Folder) ([]appset.Document, error) {
	if may, err := e.may(m, f, source.Refs(all)); err != nil || !may {
		return nil, err
	}
	p := &Plan{app: m.app, from: e.from, Connection: e.from}
	var err error
	if p.settings, err = e.settingsOf(ctx, e.from, m.app.Metadata.Namespace); err != nil {
		return nil, err
	}
	made, kind, _, err := p.renderOne(ctx, e.q, f, all)
	if err != nil {
		return nil, err
	}
	var out []appset.Document
	isKustomized := kind == source.KindKustomize
	if inside, err := filepath.Rel(e.Root, f.Dir); isKustomized && err == nil {
		e.built[filepath.ToSlash(inside)] = true
	}
	for _, o := range render.Objects(made.Manifest, p.parsing()).Objects {
		if o.Group != api.Group || o.Kind != "Application" && o.Kind != "ApplicationSet" {
			continue
		}
		document := appset.Document{By: m.app.Title()}
		if isKustomized {
			e.built[o.Source] = true // and the file does not have the Application as it is
		} else if inside, err := filepath.Rel(e.Root, filepath.Join(f.Dir, filepath.FromSlash(o.Source))); err == nil && o.Source != "" {
			document.File = filepath.ToSlash(inside)
		}
		if document.JSON, err = json.Marshal(o.Content); err == nil {
			out = append(out, document)
		}
	}
	return out, nil
}

// ofNamespaces reads something of each namespace once, and keeps what was read or the error.
type ofNamespaces[T any] struct{ reread.Map[string, reading[T]] }

type reading[T any] struct {
	value T
	err   error
}

// of returns what is kept for a namespace, or else reads and keeps it. After an error, it is read again for the next Application.
func (n *ofNamespaces[T]) of(namespace string, read func() (T, error)) (T, error) {
	found := n.Get(namespace, func() (r reading[T], isRead bool) {
		r.value, r.err = read()
		return r, r.err == nil
	})
	return found.value, found.err
}

// settingsOf reads the settings of Argo CD once for each namespace.
func (t *Tree) settingsOf(ctx context.Context, from drift.Connection, namespace string) (api.Settings, error) {
	return t.settings.of(namespace, func() (api.Settings, error) { return api.ReadSettings(ctx, from.Cluster, namespace) })
}

// controllerOf returns what Argo CD may change for the ApplicationSets of a namespace.
func (t *Tree) controllerOf(ctx context.Context, from drift.Connection, namespace string) (api.SetController, error) {
	return t.controllers.of(namespace, func() (api.SetController, error) {
		settings, err := t.settingsOf(ctx, from, namespace)
		if err != nil {
			return api.SetController{}, err
		}
		return api.ReadSetController(ctx, from.Cluster, cmp.Or(settings.Namespace, defaultNamespace))
	})
}

// may reports whether a source could make an Application: one of its files, or its values, names the group. To render each chart for that
// would take as long as to compare it. A kustomization may have its files anywhere in the tree.
func (e *expansion) may(m *madeApp, f *source.Folder, refs map[string]*source.Folder) (bool, error) {
	kind, err := f.Kind()
	if err != nil {
		m.isWhole = false
		return false, nil //nolint:nilerr // its own report says so
	}
	if kind == source.KindKustomize {
		return true, nil
	}
	if text, _ := json.Marshal(f.Source); bytes.Contains(text, []byte(api.Group)) {
		return true, nil
	}
	found, err := e.mayMake.Get(f.Dir, func() (bool, error) { return f.Mentions(api.Group) })
	if err != nil {
		return false, err
	}
	if found || kind != source.KindChart {
		return found, nil
	}
	values, err := f.Values(refs, f.Variables(m.app, m.app.InstanceName()))
	if err != nil {
		return false, nil //nolint:nilerr // a value file may be in another repository; its own report says what is wrong
	}
	for _, file := range values.Options.Files {
		text, err := source.ReadWithin(e.Root, file)
		if err == nil && bytes.Contains(text, []byte(api.Group)) || source.IsRemote(file) {
			return true, nil
		}
	}
	return false, nil
}

// over returns the Application as it is after it was written over the one of the cluster, which may be nil.
func (m *madeApp) over(live map[string]any) *api.Application {
	content, kept, err := m.contentOver(live)
	if err != nil {
		key := object.RefOf(m.content).Key
		return &api.Application{Metadata: api.Metadata{Namespace: key.Namespace, Name: key.Name}, Fault: err, InTree: true}
	}
	out := api.Decoded(content)
	out.InTree, out.Trusted, out.Kept = true, map[string]bool{}, kept
	if live != nil {
		before := api.Decoded(live)
		for _, s := range before.Sources() {
			out.Trusted[s.RepoURL] = true
		}
	}
	return out
}

// contentOver returns the object after it was written over live. The controller of a set replaces it, unless it may change none that
// exists: then kept says why. Others apply it, so that fields stay which they have never applied.
func (m *madeApp) contentOver(live map[string]any) (content map[string]any, kept string, err error) {
	owner, kind := ownerOf(live)
	set := "ApplicationSet " + object.RefOf(live).Namespace + "/" + m.Set
	switch {
	case live == nil:
		return m.content, "", nil
	case m.Set == "":
		content, err = mergedOver(live, m.content)
		return content, "", err
	case owner != "" && (kind != "ApplicationSet" || owner != m.Set):
		return live, fmt.Sprintf("%s makes this Application, but cannot change it: it belongs to %s %s", set, kind, owner), nil
	case owner != "" && !m.controller.Updates(m.Policy):
		if !isSameSpec(live, m.content) {
			kept = fmt.Sprintf("%s changes no Application that exists (%s), so what the tree says about this one does not count", set,
				m.controller.Says(m.Policy))
		}
		return live, kept, nil
	}
	return replacedOver(live, m.content, m.controller.Keeps(m.Preserved)), "", nil
}
