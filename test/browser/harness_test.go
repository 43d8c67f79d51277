package browser

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// patience is how long one step may take on a machine that is busy with other tests.
const patience = 90 * time.Second

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

// chromium returns the browser, and skips the test if there is none.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no chromium (Debian: apt-get install chromium)")
	return ""
}

// write returns the page of a report.
func write(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var page bytes.Buffer
	if err := output.Write(&page, output.HTML, r, output.Options{}); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// saved reads a report of the tests of internal/output.
func saved(t *testing.T, name string) *report.Report {
	t.Helper()
	text, err := os.ReadFile("../../internal/output/testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open opens a page, as a file, in a browser of its own. A complaint of the browser, such as one about the policy, or an exception of the
// script fails the test.
func open(t *testing.T, page []byte, width, height int64, before ...chromedp.Action) *tab {
	t.Helper()
	path := chromium(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the script fails: %s", e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			t.Errorf("the browser complains: %s", e.Entry.Text)
		}
	})
	b := &tab{t, ctx, "file://" + file}
	b.run(append([]chromedp.Action{log.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, width < 600)}, before...)...)
	b.visit("")
	return b
}

// run does things in the page.
func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if chromedp.FromContext(b.ctx).Browser == nil {
		ctx = b.ctx // the first context of a browser ends the browser with it
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// visit loads the page anew with a fragment.
func (b *tab) visit(fragment string) {
	b.t.Helper()
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+fragment), chromedp.WaitVisible("#app", chromedp.ByQuery))
}

// value evaluates an expression in the page.
func value[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, &v))
	return v
}

// wait waits until an expression is true in the page.
func (b *tab) wait(expression string) {
	b.t.Helper()
	var ok bool
	b.run(chromedp.Poll(expression, &ok, chromedp.WithPollingTimeout(patience)))
}

// text returns what a person reads in an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return value[string](b, "document.querySelector("+quote(selector)+").innerText")
}

// click clicks an element.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(selector, chromedp.ByQuery))
}

// choose chooses an option of a select element, as a person does.
func (b *tab) choose(id, option string) {
	b.t.Helper()
	value[bool](b, `(() => { const s = document.getElementById(`+quote(id)+`); s.value = `+quote(option)+
		`; s.dispatchEvent(new Event("change", {bubbles: true})); return s.value === `+quote(option)+` })()`)
}

// quote returns a text as a literal of the script.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
