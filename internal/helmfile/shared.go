package helmfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file finds the objects that several releases of a helmfile deploy, and the namespaces that one of them creates for another. Each
// release is compared as if helmfile deployed no other. For such an object, the order of the releases decides. Helm refuses to install an
// object of another release, but it does not see one that the other release is about to create. An upgrade writes all objects of the last
// revision, even if another release has taken one since.

// owner says where the records of a release are, and names it.
type owner struct{ namespace, name string }

// sharing are the releases that deploy each object. Several goroutines add to it.
type sharing struct {
	mutex sync.Mutex
	by    map[object.Key][]owner
	// creates has the first release by name whose installation creates a namespace, and lacks are those that need theirs and do not have it.
	creates map[string]owner
	lacks   []owner
	// reports are those of the helmfile, among others that name releases alike. A copy of a report has the same pointer.
	reports map[*report.Deployer]bool
}

// addReports adds reports of releases.
func (s *sharing) addReports(reports []report.Release) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.reports == nil {
		s.reports = map[*report.Deployer]bool{}
	}
	for _, r := range reports {
		s.reports[r.Deployer] = true
	}
}

// isAbout reports whether a report is that of one of some releases.
func (s *sharing) isAbout(r report.Release, releases ...owner) bool {
	return s.reports[r.Deployer] && slices.Contains(releases, owner{r.StorageNamespace, r.Name})
}

// add adds what a release deploys.
func (s *sharing) add(r Release, in threeway.Input) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.by == nil {
		s.by, s.creates = map[object.Key][]owner{}, map[string]owner{}
	}
	of := owner{r.Namespace, r.Name}
	for _, o := range in.DesiredObjects {
		if key := o.Key; key.Name != "" && !slices.Contains(s.by[key], of) { // a release may be compared again
			s.by[key] = append(s.by[key], of)
		}
	}
	switch {
	case in.Operation == report.OperationInstall && in.CreateNamespace:
		if first, isCreated := s.creates[r.Namespace]; !isCreated || of.name < first.name { // the order of the comparisons decides nothing
			s.creates[r.Namespace] = of
		}
	case in.LacksNamespace():
		s.lacks = append(s.lacks, of)
	}
}

// sayNamespaces adds an error to the report of each release whose namespace another one creates.
func (s *sharing) sayNamespaces(reports []report.Release) {
	for _, of := range s.lacks {
		by, isCreated := s.creates[of.namespace]
		i := slices.IndexFunc(reports, func(r report.Release) bool { return s.isAbout(r, of) })
		if isCreated && i >= 0 {
			text := fmt.Sprintf("namespace %s does not exist, and only the installation of %s creates it: Helm fails if it comes first; "+
				"createNamespace: true creates it in any case", of.namespace, by.name)
			reports[i].Errors = append(reports[i].Errors, report.Message{Code: CodeIncomplete, Message: text})
		}
	}
}

// say adds a warning to each report of a release for each object that it shares with others. It is an error if several of them would create
// the object, since Helm then fails for all but one, or the last one has it.
func (s *sharing) say(reports []report.Release) {
	const most = 4
	var keys []object.Key
	for key, owners := range s.by {
		if len(owners) > 1 {
			keys = append(keys, key)
		}
	}
	order.Sort(keys, object.Key.Compare)
	for _, key := range keys {
		owners := s.by[key]
		order.Sort(owners, func(a, b owner) int {
			return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
		})
		var of, creating []int
		for i, r := range reports {
			if !s.isAbout(r, owners...) {
				continue
			}
			of = append(of, i)
			if slices.ContainsFunc(r.Objects, func(o report.Object) bool { return o.Key() == key && o.Action == report.ActionCreate }) {
				creating = append(creating, i)
			}
		}
		for _, i := range of {
			r := &reports[i]
			var others []string
			for _, o := range owners {
				if o != (owner{r.StorageNamespace, r.Name}) {
					others = append(others, o.namespace+"/"+o.name)
				}
			}
			also := "the helmfile deploys it with " + strings.Join(english.AtMost(others, most), ", ") + " too: "
			if len(creating) > 1 && slices.Contains(creating, i) {
				r.Errors = append(r.Errors, report.Message{Code: CodeIncomplete, Object: key.String(),
					Message: also + "Helm refuses it for all but one of these releases, or the last one has it"})
				continue
			}
			r.Warnings = append(r.Warnings, report.Message{Code: CodeWarning, Object: key.String(), Message: also + "the last one has it"})
		}
	}
}
