package e2e

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// unpredictedWords matches what Helm and the API server say if they refuse what docs/verdict-rules.md lists as rare under "What is not
// predicted". The pool leaves these out on purpose, so a run hardly ever meets them.
var unpredictedWords = regexp.MustCompile("ValidationError\\(|unknown object type \"nil\" in |" +
	"failed rule: (?:self == oldSelf|oldSelf==self)|" +
	"hostPort: Duplicate value|must match `containerPort` when `hostNetwork` is true|cannot set `allowPrivilegeEscalation` to false|" +
	"supported when podFailurePolicy is specified|subPathExpr and subPath are mutually exclusive|must be greater than minReadySeconds|" +
	"previously a storage version|must not contain both Deny and Warn|duplicate of key present in binaryData")

// isUnpredicted reports whether Helm failed only on what is not predicted, and counts that. Then the judge ignores what happened.
func (j *outcomeJudge) isUnpredicted() bool {
	for text := range strings.SplitSeq(j.helmError, " && ") {
		if !unpredictedWords.MatchString(text) {
			return false
		}
	}
	if len(j.report.failing()) > 0 {
		return false
	}
	j.tolerated.count(tolerateUnpredicted)
	return true
}

// putIntoLists puts some objects into Lists, different ones in each chart. Helm checks the items of a List before it writes anything. That
// check is not predicted, so no item has a null or anything that only a risk sets.
func (c *oracleCase) putIntoLists(r *rand.Rand) {
	if r.IntN(5) > 0 {
		return
	}
	c.listed = map[string][]string{}
	for _, file := range []string{"old.yaml", "failed.yaml", "new.yaml"} {
		for _, o := range c.objects {
			unfit := isHook(o.new) || o.risky || hasNull(o.old) || hasNull(o.failing) || hasNull(o.new)
			if r.IntN(2) == 0 && !unfit {
				c.listed[file] = append(c.listed[file], o.name)
			}
		}
	}
	if c.unchanged {
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
