package secret

import (
	"encoding/base64"
	"slices"
	"strings"
)

// Charts and controllers put a digest beside the values that they hash: the checksum of a file with a password, or the hash of a pod
// template with a password in a variable. It has no salt, so whoever sees the digest and the other hashed values can check guesses at the
// password.

// shortestHash is the least length of a hash whose name says what it is. A few digits suffice to check a guess.
const shortestHash = 6

// shortestDigest is the least length of hexadecimal digits that can be a digest under any name. Numbers with so many digits are rare,
// except for times in nanoseconds, so there must be a letter.
const shortestDigest = 16

// isDigestName reports whether a name belongs to a digest: an annotation of a chart, or a label that distinguishes the pods of
// different templates (k8s.io/api v0.37.1 apps/v1/types.go DefaultDeploymentUniqueLabelKey, ControllerRevisionHashLabelKey).
func isDigestName(name string) bool {
	return strings.HasPrefix(name, checksumHead) || IsTemplateHash(name)
}

// checksumHead begins the names of the annotations that charts use to restart pods.
const checksumHead = "checksum/"

// templateHashes are the labels with the hash of a pod template.
var templateHashes = set(`pod-template-hash controller-revision-hash rollouts-pod-template-hash controller.kubernetes.io/hash`)

// IsTemplateHash reports whether a label has the hash of a pod template.
func IsTemplateHash(label string) bool { return templateHashes()[label] }

// podStep is how far a place is on the way to the annotations of a pod template.
type podStep int

const (
	elsewhere podStep = iota
	atPod
	atPodMetadata
	atPodAnnotations
	atPodAnnotation
	atPodLabels
	// atPodHash is an annotation or a label whose name says that it is a hash.
	atPodHash
)

// hashWords are words in the names of hashes: config-hash, sha256sum.
var hashWords = set(`checksum checksums hash sha sha1 sha256 sha512 md md5 digest sum sha256sum fingerprint`)

// field returns the step of a field.
func (s podStep) field(name string) podStep {
	switch {
	case s == atPod && name == "metadata":
		return atPodMetadata
	case s == atPodMetadata && name == "annotations":
		return atPodAnnotations
	case s == atPodMetadata && name == "labels":
		return atPodLabels
	case (s == atPodAnnotations || s == atPodLabels) &&
		slices.ContainsFunc(wordsOf(name), func(word string) bool { return hashWords()[word] }):
		return atPodHash
	case s == atPodAnnotations:
		return atPodAnnotation
	case name == "template" || strings.HasSuffix(name, "Template"):
		return atPod
	}
	return elsewhere
}

// isDigest reports whether a text is a digest because of its form, at a place where charts put digests.
func (p Place) isDigest(text string) bool {
	text = strings.TrimSpace(text)
	if p.step == atPodHash {
		return len(text) >= shortestHash && strings.ContainsAny(text, "0123456789") && !strings.ContainsAny(text, " \n")
	}
	if p.step != atPodAnnotation {
		return false
	}
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && isLongHex(string(raw)) {
		return true
	}
	for _, algorithm := range []string{"md5", "sha1", "sha256", "sha512"} {
		if rest, ok := strings.CutPrefix(text, algorithm); ok && rest != "" && strings.ContainsRune(":-=", rune(rest[0])) {
			return isLongHex(rest[1:]) || isEncodedSum(rest[1:])
		}
	}
	return isLongHex(text)
}

// isLongHex reports whether a text consists of hexadecimal digits, and of so many that it can be a digest.
func isLongHex(text string) bool {
	return len(text) >= shortestDigest && strings.Trim(text, "0123456789abcdefABCDEF") == "" && strings.ContainsAny(text, "abcdefABCDEF")
}

// isEncodedSum reports whether a text is the base64 form of a sum of at least 16 bytes.
func isEncodedSum(text string) bool {
	raw, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(raw) >= shortestDigest
}

// checksums finds the values of annotations of charts in a text, such as a manifest within a value or an error that quotes one.
func checksums(s *scan) (out []span) {
	done := 0 // the values before it are looked at
	for at := range s.indexes(checksumHead) {
		at = s.end(beforeSign, s.end(inJWT, at+len(checksumHead)))
		if at == len(s.text) || s.text[at] != ':' && s.text[at] != '=' {
			continue
		}
		from := s.end(beforeSign, at+1)
		if from < done {
			continue
		}
		to := s.end(inDigest, from)
		done = to
		value := strings.TrimRight(s.text[from:to], ":")
		if s.spend(2 * len(value)); strings.ContainsAny(value, "0123456789") && len(value) >= shortestMember {
			out = append(out, span{from, from + len(value)})
		}
	}
	return out
}
