package deploy

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// container is as much of a container as the tests read.
type container struct {
	Command, Args []string
	Env           []struct{ Name, Value string }
}

// pod is a template of pods.
type pod struct {
	Spec struct{ Containers []container }
}

// job is the spec of a Job.
type job struct {
	Completions, Parallelism int
	Template                 pod
}

// cronJob is the spec of a CronJob.
type cronJob struct {
	JobTemplate struct{ Spec job } `yaml:"jobTemplate"`
}

// manifest reads the only document of a file in deploy/kubernetes.
func manifest[T any](t *testing.T, name string) (m struct{ Spec T }) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestJobHasOneShardForEachIndex: the pods learn the number of completions from a variable of their own.
func TestJobHasOneShardForEachIndex(t *testing.T) {
	spec := manifest[job](t, "job.yaml").Spec
	for _, v := range spec.Template.Spec.Containers[0].Env {
		if v.Name == "HELMDRIFT_SHARDS" {
			if v.Value != fmt.Sprint(spec.Completions) || spec.Parallelism != spec.Completions {
				t.Errorf("%d completions, %d at a time, %s shards", spec.Completions, spec.Parallelism, v.Value)
			}
			return
		}
	}
	t.Error("no HELMDRIFT_SHARDS")
}

// TestCronJobSendsMetrics runs the script of the CronJob with a helmdrift and a curl that are scripts themselves. The exit code is
// helmdrift's, or 1 if the metrics could not be sent. The script sends metrics after errors too, but never sends nothing.
func TestCronJobSendsMetrics(t *testing.T) {
	c := manifest[cronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	for _, test := range []struct {
		helmdrift, curl string
		exit            int
		sent            string
	}{
		{"echo metric 1; exit 0", "exit 0", 0, "metric 1\n"},
		{"echo metric 1; exit 1", "exit 0", 1, "metric 1\n"},
		{"echo metric 1; exit 0", "exit 22", 1, "metric 1\n"},
		{"echo metric 1; exit 2", "exit 0", 2, "metric 1\n"},
		{"exit 1", "exit 0", 1, ""},
	} {
		dir := t.TempDir()
		script := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		script("helmdrift", `echo "$@" > "$TMP/helmdrift.args"; `+test.helmdrift)
		script("curl", `echo "$@" > "$TMP/curl.args"; cp "$TMP/helmdrift.prom" "$TMP/sent"; `+test.curl)
		read := func(name string) string {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			return string(text)
		}
		cmd := exec.Command(c.Command[0], append(c.Command[1:], strings.ReplaceAll(c.Args[0], "/tmp/", dir+"/"))...)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "TMP=" + dir, "PUSHGATEWAY_URL=http://gateway:9091", "HELMDRIFT_CLUSTER_NAME=prod"}
		if _, err := cmd.Output(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != test.exit || read("sent") != test.sent {
			t.Errorf("%q and %q end with %d and send %q, want %d and %q", test.helmdrift, test.curl, got, read("sent"), test.exit, test.sent)
		}
		if got := read("curl.args"); test.sent != "" && !strings.HasSuffix(got, " http://gateway:9091/metrics/job/helmdrift/cluster/prod\n") {
			t.Errorf("curl is called with %s", got)
		}
		if got := read("helmdrift.args"); !strings.Contains(got, "--output prometheus") {
			t.Errorf("helmdrift is called with %s", got)
		}
	}
}
