package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// allConfigMaps is the list of ConfigMaps that goes across namespaces.
const allConfigMaps = "/api/v1/configmaps"

// connect connects to a fake API server, and forgets the requests of that.
func connect(t *testing.T, f *livetest.Server) *live.Cluster {
	t.Helper()
	c, err := live.Connect(t.Context(), &rest.Config{Host: f.URL}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Reset()
	return c
}

// newSweep returns a sweep of a fake server whose releases are in the namespaces from first to last.
func newSweep(t *testing.T, f *livetest.Server, wide bool, first, last string) *Sweep {
	t.Helper()
	return newSweepOf(t, f, Options{Wide: wide}, first, last)
}

func newSweepOf(t *testing.T, f *livetest.Server, o Options, first, last string) *Sweep {
	t.Helper()
	s := New(t.Context(), connect(t, f), o)
	t.Cleanup(s.Close)
	s.Window(first, last)
	return s
}

// counts counts the requests by path, without pages.
func counts(f *livetest.Server) map[string]int {
	out := map[string]int{}
	for _, request := range f.Seen() {
		path, _, _ := strings.Cut(request, "?")
		out[path]++
	}
	return out
}

func TestCompareNamespaces(t *testing.T) {
	names := []string{"b", "a", "a-b", "a0", "a-", "aa"}
	slices.SortFunc(names, lists.CompareNamespaces)
	if diff := cmp.Diff([]string{"a-", "a-b", "a", "a0", "aa", "b"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSweepReadsInOrder reads namespaces whose names sort around the slash in the keys of etcd. One list has the objects of all.
func TestSweepReadsInOrder(t *testing.T) {
	f := livetest.New(t)
	refs := map[string][]object.Ref{}
	names := []string{"a-b", "a", "a0", "b"}
	for _, name := range names {
		f.Namespace(name)
		refs[name] = f.AddMany("ConfigMap", name, "m", 2)
	}
	s := newSweep(t, f, true, "a-b", "a-b")
	for i, name := range names {
		s.Window(name, names[min(i+1, len(names)-1)])
		livetest.MustFind(t, s.Read(t.Context(), refs[name]), refs[name])
	}
	livetest.WantRequests(t, f, allConfigMaps+"?limit=250")
}

// TestSweepPages reads objects on both sides of each page boundary. After a page that has passed a namespace, it knows which objects
// the namespace lacks.
func TestSweepPages(t *testing.T) {
	for _, size := range []int{pageSize - 1, pageSize, pageSize + 1, 2 * pageSize} {
		f := livetest.New(t)
		var refs []object.Ref
		for _, name := range []string{"a", "b", "c"} {
			f.Namespace(name)
			refs = append(refs, f.AddMany("ConfigMap", name, "m", size)...)
		}
		s := newSweep(t, f, true, "a", "c")
		for i := range 3 {
			part := append([]object.Ref{f.Ref("ConfigMap", refs[i*size].Namespace, "zz")}, refs[i*size:(i+1)*size]...)
			got := s.Read(t.Context(), part)
			if got[part[0]].Absence != cluster.AbsentObject {
				t.Errorf("%d: %+v", size, got[part[0]])
			}
			delete(got, part[0])
			livetest.MustFind(t, got, part[1:])
		}
		if pages, want := counts(f)[allConfigMaps], (3*size+pageSize-1)/pageSize; pages != want {
			t.Errorf("%d objects in each namespace took %d pages, not %d", size, pages, want)
		}
	}
}

// TestSweepNarrow lists each namespace by itself, and cluster-scoped objects once.
func TestSweepNarrow(t *testing.T) {
	f := livetest.New(t)
	roles := f.AddMany("ClusterRole", "", "r", 4)
	s := newSweep(t, f, false, "a", "b")
	for i, name := range []string{"a", "b", "a", "b"} {
		f.Namespace(name)
		refs := append(f.AddMany("ConfigMap", name, "m", 3), roles[i])
		livetest.MustFind(t, s.Read(t.Context(), refs), refs)
	}
	livetest.WantRequests(t, f, "/api/v1/namespaces/a/configmaps?limit=250", "/api/v1/namespaces/b/configmaps?limit=250",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=250")
}

// TestSweepMissesNothing reads by name what a list does not have: an object without Helm's label, one that does not exist, and objects
// outside of the window of namespaces.
func TestSweepMissesNothing(t *testing.T) {
	f := livetest.New(t)
	for _, name := range []string{"a", "b", "c"} {
		f.Namespace(name)
	}
	labelled, bare := f.AddMany("ConfigMap", "b", "m", 1)[0], f.Add("ConfigMap", "b", "bare", map[string]any{})
	before, behind := f.AddMany("ConfigMap", "a", "m", 1)[0], f.AddMany("ConfigMap", "c", "m", 1)[0]
	gone := f.Ref("ConfigMap", "b", "gone")
	s := newSweep(t, f, true, "b", "b")
	got := s.Read(t.Context(), []object.Ref{labelled, bare, before, behind, gone})
	if got[gone].Absence != cluster.AbsentObject {
		t.Errorf("gone: %+v", got[gone])
	}
	delete(got, gone)
	livetest.MustFind(t, got, []object.Ref{labelled, bare, before, behind})
	livetest.WantRequests(t, f, "/api/v1/configmaps?limit=250", "/api/v1/namespaces/a/configmaps/m-000", "/api/v1/namespaces/b/configmaps/bare",
		"/api/v1/namespaces/b/configmaps/gone", "/api/v1/namespaces/c/configmaps/m-000")
}

// TestSweepDrops checks that the objects of namespaces before the window are not held, and are read by themselves if they are wanted again.
func TestSweepDrops(t *testing.T) {
	f := livetest.New(t)
	refs := map[string][]object.Ref{}
	for _, name := range []string{"a", "b", "c"} {
		f.Namespace(name)
		refs[name] = f.AddMany("ConfigMap", name, "m", 200)
	}
	s := newSweep(t, f, true, "a", "a")
	held := func() (n int) {
		for _, l := range s.lists {
			n += len(l.objects)
		}
		return n
	}
	livetest.MustFind(t, s.Read(t.Context(), refs["a"]), refs["a"])
	s.Window("c", "c")
	if n := held(); n != 0 {
		t.Errorf("%d objects are held before anything of the window was read", n)
	}
	livetest.MustFind(t, s.Read(t.Context(), refs["c"]), refs["c"])
	if n := held(); n != 200 {
		t.Errorf("%d objects are held of a window with 200", n)
	}
	f.Reset()
	livetest.MustFind(t, s.Read(t.Context(), refs["a"][:1]), refs["a"][:1])
	livetest.WantRequests(t, f, "/api/v1/namespaces/a/configmaps/m-000")
}

// expire answers lists with a continue token once with 410 and the given new token. "" stands for a server that cannot continue.
func expire(renewed func(token string) string) func(http.ResponseWriter, *http.Request) bool {
	var mu sync.Mutex
	expired := map[string]bool{}
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		token := r.URL.Query().Get("continue")
		next := renewed(token)
		if token == "" || expired[token] && next != "" || strings.HasPrefix(token, "0") {
			return false
		}
		expired[token] = true
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, ListMeta: metav1.ListMeta{Continue: next},
			Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "the token has expired",
		})
		return true
	}
}

// TestSweepExpires continues a list that the server has forgotten with the token that the server offers. Without one, the objects are read
// by each release itself.
func TestSweepExpires(t *testing.T) {
	for name, renewed := range map[string]func(string) string{
		"new token": func(token string) string { return "0" + token },
		"no token":  func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			f := livetest.New(t)
			refs := map[string][]object.Ref{}
			for _, name := range []string{"a", "b", "c"} {
				f.Namespace(name)
				refs[name] = f.AddMany("ConfigMap", name, "m", pageSize)
			}
			f.Intercept = expire(renewed)
			s := newSweep(t, f, true, "a", "c")
			for _, name := range []string{"a", "b", "c"} {
				livetest.MustFind(t, s.Read(t.Context(), refs[name]), refs[name])
			}
			own := counts(f)["/api/v1/namespaces/c/configmaps"]
			if offered := renewed("1") != ""; offered != (own == 0) {
				t.Errorf("%d lists of one namespace", own)
			}
		})
	}
}

// TestSweepEndless reads from a server whose pages, or the tokens that it offers in place of old ones, lead to each other. The sweep gives
// the list up and reads the objects by name.
func TestSweepEndless(t *testing.T) {
	circle := func(token string) string {
		if token == "x" {
			return "y"
		}
		return "x"
	}
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"pages": func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"continue": %q}, `+
				`"items": [{"metadata": {"namespace": "a", "name": "x"}}]}`, circle(r.URL.Query().Get("continue")))
			return true
		},
		"tokens": func(w http.ResponseWriter, r *http.Request) bool {
			return expire(circle)(w, r) // each token is too old each time
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := livetest.New(t)
			f.Namespace("a")
			refs := f.AddMany("ConfigMap", "a", "m", pageSize+1)
			f.Intercept = func(w http.ResponseWriter, r *http.Request) bool { return r.URL.Path == allConfigMaps && answer(w, r) }
			s := newSweep(t, f, true, "a", "a")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			livetest.MustFind(t, s.Read(ctx, refs), refs)
			if n := counts(f)[allConfigMaps]; n != lists.MaxPages {
				t.Errorf("%d pages were read", n)
			}
		})
	}
}

// TestSweepForbidden reads as a role that may not list across namespaces. The server refuses once, not for each release.
func TestSweepForbidden(t *testing.T) {
	f := livetest.New(t)
	f.Intercept = livetest.Failing(-1, allConfigMaps, livetest.Forbid)
	s := newSweep(t, f, true, "a", "c")
	for _, name := range []string{"a", "b", "c"} {
		f.Namespace(name)
		refs := f.AddMany("ConfigMap", name, "m", 3)
		livetest.MustFind(t, s.Read(t.Context(), refs), refs)
	}
	if n := counts(f)[allConfigMaps]; n != 1 {
		t.Errorf("%d lists across namespaces", n)
	}
}

// TestSweepWithoutAnswer checks that a list that fails for a reason that concerns everything is an error of each object, and that the next
// release asks again.
func TestSweepWithoutAnswer(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("a")
	refs := f.AddMany("ConfigMap", "a", "m", 3)
	unauthorized := func(w http.ResponseWriter) {
		livetest.SendStatus(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	}
	f.Intercept = livetest.Failing(1, allConfigMaps, unauthorized)
	s := newSweep(t, f, true, "a", "a")
	for ref, got := range s.Read(t.Context(), refs) {
		livetest.MustError(t, got, cluster.CodeUnauthorized, "cannot list", ref.Name)
	}
	livetest.MustFind(t, s.Read(t.Context(), refs), refs)
	livetest.WantRequests(t, f, allConfigMaps+"?limit=250", allConfigMaps+"?limit=250")
}

// TestSweepEqualsRead lets many readers read random objects of random namespaces, present or not, while the window moves. Each gets what
// Cluster.Read returns.
func TestSweepEqualsRead(t *testing.T) {
	for _, wide := range []bool{true, false} {
		t.Run(fmt.Sprint("wide ", wide), func(t *testing.T) {
			f := livetest.New(t)
			random := rand.New(rand.NewPCG(1, 2))
			names := []string{"a-b", "a", "a0", "b-", "b", "c", "d", "e"}
			releases := make([][]object.Ref, 4*len(names))
			for _, name := range names {
				f.Namespace(name)
				f.AddMany("ConfigMap", name, "other", 40+random.IntN(120))
			}
			for i := range releases {
				releases[i] = randomRelease(f, random, names[i/4], names[random.IntN(len(names))], i)
			}
			alone := connect(t, f)
			s := newSweep(t, f, wide, names[0], names[0])
			sweepAll(t, s, names, releases, func(i int) {
				if diff := cmp.Diff(alone.Read(t.Context(), releases[i]), s.Read(t.Context(), releases[i])); diff != "" {
					t.Errorf("release %d (-alone +sweep):\n%s", i, diff)
				}
			})
		})
	}
}

// randomRelease returns the objects of a release in a namespace. Some have lost Helm's label, some do not exist, and some are in another
// namespace or in none.
func randomRelease(f *livetest.Server, random *rand.Rand, home, other string, number int) (refs []object.Ref) {
	kinds := []string{"ConfigMap", "Secret", "Deployment", "Thing"}
	for i := range 1 + random.IntN(20) {
		kind, namespace, name := kinds[random.IntN(len(kinds))], home, fmt.Sprintf("r%d-%d", number, i)
		switch random.IntN(12) {
		case 0:
			refs = append(refs, f.Ref(kind, namespace, name))
		case 1:
			refs = append(refs, f.Add(kind, namespace, name, map[string]any{}))
		case 2:
			refs = append(refs, f.Add(kind, other, name, nil))
		case 3:
			refs = append(refs, f.Add("ClusterRole", "", name, nil))
			refs[len(refs)-1].Namespace = ""
		default:
			refs = append(refs, f.Add(kind, namespace, name, nil))
		}
	}
	return refs
}

// TestSweepWaitsTogether lets a server withhold a page. Meanwhile the window moves, and other lists are read. All readers that wait for
// the page get its error.
func TestSweepWaitsTogether(t *testing.T) {
	f := livetest.New(t)
	for _, name := range []string{"a", "b"} {
		f.Namespace(name)
	}
	maps, secrets := f.AddMany("ConfigMap", "b", "m", 3), f.AddMany("Secret", "b", "s", 3)
	answer := make(chan struct{})
	f.Intercept = withhold(answer)
	s := newSweep(t, f, true, "a", "b")
	var readers sync.WaitGroup
	for range 5 {
		readers.Go(func() {
			for ref, got := range s.Read(t.Context(), maps) {
				if got.Err == nil || got.Err.Code != cluster.CodeUnauthorized {
					t.Errorf("%v: %+v", ref, got)
				}
			}
		})
	}
	for counts(f)[allConfigMaps] == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Window("b", "b")
	livetest.MustFind(t, s.Read(t.Context(), secrets), secrets)
	close(answer)
	readers.Wait()
}

// withhold answers no list across namespaces until answer is closed, and refuses it then.
func withhold(answer chan struct{}) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != allConfigMaps {
			return false
		}
		<-answer
		livetest.SendStatus(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
		return true
	}
}

// TestSweepEnds checks that a reader returns when its context ends, although the server withholds the page.
func TestSweepEnds(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("a")
	refs := f.AddMany("ConfigMap", "a", "m", 3)
	answer := make(chan struct{})
	f.Intercept = withhold(answer)
	defer close(answer)
	s := newSweep(t, f, true, "a", "a")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	for _, got := range s.Read(ctx, refs) {
		livetest.MustError(t, got, cluster.CodeCanceled)
	}
}

// sweepAll reads the releases, four of each namespace, in their order, eight at a time.
func sweepAll(t *testing.T, s *Sweep, names []string, releases [][]object.Ref, read func(i int)) {
	t.Helper()
	var mu sync.Mutex
	next, done := 0, make([]bool, len(releases))
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(releases) {
			return 0, false
		}
		s.Window(names[slices.Index(done, false)/4], names[next/4])
		next++
		return next - 1, true
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				read(i)
				mu.Lock()
				done[i] = true
				mu.Unlock()
			}
		})
	}
	readers.Wait()
}
