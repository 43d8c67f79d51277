package applied

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
)

// This file keeps the Secrets of the cluster from the charts of a working tree.

// Lookups returns the lookups for the charts of a tree. They find no Secrets, unless SecretLookups is set: a chart of a tree could print
// them, and whoever proposes a change writes the chart.
func (t *Tree) Lookups(
	lookups func(...func(map[string]any)) (string, drift.LookupFunc, error),
) func(...func(map[string]any)) (string, drift.LookupFunc, error) {
	if t.SecretLookups || lookups == nil {
		return lookups
	}
	return func(learn ...func(map[string]any)) (string, drift.LookupFunc, error) {
		server, answer, err := lookups(learn...)
		if err != nil {
			return server, nil, err
		}
		return server, func(ctx context.Context, q live.LookupRequest) (live.LookupAnswer, error) {
			if isSecrets(q.Path) {
				return live.SavedAnswer(404, "404 Not Found", "application/json",
					[]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)), nil
			}
			return answer(ctx, q)
		}, nil
	}
}

// isSecrets reports whether a path of the API names Secrets.
func isSecrets(name string) bool {
	name, _, _ = strings.Cut(name, "?")
	steps := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	if len(steps) > 3 && steps[2] == "namespaces" {
		steps = slices.Delete(steps, 2, 4)
	}
	return len(steps) > 2 && steps[0] == "api" && strings.EqualFold(steps[2], "secrets")
}
