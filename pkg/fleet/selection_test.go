package fleet

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

func TestSelects(t *testing.T) {
	released := func(status string) Released {
		return Released{Last: release.Listed{Namespace: "prod", Labels: map[string]string{"team": "shop"},
			Entry: release.Entry{Release: "web-api", Status: status}}}
	}
	team := func(text string) labels.Selector {
		out, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for i, test := range []struct {
		selection Selection
		status    string
		want      bool
	}{
		{Selection{}, "deployed", true},
		{Selection{}, "failed", true},
		{Selection{}, "pending-upgrade", true},
		{Selection{}, "uninstalled", false},
		{Selection{Names: []string{"db", "web-api"}}, "uninstalled", true},
		{Selection{Names: []string{"web"}}, "deployed", false},
		{Selection{Statuses: []string{"uninstalled"}}, "uninstalled", true},
		{Selection{Statuses: []string{"failed"}}, "deployed", false},
		{Selection{Names: []string{"web-api"}, Statuses: []string{"failed"}}, "deployed", false},
		{Selection{Filter: regexp.MustCompile("api")}, "deployed", true},
		{Selection{Filter: regexp.MustCompile("^api")}, "deployed", false},
		{Selection{Exclude: regexp.MustCompile("^web")}, "deployed", false},
		{Selection{Labels: team("team=shop")}, "deployed", true},
		{Selection{Labels: team("team!=shop")}, "deployed", false},
	} {
		if got := test.selection.selects("c", released(test.status)); got != test.want {
			t.Errorf("%d: %+v selects a release that is %s: %v", i, test.selection, test.status, got)
		}
		// Neither the labels nor the status of a release are known if one of its records cannot be read.
		unread, s := released(test.status), test.selection
		unread.Problem, s.Labels, s.Statuses = errors.New("no revision"), nil, nil
		want := s.selects("c", released("deployed"))
		if got := test.selection.selects("c", unread); got != want {
			t.Errorf("%d: %+v selects a release with a record that cannot be read: %v", i, test.selection, got)
		}
	}
}

// TestShards checks that each release is in one part, that the parts have about the same size, and that the hash stays what it is: the
// processes that share the work may run different versions.
func TestShards(t *testing.T) {
	const count, releases = 4, 4000
	size := make([]int, count)
	for n := range releases {
		r := Released{Last: release.Listed{Namespace: "prod", Entry: release.Entry{Release: fmt.Sprint("r", n)}}}
		parts := 0
		for i := range count {
			if (Selection{Shard: &report.Shard{Index: i, Count: count}}).selects("c", r) {
				parts++
				size[i]++
			}
		}
		if parts != 1 {
			t.Fatalf("%s is in %d parts", r.Last.Release, parts)
		}
	}
	for i, n := range size {
		if n < releases/count*9/10 || n > releases/count*11/10 {
			t.Errorf("part %d has %d of %d releases", i, n, releases)
		}
	}
	got := [3]int{shardOf("eu", "prod", "web", 1000), shardOf("eu", "prod", "db", 1000), shardOf("us", "prod", "web", 1000)}
	if got != shardsOfVersion1 {
		t.Errorf("%v", got)
	}
}

// shardsOfVersion1 are the 64-bit FNV-1a hashes modulo 1000, computed with another implementation.
var shardsOfVersion1 = [3]int{280, 252, 502}
