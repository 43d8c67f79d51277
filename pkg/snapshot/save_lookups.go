package snapshot

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/order"
)

// savedLookups returns the answers to lookups.
func (s *saver) savedLookups() (out []Lookup) {
	for q, a := range s.lookups {
		out = append(out, Lookup{
			Path: q.Path, Accept: q.Accept, Status: a.Status, Code: a.Code, ContentType: a.Header.Get("Content-Type"),
			Body: s.lookupBody(q.Path, a), Error: s.text(a.problem),
		})
	}
	order.Sort(out, func(a, b Lookup) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Accept, b.Accept)) })
	return out
}

// lookupBody returns the body of an answer with its secrets replaced. Lookups ask for JSON. Discovery holds no secrets and must stay as
// it is, because the client of a chart decodes it. It is recognised by its path, because custom kinds may have any name.
func (s *saver) lookupBody(path string, a lookupAnswer) string {
	if s.masker == nil || a.Code == http.StatusOK && isDiscovery(s.lookupServer, path) {
		return string(a.Body)
	}
	var found map[string]any
	if utiljson.Unmarshal(a.Body, &found) != nil {
		return s.masker.Text(string(a.Body))
	}
	kind, _ := found["kind"].(string)
	return string(s.object("", kind, found))
}

// isDiscovery reports whether a path of a server names what the server serves and not an object: /api, /api/VERSION, /apis, /apis/GROUP and
// /apis/GROUP/VERSION, below the path of the server's address.
func isDiscovery(server, path string) bool {
	target, err := url.ParseRequestURI(path)
	base, baseErr := url.Parse(server)
	if err != nil || baseErr != nil {
		return false
	}
	below, isBelow := strings.CutPrefix(target.Path, strings.TrimSuffix(base.Path, "/")+"/")
	words := strings.Split(strings.TrimSuffix(below, "/"), "/")
	if !isBelow || slices.ContainsFunc(words, func(word string) bool { return word == "" || word == "." || word == ".." }) {
		return false
	}
	return words[0] == "api" && len(words) <= 2 || words[0] == "apis" && len(words) <= 3
}
