package e2e

import (
	"math/rand/v2"
	"regexp"
)

// unpredictedWords matches what Helm and the API server say if they refuse what docs/verdicts.md lists as rare under "What is not
// predicted". The pool has nothing of it on purpose, so a run hardly ever meets them.
var unpredictedWords = regexp.MustCompile("ValidationError\\(|unknown object type \"nil\" in |" +
	"failed rule: (?:self == oldSelf|oldSelf==self)|" +
	"hostPort: Duplicate value|must match `containerPort` when `hostNetwork` is true|cannot set `allowPrivilegeEscalation` to false|" +
	"supported when podFailurePolicy is specified|subPathExpr and subPath are mutually exclusive|must be greater than minReadySeconds|" +
	"previously a storage version|must not contain both Deny and Warn|duplicate of key present in binaryData")

// isUnpredicted reports whether Helm failed on nothing but what is not predicted; it counts that. What happened then is not judged.
func (j *judgement) isUnpredicted() bool {
	if len(j.failing()) > 0 || !unpredictedWords.MatchString(j.text) {
		return false
	}
	j.let.let(tolerateUnpredicted)
	return true
}

// list puts some objects into Lists, in each chart others. Helm checks the items of a List before it writes anything, which is not
// predicted, so items hold neither nulls nor what only a risk brings.
func (c *oracleCase) list(r *rand.Rand) {
	if r.IntN(5) > 0 {
		return
	}
	c.listed = map[string][]string{}
	for _, file := range []string{"old.yaml", "failed.yaml", "new.yaml"} {
		for _, o := range c.objects {
			if r.IntN(2) == 0 && !isHook(o.new) && !o.risky && !hasNull(o.old) && !hasNull(o.tried) && !hasNull(o.new) {
				c.listed[file] = append(c.listed[file], o.name)
			}
		}
	}
	if c.same {
		c.listed["new.yaml"] = c.listed["old.yaml"]
	}
}

// hasNull reports whether an object holds a null.
func hasNull(obj map[string]any) bool {
	found := false
	if obj != nil {
		eachNode(obj, func(v any) { found = found || v == nil })
	}
	return found
}
