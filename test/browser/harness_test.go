package browser

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

var update = flag.Bool("update", false, "rewrite the screenshots in docs and the reference pictures")

// patience is how long one step may take on a machine that is busy with other tests.
const patience = 2 * time.Minute

// browser is the one browser of all tests. It ends with the process of the tests.
var browser = sync.OnceValues(startBrowser)

// errNoBrowser is why the tests are skipped.
var errNoBrowser = errors.New("there is no chromium (Debian: apt-get install chromium)")

// stopBrowser ends the browser; nil if none was started.
var stopBrowser func()

func TestMain(m *testing.M) {
	code := m.Run()
	if stopBrowser != nil {
		stopBrowser()
	}
	os.Exit(code)
}

// startBrowser starts the browser.
func startBrowser() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoBrowser
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(ctx)
	stopBrowser = func() { cancel(); stop() }
	return ctx, chromedp.Run(ctx)
}

// tab is a page in the browser.
type tab struct {
	t   testing.TB
	ctx context.Context
	url string
}

// open opens the page of a report, as a file, in a new tab. A complaint of the browser, such as one about the policy, or an exception of
// the script fails the test.
func open(t testing.TB, doc []byte, width, height int64) *tab {
	t.Helper()
	parent, err := browser()
	if errors.Is(err, errNoBrowser) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the script fails: %s", e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			t.Errorf("the browser complains: %s", e.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			t.Errorf("a dialog says %s", e.Message)
		}
	})
	if err := chromedp.Run(ctx); err != nil { // the first run of a context makes the tab, and the tab keeps this context
		t.Fatal(err)
	}
	b := &tab{t, ctx, "file://" + file}
	b.run(log.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, false))
	b.visit("")
	value[bool](b, `(localStorage.clear(), true)`) // the theme that a test chose must not reach the next
	b.visit("")
	return b
}

// write returns the page of a report.
func write(t testing.TB, r *report.Report) []byte {
	t.Helper()
	var doc bytes.Buffer
	if err := output.Write(&doc, output.HTML, r, output.Options{}); err != nil {
		t.Fatal(err)
	}
	return doc.Bytes()
}

// saved reads a report of the tests of internal/output.
func saved(t testing.TB, name string) *report.Report {
	t.Helper()
	text, err := os.ReadFile("../../internal/output/testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := reading.Report(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run runs actions. If the page replaces an element after an action has found it and before it acts, nothing has happened to the page, and
// run begins again.
func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	err := chromedp.Run(ctx, actions...)
	for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "Could not find node with given id") {
		err = chromedp.Run(ctx, actions...)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// visit reloads the page with a fragment.
func (b *tab) visit(fragment string) {
	b.t.Helper()
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+fragment))
	b.wait(`document.readyState === "complete" && !document.getElementById("app")?.hidden`)
}

// value evaluates an expression in the page.
func value[T any](b *tab, format string, args ...any) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(format, args...), &v))
	return v
}

// wait waits until an expression is true in the page. (chromedp's own Poll makes functions of texts, which the policy of the page
// refuses.)
func (b *tab) wait(format string, args ...any) {
	b.t.Helper()
	for end := time.Now().Add(patience); !value[bool](b, format, args...); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("never: "+format, args...)
		}
	}
}

// text returns what a person reads in an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return value[string](b, "document.querySelector(%q).innerText", selector)
}

// click clicks an element.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(selector, chromedp.ByQuery))
}

// press presses keys, one after the other. A key writes its character only if the page lets it, as under a person's hand; chromedp's own
// KeyEvent always writes it.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		text, code := key, int64(0)
		switch key {
		case "Enter":
			text, code = "\r", 13
		case "Escape":
			text, code = "", 27
		}
		down := input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithText(text).WithWindowsVirtualKeyCode(code)
		b.run(down, input.DispatchKeyEvent(input.KeyUp).WithKey(key).WithWindowsVirtualKeyCode(code))
	}
}

// choose chooses an option of a select element by its value, as a person does.
func (b *tab) choose(id, option string) {
	b.t.Helper()
	if !value[bool](b, `(() => { const s = document.getElementById(%q); s.value = %q;
		s.dispatchEvent(new Event("change", {bubbles: true})); return s.value === %[2]q })()`, id, option) {
		b.t.Fatalf("%s has no choice %s", id, option)
	}
}

// search writes into the search and waits until the list follows.
func (b *tab) search(text string) {
	b.t.Helper()
	value[bool](b, `(byId("q").value = %q, byId("q").dispatchEvent(new Event("input")))`, text)
	b.wait(`(state.filters.q || "") === %q`, text)
}
