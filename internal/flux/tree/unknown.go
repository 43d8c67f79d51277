package tree

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
	return strings.HasPrefix(text, "ENC[AES256_GCM,") || text == "**SOPS**"
}

// seal decrypts or replaces what SOPS encrypted in an object (fluxcd/kustomize-controller v1.9.4 internal/decryptor/decryptor.go
// DecryptResource).
func (b *builder) seal(r *resource.Resource, by *kustomization, title string) error {
	if strings.EqualFold(r.GetAnnotations()[fluxGroup+"/decrypt"], "disabled") {
		return nil
	}
	text, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	var value map[string]any
	if err := utiljson.Unmarshal(text, &value); err != nil {
		return err
	}
	found := b.unseal(value, by, title)
	if found == sealedNothing {
		return nil
	}
	if found != sealedOpened && by != nil && by.Spec.Decryption == nil {
		b.report(Problem{Failed, title, "it is encrypted with SOPS, and " + by.title() + " has no spec.decryption: Flux refuses it", ""})
	}
	if found == sealedFile {
		b.report(Problem{NotKnown, title, "it holds a file that SOPS encrypted: if its name ends in a hash of the content, " +
			"the name is another one in the cluster", ""})
	}
	if text, err = json.Marshal(value); err != nil {
		return err
	}
	return r.UnmarshalJSON(text)
}

// unseal decrypts an object, or else replaces its encrypted texts. It returns what it found.
func (b *builder) unseal(value map[string]any, by *kustomization, title string) sealed {
	if d := b.decrypter.forKustomization(by); d != nil {
		if isOpen, err := d.object(value); isOpen && err == nil {
			return sealedOpened
		} else if err != nil {
			b.report(Problem{NotKnown, title, "it cannot be decrypted: " + err.Error(), ""})
		}
	}
	return sealValue(value)
}

// sealed says what of an object was encrypted.
type sealed int

const (
	sealedNothing sealed = iota
	sealedOpened
	sealedTexts
	sealedFile
)

// sealValue replaces the encrypted texts of an object, and says what it found.
func sealValue(value map[string]any) sealed {
	found := sealedNothing
	if isSealed(value) {
		delete(value, "sops")
		found = sealedTexts
	}
	data, _ := value["data"].(map[string]any)
	_, hasMAC := data["sops_mac"]
	if value["kind"] == "Secret" {
		for key, below := range data {
			text, _ := below.(string)
			raw, err := base64.StdEncoding.DecodeString(text)
			switch {
			case isEncrypted(text):
				raw = []byte(text)
				found = max(found, sealedTexts)
			case err != nil:
				continue
			case strings.HasPrefix(key, "sops_") && hasMAC:
				// SOPS adds entries of its own to a file with variables.
				delete(data, key)
				continue
			case formatOf(raw) != "" || isEncrypted(string(raw)):
				found = sealedFile
			default:
				continue
			}
			data[key] = base64.StdEncoding.EncodeToString([]byte(unknownFor(string(raw))))
		}
	}
	if found == sealedTexts {
		sealTexts(value)
	}
	return found
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
