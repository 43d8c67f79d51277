package story

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file compares public charts that nobody touched: what helmdrift renders is what the repo-server renders, or a difference would show.

var charts = flag.String("charts", "", "a folder with charts; helmdrift must call each clean after Argo CD has deployed it")

// publicCharts is the command charts: it deploys each chart with both apply methods, and wants an Application that nobody touched to be
// clean.
func publicCharts(ts *testscript.TestScript, _ bool, _ []string) {
	if *charts == "" {
		ts.Logf("-charts names no folder")
		return
	}
	all, err := filepath.Glob(filepath.Join(*charts, "*", "Chart.yaml"))
	ts.Check(err)
	clean, outOfSync, skipped, wrong := 0, 0, 0, 0
	for i, chart := range all {
		name := filepath.Base(filepath.Dir(chart))
		for _, serverNow := range []bool{false, true} {
			c := &syncCase{ts: ts, random: rand.New(rand.NewPCG(uint64(i), 2)), name: name, serverNow: serverNow}
			if serverNow {
				c.name += "-server" // nothing is left of the first one
			}
			problem, err := c.deployChart(filepath.Dir(chart))
			switch {
			case problem == neverInSync && err == nil:
				outOfSync++
				ts.Logf("%s, server-side %t: out of sync after the sync, as predicted", name, c.serverNow)
			case err != nil:
				wrong++
				ts.Logf("%s, server-side %t: %v", name, c.serverNow, err)
			case problem != "":
				skipped++
				ts.Logf("%s, server-side %t: skipped: %.300s", name, c.serverNow, problem)
			default:
				clean++
			}
			c.removeApplication()
		}
	}
	ts.Logf("%d charts, each in two ways: %d clean, %d out of sync as predicted, %d skipped because Argo CD does not sync them here, %d wrong",
		len(all), clean, outOfSync, skipped, wrong)
	if wrong > 0 {
		ts.Fatalf("%d of %d untouched Applications are not clean", wrong, 2*len(all))
	}
}

// neverInSync is the problem of a chart that Argo CD calls out of sync right after a sync, as helmdrift does.
const neverInSync = "out of sync"

// deployChart syncs a chart and compares it. A problem is why Argo CD cannot sync it on this control plane, or neverInSync.
func (c *syncCase) deployChart(chart string) (problem string, err error) {
	if err := os.CopyFS(c.ts.MkAbs(filepath.Join("charts", c.name)), os.DirFS(chart)); err != nil && !os.IsExist(err) {
		return "", err
	}
	for _, args := range [][]string{
		{"-C", "charts", "add", "-f", "."},
		{"-C", "charts", "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", c.name, "--allow-empty"},
	} {
		if _, _, err := c.program("", "git", args...); err != nil {
			return "", err
		}
	}
	c.options = []string{"CreateNamespace=true"}
	if err := c.applyApplication(); err != nil {
		return "", err
	}
	if err := c.sync(); err != nil {
		return err.Error(), nil
	}
	state, err := c.settled()
	if err != nil {
		return "", err
	}
	r, code, err := c.predict()
	if err != nil {
		return "", err
	}
	reason := r.Releases[0].Deployer.Reason
	if strings.HasPrefix(reason, "it is in sync") != (state == "Synced") {
		return "", fmt.Errorf("Argo CD says %s of %v, and helmdrift %q: %v %v", state, c.outOfSync(), reason, r.writes(), r.Releases[0].Warnings)
	}
	if writes := r.writes(); code != 0 || len(writes) > 0 {
		return "", fmt.Errorf("exit code %d, %v", code, writes)
	}
	if state != "Synced" {
		return neverInSync, nil
	}
	if state, err = c.refreshed(hardRefresh); err != nil {
		return "", err
	}
	if strings.Contains(reason, "renders the sources again") != (state != "Synced") {
		return "", fmt.Errorf("Argo CD says %s with a new rendering, and helmdrift %q", state, reason)
	}
	if r, code, err = c.predict(); err != nil || code != 0 || len(r.writes()) > 0 {
		return "", fmt.Errorf("after a new rendering, exit code %d, %v: %v", code, r.writes(), err)
	}
	if reason = r.Releases[0].Deployer.Reason; strings.HasPrefix(reason, "it is in sync") != (state == "Synced") {
		return "", fmt.Errorf("Argo CD says %s after a new rendering, and helmdrift %q", state, reason)
	}
	return "", nil
}

// settled returns whether the Application is in sync once Argo CD has seen what the sync wrote. It sees a large definition late.
func (c *syncCase) settled() (state string, err error) {
	for range 10 {
		if state, err = c.refreshed(normalRefresh); err != nil || state == "Synced" {
			break
		}
		time.Sleep(time.Second)
	}
	return state, err
}

// outOfSync returns the objects that differ for Argo CD.
func (c *syncCase) outOfSync() (out []string) {
	app, _ := c.application()
	for _, r := range app.Status.Resources {
		if r.Status != "Synced" {
			out = append(out, r.Kind+"/"+r.Name+" "+r.Status)
		}
	}
	return out
}

// removeApplication deletes the Application and what it deployed, as far as that goes.
func (c *syncCase) removeApplication() {
	_, _ = c.kubectl(asText(map[string]any{"metadata": map[string]any{"finalizers": []string{"resources-finalizer.argocd.argoproj.io"}}}),
		"patch", "application", c.name, "-n", "argocd", "--type=merge", "--patch-file", "/dev/stdin")
	_, _ = c.kubectl("", "delete", "application", c.name, "-n", "argocd", "--timeout=20s")
	_, _ = c.kubectl("", "delete", "namespace", c.name, "--wait=false")
	_ = os.RemoveAll(c.ts.MkAbs(filepath.Join("charts", c.name)))
}
