package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ParseShard reads a shard as i/n, where i counts from 0: "0/4" is the first of four parts. With "auto", the environment of the job says
// which part it is; env returns a variable. ParseShard returns nil for an empty text. An error may have a hint (drift.Hint).
func ParseShard(text string, env func(string) string) (*report.Shard, error) {
	if text == "" {
		return nil, nil
	}
	if text == "auto" {
		found, err := shardOfJob(env)
		if err != nil {
			return nil, err
		}
		text = found
	}
	index, count, found := strings.Cut(text, "/")
	i, iErr := strconv.Atoi(index)
	n, nErr := strconv.Atoi(count)
	switch {
	case !found || iErr != nil || nErr != nil:
		return nil, hint.New(fmt.Errorf("%q is not i/n", text), "0/4 is the first of four parts, 3/4 the last")
	case n < 1 || i < 0 || i >= n:
		return nil, hint.New(fmt.Errorf("there is no part %d of %d", i, n), "parts are counted from 0")
	}
	return &report.Shard{Index: i, Count: n}, nil
}

// shardOfJob returns the shard from the environment, as i/n. It knows pairs of variables with the index of a job and the number of jobs in
// its set, and the number that the index starts from. An Indexed Job of Kubernetes sets only its index, so the user must pass the number of
// completions as HELMDRIFT_SHARDS.
func shardOfJob(env func(string) string) (string, error) {
	var unset []string
	for _, v := range []struct {
		index, count string
		from         int
	}{
		{"JOB_COMPLETION_INDEX", "HELMDRIFT_SHARDS", 0},               // Kubernetes, Indexed Job
		{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1},                         // GitLab CI, parallel
		{"CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},                 // CircleCI, parallelism
		{"BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0}, // Buildkite, parallelism
		{"SYSTEM_JOBPOSITIONINPHASE", "SYSTEM_TOTALJOBSINPHASE", 1},   // Azure Pipelines, parallel
	} {
		index, count := env(v.index), env(v.count)
		if index == "" {
			unset = append(unset, v.index)
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil || count == "" {
			return "", hint.New(fmt.Errorf("%s is %q and %s is %q", v.index, index, v.count, count),
				v.count+" must be the number of jobs that share the work")
		}
		return strconv.Itoa(i-v.from) + "/" + count, nil
	}
	return "", hint.New(errors.New("the environment does not say which part this is"),
		"one of these variables must be set: "+strings.Join(unset, ", "))
}
