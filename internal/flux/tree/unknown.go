package tree

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/helmdrift/helmdrift/internal/unknown"
)

// unknownFor returns what stands for an encrypted value of SOPS. SOPS does not encrypt empty texts, and names the type of others.
func unknownFor(sealed string) string {
	if strings.HasSuffix(sealed, ",type:str]") {
		return unknown.Text
	}
	return unknown.Any
}

// isEncrypted reports whether a text is an encrypted value of SOPS, or what "flux build" prints for one.
func isEncrypted(text string) bool {
	return strings.HasPrefix(text, "ENC[AES256_GCM,") || strings.Contains(text, mask) || text == encodedMask
}

// Mask is what "flux build" prints for an encrypted text of a Secret, and encodedMask for some in stringData (maskSopsData of the
// flux CLI).
const mask, encodedMask = "**SOPS**", "KipTT1BTKio="

// hashed matches a name that kustomize ends in a hash of the content (sigs.k8s.io/kustomize/api v0.21.1
// internal/builtins/HashTransformer.go).
var hashed = regexp.MustCompile(`-[2456789bcdfghkmt]{10}$`)

// seal decrypts or replaces what SOPS encrypted in an object (fluxcd/kustomize-controller v1.9.4 internal/decryptor/decryptor.go
// DecryptResource).
func (b *builder) seal(r *resource.Resource, by *kustomization, title string) error {
	text, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	if hashed.MatchString(r.GetName()) && holdsUnknown(text) {
		b.report(Problem{NotKnown, title, "its name ends in a hash of a file that SOPS encrypted: the name is another one in the cluster", ""})
	}
	var value map[string]any
	if err := utiljson.Unmarshal(text, &value); err != nil {
		return err
	}
	if !b.unseal(value, by, title) {
		return nil
	}
	if text, err = json.Marshal(value); err != nil {
		return err
	}
	return r.UnmarshalJSON(text)
}

// unseal decrypts an object, or else replaces what SOPS encrypted in it. It reports whether it changed the object.
func (b *builder) unseal(value map[string]any, by *kustomization, title string) bool {
	isWhole := isSealed(value)
	switch {
	case isDecryptionDisabled(value):
		return false
	case !by.isDecrypted() && isWhole:
		b.report(Problem{Failed, title, "it is encrypted with SOPS, and " + by.title() + " has no spec.decryption: Flux refuses it", ""})
	case !by.isDecrypted():
		return false // the cluster gets the encrypted file
	case b.decrypter != nil:
		isOpen, err := b.decrypter.object(value)
		if err == nil && (isOpen || by != nil) {
			return isOpen
		}
		if err != nil {
			b.report(Problem{NotKnown, title, "it cannot be decrypted: " + err.Error(), ""})
		}
	}
	if isWhole {
		delete(value, "sops")
		sealTexts(value)
	}
	return sealData(value, by == nil) || isWhole
}

// isDecryptionDisabled reports whether an object asks Flux to leave it encrypted.
func isDecryptionDisabled(value map[string]any) bool {
	annotations, _, _ := unstructured.NestedStringMap(value, "metadata", "annotations")
	return strings.EqualFold(annotations[fluxGroup+"/decrypt"], "disabled")
}

// holdsUnknown reports whether an object has an unknown text, maybe encoded in base64.
func holdsUnknown(text []byte) bool {
	return bytes.Contains(text, []byte(unknown.Text)) || bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString([]byte(unknown.Text))))
}

// sealFile returns what stands for a file that SOPS encrypted. A file with variables keeps their names.
func sealFile(text []byte, format string) []byte {
	if format != "dotenv" {
		return []byte(unknown.Any)
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		name, value, isVariable := strings.Cut(strings.TrimSpace(line), "=")
		if isVariable && !strings.HasPrefix(name, "#") && !strings.HasPrefix(name, "sops_") {
			fmt.Fprintf(&out, "%s=%s\n", name, sealTexts(value))
		}
	}
	return out.Bytes()
}

// sealData replaces the encrypted files in the data of a Secret, and reports whether there are any. If somebody else built the object, it
// may have been made of a file with variables, which Flux decrypts before.
func sealData(value map[string]any, isBuilt bool) bool {
	data, _ := value["data"].(map[string]any)
	if value["kind"] != "Secret" {
		return false
	}
	changed := false
	_, hasMAC := data["sops_mac"]
	for key, below := range data {
		text, _ := below.(string)
		if isBuilt && isEncrypted(text) {
			text = unknownFor(text)
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		switch {
		case strings.HasPrefix(text, unknown.Text):
			raw = []byte(text)
		case err != nil: // the API server refuses it
			continue
		case isBuilt && strings.HasPrefix(key, "sops_") && hasMAC:
			// SOPS adds entries of its own to such a file.
			delete(data, key)
			changed = true
			continue
		case formatOf(raw) != "" || isBuilt && isEncrypted(string(raw)):
			raw = []byte(unknownFor(string(raw)))
		default:
			continue
		}
		data[key], changed = base64.StdEncoding.EncodeToString(raw), true
	}
	return changed
}

// sealTexts replaces the encrypted texts below a value and returns it.
func sealTexts(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			v[key] = sealTexts(below)
		}
	case []any:
		for i, below := range v {
			v[i] = sealTexts(below)
		}
	case string:
		if isEncrypted(v) {
			return unknownFor(v)
		}
	}
	return value
}

// variablesOf returns the variables in the data of a ConfigMap or a Secret (kustomize_varsub.go LoadVariables).
func variablesOf(value map[string]any) (map[string]string, error) {
	out := map[string]string{}
	isSecret := value["kind"] == "Secret"
	data, _ := value["data"].(map[string]any)
	for name, below := range data {
		text, isText := below.(string)
		if !isText {
			return nil, fmt.Errorf("its data has a value that is no text, at %s", name)
		}
		if isSecret {
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, errors.New("its data is not encoded in base64")
			}
			text = string(raw)
		}
		out[name] = text
	}
	// The API server moves stringData into data.
	if more, _ := value["stringData"].(map[string]any); isSecret {
		for name, below := range more {
			out[name] = fmt.Sprint(below)
		}
	}
	return out, nil
}
