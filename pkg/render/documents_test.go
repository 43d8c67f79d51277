package render

import (
	"bytes"
	"encoding/gob"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlainDocument checks that the objects of a document that was decoded at once may be changed, that it is the same document as
// JSON, and that it does not leave the process.
func TestPlainDocument(t *testing.T) {
	const manifest = "# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: 1, list: [a, ~, {b: true}]}\n"
	documents, want := DecodeDocuments(manifest), ReadDocuments(manifest)
	if len(documents) != 1 || documents[0].Decoded == nil {
		t.Fatalf("not plain: %+v", documents)
	}
	for range 2 {
		got, err := documents[0].decode()
		if err != nil {
			t.Fatal(err)
		}
		again, _ := want[0].decode()
		if diff := cmp.Diff(again[0].Object, got[0].Object); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		got[0].Object["data"] = nil
	}
	if diff := cmp.Diff(string(want[0].Text()), string(documents[0].Text())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := gob.NewEncoder(io.Discard).Encode(documents); err == nil {
		t.Error("it went to another process without its content")
	}
}

// TestNotPlain has values that are not what they are after a way through JSON, so their documents take that way.
func TestNotPlain(t *testing.T) {
	for _, value := range []string{"1.5", "1.0", "9223372036854775808", ".inf", "{1: a}", "{true: a}", "!!binary /w==", "[a, [2.5]]"} {
		if object := decodePlain([]byte("kind: A\ndata: " + value + "\n")); object != nil {
			t.Errorf("%s: %v", value, object)
		}
	}
	for _, text := range []string{"items: []", "[]", "a", "", "a: [", "items:\nkind: List", "kind: A\na: &b {c: d}\ne: *b"} {
		if object := decodePlain([]byte(text)); object != nil {
			t.Errorf("%s: %v", text, object)
		}
	}
}

// TestGob sends documents to another process: those that ReadDocuments has read arrive, and a decoded one fails.
func TestGob(t *testing.T) {
	const text = "a: 1\n"
	var sent bytes.Buffer
	if err := gob.NewEncoder(&sent).Encode(ReadDocuments(text)); err != nil {
		t.Fatal(err)
	}
	var got []Document
	if err := gob.NewDecoder(&sent).Decode(&got); err != nil || len(got) != 1 || string(got[0].JSON) != `{"a":1}` {
		t.Errorf("%v arrive: %v", got, err)
	}
	if err := gob.NewEncoder(&sent).Encode(DecodeDocuments(text)); err == nil {
		t.Error("a decoded document is sent")
	}
}
