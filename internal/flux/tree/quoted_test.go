package tree

import (
	"context"
	"strings"
	"testing"
)

// TestNoValueInErrors checks that no message quotes a value that begins with an asterisk, as generated passwords do. YAML takes it for the
// name of an anchor.
func TestNoValueInErrors(t *testing.T) {
	const password = "*Xa83kd92Ls"
	variable := "  postBuild: {substitute: {password: \"" + password + "\"}}\n"
	of := func(value string) string { return strings.Replace(configMap("a"), "{a: b}", "\n  a: "+value, 1) }
	for name, files := range map[string]map[string]string{
		"in a variable":        {"ks/a.yaml": fluxApps("apps", "apps", variable), "apps/a.yaml": of("${password}")},
		"in an object":         {"ks/a.yaml": fluxApps("apps", "apps", ""), "apps/a.yaml": of(password)},
		"in the kustomization": {"ks/a.yaml": fluxApps("apps", "apps", ""), "apps/kustomization.yaml": "namePrefix: " + password},
		"in a patch": {"ks/a.yaml": fluxApps("apps", "apps", ""), "apps/a.yaml": of("b"),
			"apps/kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: '{kind: ConfigMap, data: {a: " + password + "}}'"},
	} {
		want := map[bool]string{true: "unable to parse", false: "unknown anchor"}[name == "in a patch"]
		if _, said := buildAll(grow(t, files), "ks"); strings.Contains(said, password[1:]) || !strings.Contains(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
	answer, err := Build(context.Background(), Order{Dir: "-", Rendered: true, Text: []byte(of(password))}, Outside{})
	if err != nil || len(answer.Problems) != 1 || !strings.HasSuffix(answer.Problems[0].Message, "unknown anchor") {
		t.Errorf("in a stream: %v, %v", answer.Problems, err)
	}
}
