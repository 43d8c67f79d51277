package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"helm.sh/helm/v3/pkg/storage/driver"
)

var terraformDir = flag.String("terraform", "", "folder with the programs tofu and terraform-provider-helm, for TestTerraform; it is skipped without one")

// TestTerraform judges the plans that are written by hand, of internal/terraform/testdata/read and of the story terraform, by OpenTofu and
// the real provider. Each helm_release of such a plan is a test. What the plan has before is applied as a configuration, live objects are
// edited, and diff predicts from the plan what OpenTofu then does with what the plan has afterwards. diff says the same of the plan that
// OpenTofu makes. A release that is created is tried twice: with nothing there, and with a release of the same name.
func TestTerraform(t *testing.T) {
	if *terraformDir == "" {
		t.Skip("-terraform names no folder")
	}
	files, err := filepath.Glob("../../internal/terraform/testdata/read/*.txtar")
	must(t, err)
	slots := make(chan struct{}, 3)
	for _, name := range append(files, "testdata/stories/terraform.txtar") {
		archive, err := txtar.ParseFile(name)
		must(t, err)
		for _, file := range archive.Files {
			for _, planned := range plannedReleases(file.Data) {
				title := strings.TrimSuffix(filepath.Base(name), ".txtar") + "/" + file.Name + "/" + planned.Address
				for _, isTaken := range []bool{false, true} {
					if isTaken && planned.Change.Before != nil {
						continue
					}
					if isTaken {
						title += " taken"
					}
					t.Run(title, func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						runTerraformPlan(t, planned, isTaken)
					})
				}
			}
		}
	}
}

// plannedRelease is a helm_release of a plan.
type plannedRelease struct {
	Address, Type string
	Reason        string `json:"action_reason"`
	Deposed       string
	Change        struct {
		Actions       []string
		Before, After map[string]any
		Unknown       any `json:"after_unknown"`
	}
	// text is the change as the plan has it.
	text json.RawMessage
}

// plannedReleases returns the helm_releases of a plan. There are none if it is no plan of a version that helmdrift knows.
func plannedReleases(plan []byte) (out []plannedRelease) {
	var of struct {
		Version string            `json:"format_version"`
		Changes []json.RawMessage `json:"resource_changes"`
	}
	if json.Unmarshal(plan, &of) != nil || !strings.HasPrefix(of.Version, "1.") {
		return nil
	}
	for _, text := range of.Changes {
		one := plannedRelease{text: text}
		if json.Unmarshal(text, &one) == nil && one.Type == "helm_release" && one.Deposed == "" {
			out = append(out, one)
		}
	}
	return out
}

// terraformRun is one such test.
type terraformRun struct {
	*Case
	planned plannedRelease
	// elsewhere is the namespace that stands for all others of the plan.
	elsewhere string
}

// terraformChart shows all values of a release.
const terraformChart = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {all: {{ toJson .Values | quote }}, plain: "a"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: web, image: "nginx:1.27"}]}
`

func runTerraformPlan(t *testing.T, planned plannedRelease, isTaken bool) {
	if strings.Contains(t.Name(), "/set-2/") {
		t.Skip("version 2 of the provider leaves out empty items of set_list, and version 3 does not")
	}
	c := newCase(t, suite.cluster)
	r := &terraformRun{Case: c, planned: planned, elsewhere: c.ns + "-other"}
	must(t, c.cluster.create(t.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: "+r.elsewhere+"}}", "", "kubectl-create"))
	for name, text := range map[string]string{
		"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "charts/web/templates/all.yaml": terraformChart,
		"post.sh": "#!/bin/sh\nsed 's/plain: \"a\"/plain: \"'rendered$1'\"/'\n",
		"tofurc":  fmt.Sprintf("provider_installation {\n dev_overrides {\n \"hashicorp/helm\" = %q\n }\n direct {}\n}\n", *terraformDir),
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(c.dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o755))
	}
	before, after := r.moved(planned.Change.Before), r.moved(planned.Change.After)
	place := before
	if place == nil {
		place = after
	}
	c.release, _ = place["name"].(string)
	actions := strings.Join(planned.Change.Actions, " ")
	if before != nil {
		must(t, r.write(map[string]any{"web": r.configured(before, nil)}, nil))
		if err := r.tofu("apply", "-auto-approve"); err != nil {
			t.Skipf("what the plan has before cannot be deployed: %v", err)
		}
	}
	if isTaken {
		_, err := c.run(helmCall{verb: "install", chart: filepath.Join(c.dir, "charts/web")})
		must(t, err)
	}
	if before != nil || isTaken {
		must(t, errors.Join(c.patch("kubectl-edit", "configmap/"+c.release, "{data: {plain: edited, added: edited}}"), c.scale("deployment/"+c.release, "3")))
	}
	said, objects := r.predict(t, "plan.json", r.handMade(t))
	if said.Deployer == nil {
		t.Skipf("the plan is not read: %v", said.Errors)
	}

	next, args := map[string]any{}, []string{"plan", "-out", "next"}
	var removed []any
	switch {
	case strings.HasPrefix(actions, "forget"):
		removed = []any{map[string]any{"from": "helm_release.web", "lifecycle": map[string]any{"destroy": false}}}
	case after != nil:
		config := r.configured(after, planned.Change.Unknown)
		if strings.HasPrefix(actions, "create delete") {
			config["lifecycle"] = map[string]any{"create_before_destroy": true}
		}
		if strings.Contains(actions, "delete") && reflect.DeepEqual(before["namespace"], after["namespace"]) && before["name"] == after["name"] {
			args = append(args, "-replace=helm_release.web")
		}
		next["web"] = config
	}
	must(t, r.write(next, removed))
	if err := r.tofu(args...); err != nil {
		t.Skipf("OpenTofu makes no such plan: %v", err)
	}
	real, err := r.output("show", "-json", "next")
	must(t, err)
	if made := plannedReleases(real); len(made) != 1 || !slices.Equal(made[0].Change.Actions, planned.Change.Actions) {
		t.Skipf("OpenTofu has other actions than %s for such a change: %s", actions, real)
	}
	if len(said.Errors) == 0 {
		r.compare(t, said, real)
	}
	uid := r.uid()
	failed := r.tofu("apply", "next")
	r.judge(t, said, objects, uid, failed)
}

// moved returns arguments with the namespaces and the charts of the test.
func (r *terraformRun) moved(arguments map[string]any) map[string]any {
	if arguments == nil {
		return nil
	}
	out := maps.Clone(arguments)
	home := r.planned.Change.Before
	if home == nil {
		home = r.planned.Change.After
	}
	out["namespace"] = r.ns
	if arguments["namespace"] != home["namespace"] {
		out["namespace"] = r.elsewhere
	}
	out["chart"] = "./charts/web"
	for name := range out {
		if strings.HasPrefix(name, "repository") || slices.Contains([]string{"devel", "verify", "keyring", "version"}, name) {
			out[name] = nil
		}
	}
	if metadata, is := out["metadata"].(map[string]any); is {
		metadata = maps.Clone(metadata)
		metadata["revision"], out["metadata"] = 1, metadata
	}
	if list, is := out["metadata"].([]any); is && len(list) > 0 {
		metadata := maps.Clone(list[0].(map[string]any))
		metadata["revision"], out["metadata"] = 1, []any{metadata}
	}
	post, isObject := out["postrender"].(map[string]any)
	if list, is := out["postrender"].([]any); is && len(list) > 0 {
		post, _ = list[0].(map[string]any)
		out["postrender"] = []any{map[string]any{"binary_path": "./post.sh", "args": post["args"]}}
	} else if isObject {
		out["postrender"] = map[string]any{"binary_path": "./post.sh", "args": post["args"]}
	}
	return out
}

// handMade returns the plan with the release alone.
func (r *terraformRun) handMade(t *testing.T) []byte {
	t.Helper()
	var change map[string]any
	must(t, json.Unmarshal(r.planned.text, &change))
	of := change["change"].(map[string]any)
	for name, arguments := range map[string]map[string]any{"before": r.moved(r.planned.Change.Before), "after": r.moved(r.planned.Change.After)} {
		if arguments != nil {
			of[name] = arguments
		}
	}
	text, err := json.Marshal(map[string]any{"format_version": "1.2", "resource_changes": []any{change}})
	must(t, err)
	return text
}

// terraformComputed are the arguments that the provider computes.
var terraformComputed = []string{"id", "metadata", "status", "manifest", "resources"}

// configured returns arguments as a configuration has them. Those that only the apply knows are of another resource.
func (r *terraformRun) configured(arguments map[string]any, unknown any) map[string]any {
	marks, _ := unknown.(map[string]any)
	out := map[string]any{}
	for name, value := range arguments {
		if list, isList := value.([]any); isList && name == "postrender" { // version 2 of the provider has a block
			value = nil
			if len(list) > 0 {
				value = list[0]
			}
		}
		if value != nil && !slices.Contains(terraformComputed, name) {
			out[name] = value
		}
	}
	for name, mark := range marks {
		if !slices.Contains(terraformComputed, name) && name != "version" && name != "repository" {
			out[name] = lateValue(out[name], mark, name)
		}
	}
	for _, name := range []string{"set", "set_list", "set_sensitive", "set_wo"} {
		list, _ := out[name].([]any)
		for i, item := range list {
			if of, isObject := item.(map[string]any); isObject {
				of = maps.Clone(of)
				maps.DeleteFunc(of, func(_ string, v any) bool { return v == nil })
				if of["type"] == "" {
					delete(of, "type")
				}
				list[i] = of
			}
		}
		if list != nil && len(list) == 0 {
			delete(out, name)
		}
	}
	return out
}

// late are the expressions for arguments that only the apply knows. Others are the text.
var late = map[string]string{
	"set": `[{name = "late", value = terraform_data.late.output}]`, "set_list": `[{name = "late", value = [terraform_data.late.output]}]`,
	"set_list[].value": "[terraform_data.late.output]", "postrender.args": "[terraform_data.late.output]",
	"set_wo_revision": "length(terraform_data.late.output)",
	"values":          "[yamlencode({late = terraform_data.late.output})]", "values[]": "yamlencode({late = terraform_data.late.output})",
	"atomic": `terraform_data.late.output == "late"`, "disable_webhooks": `terraform_data.late.output == "late"`, "wait": `terraform_data.late.output == "late"`,
}

// lateValue returns a value where what is marked is of a resource that only the apply makes. Name is the path of the value.
func lateValue(value, mark any, name string) any {
	switch m := mark.(type) {
	case bool:
		if !m {
			return value
		}
		return "${" + orElse(late[name], "terraform_data.late.output") + "}"
	case []any:
		list, _ := value.([]any)
		out := slices.Clone(list)
		for i, below := range m {
			if i >= len(out) {
				out = append(out, nil)
			}
			out[i] = lateValue(out[i], below, name+"[]")
		}
		return out
	case map[string]any:
		of, _ := value.(map[string]any)
		out := map[string]any{}
		maps.Copy(out, of)
		for key, below := range m {
			out[key] = lateValue(out[key], below, name+"."+key)
		}
		return out
	}
	return value
}

// write writes the configuration.
func (r *terraformRun) write(releases map[string]any, removed []any) error {
	config := map[string]any{
		"terraform": map[string]any{"required_providers": map[string]any{"helm": map[string]any{"source": "hashicorp/helm"}}},
		"provider":  map[string]any{"helm": map[string]any{"kubernetes": map[string]any{"config_path": r.cluster.kubeconfig}}},
	}
	resources := map[string]any{}
	if len(releases) > 0 {
		resources["helm_release"] = releases
	}
	text, err := json.Marshal(releases)
	if bytes.Contains(text, []byte("terraform_data.late")) {
		resources["terraform_data"] = map[string]any{"late": map[string]any{"input": "late"}}
	}
	if len(resources) > 0 {
		config["resource"] = resources
	}
	if removed != nil {
		config["removed"] = removed
	}
	if err == nil {
		text, err = json.MarshalIndent(config, "", " ")
	}
	return errors.Join(err, os.WriteFile(filepath.Join(r.dir, "main.tf.json"), text, 0o644))
}

// output runs OpenTofu and returns what it prints.
func (r *terraformRun) output(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(*terraformDir, "tofu"), args...)
	cmd.Dir = r.dir
	cmd.Env = []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + filepath.Join(r.dir, "tofurc")}
	return cmd.Output()
}

// tofu runs OpenTofu and returns the first error that it reports.
func (r *terraformRun) tofu(args ...string) error {
	out, err := r.output(slices.Insert(args, 1, "-json")...)
	for line := range bytes.Lines(out) {
		var said struct {
			Diagnostic struct{ Severity, Summary, Detail string }
		}
		if json.Unmarshal(line, &said) == nil && said.Diagnostic.Severity == "error" {
			return fmt.Errorf("%s: %s", said.Diagnostic.Summary, said.Diagnostic.Detail)
		}
	}
	if exited := (*exec.ExitError)(nil); errors.As(err, &exited) {
		err = fmt.Errorf("%w: %s", err, exited.Stderr)
	}
	return err
}

// predict runs diff with a plan.
func (r *terraformRun) predict(t *testing.T, name string, plan []byte) (releaseReport, []*objectPrediction) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(r.dir, name), plan, 0o644))
	args := []string{"diff", "--plan", name, "-o", "json", "--show-secrets"}
	if bytes.Contains(plan, []byte(`"./post.sh"`)) {
		args = append(args, "--post-renderer", "./post.sh")
	}
	out, err := r.binary(args...)
	must(t, err)
	if !strings.HasPrefix(out.stdout, "{") {
		return releaseReport{Errors: []message{{Message: out.stderr}}}, nil
	}
	out.report, err = decodeReport(out.stdout)
	must(t, err)
	r.last = out
	said := out.report.Releases[0]
	if len(said.Errors) > 0 {
		return said, nil
	}
	objects, err := r.foreseen()
	must(t, err)
	return said, objects
}

// compare checks that diff says of the plan that OpenTofu makes what it says of the plan that is written by hand.
func (r *terraformRun) compare(t *testing.T, said releaseReport, plan []byte) {
	t.Helper()
	describe := func(one releaseReport) string {
		one.Warnings = nil
		if one.Deployer != nil {
			short := *one.Deployer
			short.Reason, one.Deployer = "", &short
		}
		return strings.Join((&driftReport{Releases: []releaseReport{one}}).lines(), "\n")
	}
	last := r.last
	real, _ := r.predict(t, "real.json", plan)
	r.last = last
	if d := cmp.Diff(describe(said), describe(real)); d != "" {
		t.Errorf("the plan by hand (-) and that of OpenTofu (+) are not predicted alike:\n%s", d)
	}
}

// uid returns the identity of an object of the release.
func (r *terraformRun) uid() any {
	o := &objectPrediction{cluster: r.cluster, namespace: r.ns, name: r.release}
	o.kind.Version, o.kind.Kind = "v1", "ConfigMap"
	if now, err := o.read(); err == nil && now != nil {
		o.before = now
		return o.uid()
	}
	return nil
}

// judge compares what was said with what OpenTofu did.
func (r *terraformRun) judge(t *testing.T, said releaseReport, objects []*objectPrediction, uid any, failed error) {
	t.Helper()
	var fault error
	tolerated := tolerances{}
	action := said.Deployer.Action
	switch {
	case len(said.Errors) > 0 && action == "unknown" && failed != nil && !strings.Contains(said.Errors[0].Message, "only after the apply"):
		// neither helmdrift nor the provider can read it
	case len(said.Errors) > 0 && action != "blocked":
		t.Skipf("the report is incomplete, %s: %v; OpenTofu: %v", action, said.Errors, failed)
	case action == "upgrade" || action == "install":
		fault = r.judgeUpgrade(objects, failed, tolerated)
	case action == "none":
		fault = errors.Join(append(eachPrediction(objects, (*objectPrediction).checkSame), failed)...)
	case action == "uninstall":
		_, err := r.manifest()
		fault = failed
		if !errors.Is(err, driver.ErrReleaseNotFound) {
			fault = errors.Join(fault, fmt.Errorf("the release is still there: %w", orNothing(err)))
		}
		fault = errors.Join(append(eachPrediction(objects, (*objectPrediction).waitUntilDeleted), fault)...)
	case action == "reinstall":
		if now := r.uid(); failed != nil || now == uid {
			fault = fmt.Errorf("the object of the release was %v and is %v: %w", uid, now, orNothing(failed))
		}
	case action == "blocked":
		if failed == nil {
			fault = errors.New("the report says blocked, and OpenTofu does it")
		}
	default:
		fault = fmt.Errorf("the report says %s", action)
	}
	if fault != nil {
		t.Errorf("the report says %s: %s\n%v\nOpenTofu: %v\n%s", action, said.Deployer.Reason, fault, failed, strings.Join(r.last.report.lines(), "\n"))
		return
	}
	t.Logf("judged: %s, %d objects; OpenTofu: %v; excused: %v", action, len(objects), failed, tolerated)
}

// checkSame checks that nobody has changed the object since the prediction.
func (p *objectPrediction) checkSame() error {
	now, err := p.read()
	if err != nil {
		return err
	}
	for _, part := range []string{"data", "spec"} {
		if d := cmp.Diff(p.before[part], now[part]); d != "" {
			return fmt.Errorf("%s was (-) and is (+):\n%s", part, d)
		}
	}
	return nil
}
