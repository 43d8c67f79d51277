package snapshot

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/adler32"
	"hash/fnv"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// digests has the digests that a chart and the controllers made from a template with a secret in it. Whoever has the rest of the template
// can check guesses against them.
var digests = map[string]string{
	"checksum": "5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99", "short": "5f4dcc3b5a",
	"hex": "e99a18c428cb38d5f260853678922e03", "hash": "6d4cf56db6", "revision": "7c5b9f8d4",
}

// TestPasswordCannotBeGuessed makes every digest that charts and controllers make of a file with a password of six characters, and looks
// for the digests of the right guess in a masked snapshot. The clear snapshot has all of them, so the guess would succeed there.
func TestPasswordCannotBeGuessed(t *testing.T) {
	const password = "k3y9zq"
	file := func(guess string) string { return "user: app\npassword: " + guess + "\n" }
	sums := func(guess string) map[string]string {
		long, short, old := sha256.Sum256([]byte(file(guess))), sha1.Sum([]byte(file(guess))), md5.Sum([]byte(file(guess)))
		hash := fnv.New32a()
		hash.Write([]byte(file(guess)))
		return map[string]string{
			"checksum/config": hex.EncodeToString(long[:]), "sum": hex.EncodeToString(long[:])[:10], "rev": hex.EncodeToString(short[:]),
			"config-sha": base64.StdEncoding.EncodeToString(long[:]), "md5": hex.EncodeToString(old[:]),
			"checksum/adler": fmt.Sprint(adler32.Checksum([]byte(file(guess)))),
			"config-hash":    rand.SafeEncodeString(fmt.Sprint(hash.Sum32())),
			"encoded":        base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(short[:]))),
		}
	}
	s := exampleSnapshot(t)
	annotations, err := json.Marshal(sums(password))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Objects {
		if o := &s.Objects[i]; o.Kind == "Deployment" {
			o.Object = patched(t, o.Object, `{"spec":{"template":{"metadata":{"annotations":`+string(annotations)+`}}}}`)
		}
	}
	saved := recorded(t, s)
	for guess, want := range map[string]bool{password: true, "k3y9zr": false} {
		for name, sum := range sums(guess) {
			if clear := text(t, s); strings.Contains(clear, sum) != want {
				t.Errorf("the clear snapshot has the %s of %s: %v", name, guess, !want)
			}
			if strings.Contains(text(t, saved), sum) {
				t.Errorf("the %s of %s is in the masked snapshot", name, guess)
			}
		}
	}
}

// recorded returns a masked snapshot of what a Player of another snapshot answers.
func recorded(t *testing.T, s *Snapshot) *Snapshot {
	t.Helper()
	r := NewRecorder(NewPlayer(s).Connection())
	if _, err := drift.New(r.Connection(), drift.Options{}).Compare(t.Context(), drift.Target{Namespace: "prod", Release: "web"}); err != nil {
		t.Fatal(err)
	}
	saved, err := r.Snapshot(t.Context(), Options{Time: time.Unix(0, 0), Namespace: "prod", Release: "web"})
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func text(t *testing.T, s *Snapshot) string {
	t.Helper()
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// withDigests replaces @NAME by a digest.
func withDigests(text string) string {
	for name, digest := range digests {
		text = strings.ReplaceAll(text, "@"+name, digest)
	}
	return text
}

// digestSnapshot returns the example with a digest in each place that has one.
func digestSnapshot(t *testing.T) *Snapshot {
	s := exampleSnapshot(t)
	for i := range s.Objects {
		if o := &s.Objects[i]; o.Kind == "Deployment" {
			o.Object = patched(t, o.Object, withDigests(`{"spec":{"template":{"metadata":{"annotations":{
				"checksum/config":"@checksum","checksum/truncated":"@short","config-hash":"sha256:@hex","revision-of":"@hex"}}}},
				"metadata":{"annotations":{"git-commit":"0123456789abcdef0123456789abcdef01234567"}},
				"status":{"currentPodHash":"@hash","conditions":[{"type":"Progressing","message":"ReplicaSet \"web-@hash\" has successfully progressed."}]}}`))
		}
	}
	for i := range s.Records.Revisions {
		r := &s.Records.Revisions[i]
		for j := range r.Manifest {
			if strings.Contains(string(r.Manifest[j].Object), `"Deployment"`) {
				r.Manifest[j].Object = patched(t, r.Manifest[j].Object, withDigests(`{"spec":{"template":{"metadata":{"annotations":{"checksum/config":"@hex","config-hash":"@checksum"}}}}}`))
			}
		}
		*r.Text += withDigests("\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: text, annotations: {checksum/x: @short}}\n" +
			"data: {app.yaml: 'checksum/config: \"@checksum\"'}\n")
		r.Config = []json.RawMessage{json.RawMessage(withDigests(`{"podAnnotations":{"checksum/config":"@checksum"}}`))}
	}
	made := `"labels":{"app":"web","pod-template-hash":"@hash","controller-revision-hash":"web-@revision"},"ownerReferences":[{"controller":true,` +
		`"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-@hash","uid":"u"}],"annotations":{"checksum/config":"@checksum"}`
	items := func(kind, text string) List {
		return List{Version: "v1", Kind: kind, Namespace: "prod", Items: []json.RawMessage{json.RawMessage(withDigests(text))}}
	}
	s.Lists = append(s.Lists[:0:0], items("Pod", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-@hash-c2d6k","generateName":"web-@hash-",`+made[:len(made)-1]+`,"hash":"@hex"}}}`),
		items("ReplicaSet", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-@hash",`+made+`},"spec":{"selector":{"matchLabels":`+
			`{"pod-template-hash":"@hash"}},"template":{"metadata":{"labels":{"pod-template-hash":"@hash"},"annotations":{"x":"@hex"}}}},"status":{"x":"pods web-@hash-5x2kq and web-@hash- are late"}}`),
		items("StatefulSet", `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web"},"status":{"currentRevision":"web-@revision"}}`))
	s.Lists[1].Group, s.Lists[2].Group = "apps", "apps"
	return s
}

// patched returns an object after a JSON merge patch of maps.
func patched(t *testing.T, text json.RawMessage, patch string) json.RawMessage {
	t.Helper()
	var into, from map[string]any
	if err := json.Unmarshal(text, &into); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(patch), &from); err != nil {
		t.Fatal(err)
	}
	merge(into, from)
	out, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func merge(into, from map[string]any) {
	for name, v := range from {
		below, isMap := v.(map[string]any)
		if old := object.Child(into, name); isMap && old != nil {
			merge(old, below)
		} else {
			into[name] = v
		}
	}
}

// TestNoDigestInMaskedSnapshot checks that a masked snapshot has no digest of a template with secrets, that other hexadecimal values stay,
// and that its report equals the cluster's.
func TestNoDigestInMaskedSnapshot(t *testing.T) {
	s := digestSnapshot(t)
	r := NewRecorder(NewPlayer(s).Connection())
	_, err := drift.New(r.Connection(), drift.Options{}).Compare(t.Context(), drift.Target{Namespace: "prod", Release: "web"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Lists {
		if _, err := r.Connection().Cluster.List(t.Context(), schema.GroupVersionKind{Group: l.Group, Version: l.Version, Kind: l.Kind}, l.Namespace); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := r.Snapshot(t.Context(), Options{Time: time.Unix(0, 0), Namespace: "prod", Release: "web"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	for name, digest := range digests {
		if i := strings.Index(string(text), digest); i >= 0 {
			t.Errorf("the %s is in …%s…", name, text[max(0, i-120):i+80])
		}
	}
	for _, want := range []string{"0123456789abcdef0123456789abcdef01234567", "web-hd-masked-", "-c2d6k"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in the snapshot", want)
		}
	}
	if was, is := compare(t, s), compare(t, saved); !reflect.DeepEqual(was.Objects, is.Objects) {
		t.Errorf("the findings are %+v, and from the snapshot %+v", was.Objects, is.Objects)
	}
	shown, err := json.Marshal(compare(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(shown), `annotations[\"checksum/config\"]`) || !strings.Contains(string(shown), `annotations.config-hash`) {
		t.Errorf("the report does not name the annotations: %s", shown)
	}
	for name, digest := range digests {
		if strings.Contains(string(shown), digest) {
			t.Errorf("the report has the %s: %s", name, shown)
		}
	}
}
