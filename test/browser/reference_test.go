package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/goregular"
)

const (
	// scale is by how much a reference picture is smaller than the screen. Letters become a texture, in which the edges of another version
	// of the browser are lost, and everything that has a place or a colour stays.
	scale = 8
	// tolerance is how much a pixel of a reference may differ in a channel, of 255, and share how many of a thousand may differ more.
	tolerance, share = 24, 8
)

// screens are the widths at which people look at the page, with the heights of their screens.
var screens = [][2]int64{{390, 844}, {768, 1024}, {1300, 900}}

// TestReferences compares the pages with reference pictures, on a phone, a tablet and a screen, in light and dark, and printed. The test
// brings its own fonts, so that the pictures do not depend on those of the machine. -update writes them: look at each of them then.
func TestReferences(t *testing.T) {
	for name, doc := range map[string][]byte{
		"release": write(t, saved(t, "drift")), "scan": write(t, saved(t, "scan-clusters")), "history": historyPage(t),
		"environments": write(t, saved(t, "environments")),
	} {
		b := open(t, doc, 1300, 900)
		for _, screen := range screens {
			for _, theme := range []string{"light", "dark"} {
				b.theme(theme)
				b.compare(fmt.Sprintf("%s-%d-%s", name, screen[0], theme), b.picture(screen[0], screen[1]))
			}
		}
		b.theme("light")
		b.compare(name+"-print", b.printedPicture())
	}
}

// TestReferencesSee checks that the comparison notices what a person would: a line more, another colour, a narrower column.
func TestReferencesSee(t *testing.T) {
	b := open(t, write(t, saved(t, "drift")), 1300, 900)
	b.theme("light")
	before := b.picture(1300, 900)
	if n := differing(before, b.picture(1300, 900)); n > share {
		t.Errorf("two pictures of the same page differ in %d of 1000 pixels", n)
	}
	for name, change := range map[string]string{
		"a line more":       `document.querySelector("h1").after(document.createElement("p"), make("p", null, "another line"))`,
		"another colour":    `document.documentElement.style.setProperty("--drift-ground", "#d0ffd0")`,
		"a narrower column": `byId("panes").style.gridTemplateColumns = "300px 1fr"`,
		"larger letters":    `document.body.style.fontSize = "17px"`,
	} {
		b.visit("")
		n := differing(before, b.shoot(1300, 900, change))
		if t.Logf("%s: %d of 1000 pixels differ", name, n); n <= share {
			//
			t.Errorf("%s: only %d of 1000 pixels differ", name, n)
		}
	}
}

// theme emulates a theme of the system.
func (b *tab) theme(theme string) {
	b.t.Helper()
	b.run(emulation.SetEmulatedMedia().WithMedia("").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
}

// picture opens the page anew and returns a small picture of the first screen.
func (b *tab) picture(width, height int64) image.Image {
	b.t.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, false))
	b.visit("")
	return b.shoot(width, height, "null")
}

// printedPicture returns a small picture of the first page of paper.
func (b *tab) printedPicture() image.Image {
	b.t.Helper()
	const width, height = 720, 1000
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, false))
	b.visit("")
	b.run(emulation.SetEmulatedMedia().WithMedia("print"))
	return b.shoot(width, height, `dispatchEvent(new Event("beforeprint"))`)
}

// shoot sets the fonts of the test, evaluates an expression, and returns a small picture. Signs that the fonts lack become letters, since
// the browser would take them from a font of the machine, and letters stand at exact places, whatever the machine's rules for fonts are.
func (b *tab) shoot(width, height int64, expression string) image.Image {
	b.t.Helper()
	for _, font := range []struct {
		family, weight string
		data           []byte
	}{
		{"Test", "400", goregular.TTF}, {"Test", "600 700", gobold.TTF}, {"Test Mono", "400", gomono.TTF}, {"Test Mono", "600 700", gomonobold.TTF},
	} {
		value[bool](b, `(() => {
			const bytes = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
			document.fonts.add(new FontFace(%q, bytes, { weight: %q }));
			return true;
		})()`, base64.StdEncoding.EncodeToString(font.data), font.family, font.weight)
	}
	value[bool](b, `(() => {
		const style = new CSSStyleSheet();
		style.replaceSync("* { text-rendering: geometricPrecision !important } summary { list-style: none }" +
			":root { --mono: 'Test Mono' !important } body { font-family: Test !important }");
		document.adoptedStyleSheets = [style];
		dispatchEvent(new Event("resize"));
		%s;
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (texts.nextNode()) {
			const shown = texts.currentNode.data.replace(/[^\x00-\x7f]/g, "o");
			if (shown !== texts.currentNode.data && !texts.currentNode.parentElement.closest("script, style")) texts.currentNode.data = shown;
		}
		for (const field of document.querySelectorAll("[placeholder]")) field.placeholder = "search";
		return true;
	})()`, expression)
	b.wait(`document.fonts.status === "loaded" && [...document.fonts].every((font) => font.status !== "loading")`)
	var screen []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		clip := &page.Viewport{Width: float64(width), Height: float64(height), Scale: 1}
		screen, err = page.CaptureScreenshot().WithClip(clip).Do(ctx)
		return err
	}))
	large, err := png.Decode(bytes.NewReader(screen))
	if err != nil {
		b.t.Fatal(err)
	}
	return smaller(large)
}

// smaller returns a picture in which each pixel is the mean of a square of another one. Channels have 32 steps, so that it packs well.
func smaller(large image.Image) image.Image {
	size := large.Bounds().Size().Div(scale)
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sum [3]uint32
			for i := range scale * scale {
				r, g, b, _ := large.At(x*scale+i%scale, y*scale+i/scale).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
			}
			for i := range sum {
				sum[i] = sum[i] / (scale * scale) / 8 * 8
			}
			out.Set(x, y, color.RGBA{uint8(sum[0]), uint8(sum[1]), uint8(sum[2]), 255})
		}
	}
	return out
}

// differing returns how many of 1000 pixels differ.
func differing(a, b image.Image) int {
	size := a.Bounds().Size()
	if size != b.Bounds().Size() {
		return 1000
	}
	n := 0
	for y := range size.Y {
		for x := range size.X {
			p, q := color.RGBAModel.Convert(a.At(x, y)).(color.RGBA), color.RGBAModel.Convert(b.At(x, y)).(color.RGBA)
			if apart(p.R, q.R) > tolerance || apart(p.G, q.G) > tolerance || apart(p.B, q.B) > tolerance {
				n++
			}
		}
	}
	return n * 1000 / (size.X * size.Y)
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// compare compares a picture with its reference. It keeps a picture that differs, so that somebody can look at it.
func (b *tab) compare(name string, got image.Image) {
	b.t.Helper()
	file := filepath.Join("testdata", "pictures", name+".png")
	if *update {
		writePicture(b.t, file, got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.t.Errorf("%v (go test -update writes it)", err)
		return
	}
	want, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	if n := differing(want, got); n > share {
		shown := filepath.Join(os.TempDir(), "helmdrift-"+name+".png")
		writePicture(b.t, shown, got)
		b.t.Errorf("%d of 1000 pixels of %s differ, more than %d: see %s", n, file, share, shown)
	}
}

// writePicture writes a picture.
func writePicture(t testing.TB, file string, picture image.Image) {
	t.Helper()
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
