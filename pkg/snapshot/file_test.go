package snapshot

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// packed returns the gzip form of a text.
func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// example returns the text of the snapshot that README uses, as a map that a test may change.
func example(t testing.TB) map[string]any {
	t.Helper()
	file, err := os.Open("../../testdata/snapshots/web.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.NewDecoder(r).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReadRefuses checks that Read refuses a file that helmdrift did not write, with a reason that quotes none of its values.
func TestReadRefuses(t *testing.T) {
	changed := func(change func(s map[string]any)) string {
		s := example(t)
		change(s)
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := func(s map[string]any, name string) map[string]any { return s[name].([]any)[0].(map[string]any) }
	small := bounds{packed: 1 << 20, size: 2 << 20, values: 20_000, depth: 200}
	for want, text := range map[string]string{
		"it is empty or cut short":      "",
		"it is not JSON":                "{]",
		"it has text after its end":     "{} {}",
		"it has no apiVersion":          "{}",
		"nested deeper than 200":        strings.Repeat("[", 300),
		"more than 20000 values":        "[" + strings.Repeat("1,", 20_000) + "1]",
		"a newer helmdrift may have":    `{"apiVersion":"helmdrift.io/v2","kind":"Snapshot"}`,
		`it is a "helmdrift.io/v1"`:     `{"apiVersion":"helmdrift.io/v1","kind":"Report"}`,
		`has the key "canary"`:          changed(func(s map[string]any) { s["canary"] = 1 }),
		"its release has no valid name": changed(func(s map[string]any) { s["release"] = "../canary" }),
		"it has no namespace":           changed(func(s map[string]any) { s["namespace"] = "" }),
		"its namespace holds a number":  changed(func(s map[string]any) { s["namespace"] = 1 }),
		"it has no release record":      changed(func(s map[string]any) { s["records"].(map[string]any)["revisions"] = nil }),
		"records.revisions[0] is not in the list": changed(func(s map[string]any) {
			first(s["records"].(map[string]any), "revisions")["revision"] = 7
		}),
		"records.revisions[0].applyMethod is not known": changed(func(s map[string]any) {
			first(s["records"].(map[string]any), "revisions")["applyMethod"] = "canary"
		}),
		"records.revisions[0].manifestText is too long": changed(func(s map[string]any) {
			first(s["records"].(map[string]any), "revisions")["manifestText"] = strings.Repeat("\n---", maxDocuments+1)
		}),
		"its server.version is not a version":        changed(func(s map[string]any) { s["server"].(map[string]any)["version"] = "canary" }),
		"objects[0] holds another object":            changed(func(s map[string]any) { first(s, "objects")["name"] = "canary" }),
		"objects[0] has an absence":                  changed(func(s map[string]any) { first(s, "objects")["absence"] = "canary" }),
		"objects[1] is there twice":                  changed(func(s map[string]any) { s["objects"].([]any)[1] = s["objects"].([]any)[0] }),
		"objects[0] has an object that is not a map": changed(func(s map[string]any) { first(s, "objects")["object"] = 5 }),
	} {
		_, err := small.read(bytes.NewReader(packed(t, text)))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(strings.ReplaceAll(err.Error(), `key "canary"`, ""), "canary") {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	old := changed(func(s map[string]any) { delete(first(s["records"].(map[string]any), "revisions"), "manifestText") })
	for text, want := range map[string]bool{old: false, changed(func(map[string]any) {}): true} {
		if s, err := Read(bytes.NewReader(packed(t, text))); err != nil || s.HasText() != want {
			t.Errorf("it has the text of the manifest: %v, %v, want %v", err == nil && s.HasText(), err, want)
		}
	}
	whole := packed(t, changed(func(map[string]any) {}))
	if _, err := Read(bytes.NewReader(whole)); err != nil {
		t.Errorf("the example itself: %v", err)
	}
	bomb := packed(t, strings.Repeat(" ", small.size+1))
	for want, file := range map[string][]byte{
		"not compressed with gzip": []byte("{}"), "it is cut short": whole[:len(whole)/2], "bytes unpacked": bomb,
		"its compression is damaged":      append(whole[:20:20], bytes.Repeat([]byte{0xff}, 100)...),
		"it is larger than 1048576 bytes": make([]byte, small.packed+1),
	} {
		if _, err := small.read(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// FuzzRead checks that reading any text, and comparing the snapshot in it, ends in an answer or an error.
func FuzzRead(f *testing.F) {
	text, err := json.Marshal(example(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"apiVersion":"helmdrift.io/v1","kind":"Snapshot","release":"a","namespace":"b","server":{"problem":"x"},"objects":[{}],` +
		`"records":{"entries":[{"revision":1}],"revisions":[{"revision":1,"namespace":"c",` +
		`"manifest":[{"object":{"kind":"List","items":[null]}}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read(bytes.NewReader(packed(t, text)))
		if err != nil {
			if s != nil {
				t.Error("an error came with a snapshot")
			}
			return
		}
		compare(t, s)
	})
}
