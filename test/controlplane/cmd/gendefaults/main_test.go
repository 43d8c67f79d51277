package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// committed is the table that the main module embeds.
const committed = "../../../../internal/kinds/defaults.json"

func TestTableIsCurrent(t *testing.T) {
	scheme := newScheme()
	seen, err := measure(scheme, listKinds(scheme), 600)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := seen.writeTable(&got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is not what gendefaults -table writes", committed)
	}
}

// TestTableHasOnlyConstants checks that the table has no default that depends on a sibling or on the kind.
func TestTableHasOnlyConstants(t *testing.T) {
	text, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]map[string]any
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if got := table["core/v1.Container"]["terminationMessagePath"]; got != "/dev/termination-log" {
		t.Errorf("terminationMessagePath is %v", got)
	}
	for goType, field := range map[string]string{
		"core/v1.Container":                                     "imagePullPolicy",
		"core/v1.PodSpec":                                       "enableServiceLinks",
		"core/v1.ServicePort":                                   "targetPort",
		"core/v1.ResourceRequirements":                          "requests",
		"core/v1.VolumeSource":                                  "emptyDir",
		"core/v1.ServiceSpec":                                   "allocateLoadBalancerNodePorts",
		"apps/v1.DeploymentStrategy":                            "rollingUpdate",
		"batch/v1.JobSpec":                                      "completions",
		"networking/v1.NetworkPolicySpec":                       "policyTypes",
		"autoscaling/v2.HPAScalingRules":                        "policies",
		"core/v1.LimitRangeItem":                                "default",
		"flowcontrol/v1beta3.LimitedPriorityLevelConfiguration": "nominalConcurrencyShares",
		"core/v1.ReplicationControllerSpec":                     "selector",
	} {
		if value, ok := table[goType][field]; ok {
			t.Errorf("%s.%s is %v in the table", goType, field, value)
		}
	}
}

func TestPairsFollowTheSeed(t *testing.T) {
	scheme := newScheme()
	kinds := listKinds(scheme)
	write := func(seed uint64) string {
		var out bytes.Buffer
		if err := writePairs(&out, scheme, kinds, seed, 2); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if write(1) != write(1) {
		t.Error("one seed gives two files")
	}
	if write(1) == write(2) {
		t.Error("two seeds give one file")
	}
}
