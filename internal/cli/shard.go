package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file reads which part of the releases a job of a CI system compares.

// jobVariables returns pairs of environment variables with the index of a job and the number of jobs in its set, and the number that the
// index starts from. An Indexed Job of Kubernetes sets only its index, so the user must pass the number of completions as
// HELMDRIFT_SHARDS.
func jobVariables() []struct {
	index, count string
	from         int
} {
	return []struct {
		index, count string
		from         int
	}{
		{"JOB_COMPLETION_INDEX", "HELMDRIFT_SHARDS", 0},               // Kubernetes, Indexed Job
		{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1},                         // GitLab CI, parallel
		{"CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},                 // CircleCI, parallelism
		{"BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0}, // Buildkite, parallelism
		{"SYSTEM_JOBPOSITIONINPHASE", "SYSTEM_TOTALJOBSINPHASE", 1},   // Azure Pipelines, parallel
	}
}

// ShardOfJob returns the shard from the environment, as i/n.
func ShardOfJob(env func(string) string) (string, error) {
	for _, v := range jobVariables() {
		index, count := env(v.index), env(v.count)
		if index == "" {
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil || count == "" {
			return "", hint.New(fmt.Errorf("--shard auto: %s is %q and %s is %q", v.index, index, v.count, count),
				v.count+" must be the number of jobs that share the work")
		}
		return strconv.Itoa(i-v.from) + "/" + count, nil
	}
	var names []string
	for _, v := range jobVariables() {
		names = append(names, v.index)
	}
	return "", hint.New(errors.New("--shard auto: the environment does not say which part this is"),
		"one of these variables must be set: "+strings.Join(names, ", "))
}
