// Package secret decides which values must not be shown, and removes them from texts. No other package decides that: all code
// that shows findings, reasons, schema errors, list keys in paths and rules, errors, warnings, Helm's own log and backups asks
// this one. The package has no side effects, and imports no package of this program but internal/order.
//
//	a name ────────► Name ──────────────────────────► does it announce a secret?
//	object, path ──► Root, Place.Field, Place.Item ─► Place.Holds, Each: what is secret there
//	any text ──────► Scrub ─────────────────────────► the text with *** for what looks like a secret
//	values of a run ► Known ── Known.Scrub ─────────► the text with *** for these values too
//
// A value is secret for one of four reasons, which are checked from the cheapest to the most expensive:
//
//	by name    Name("DB_PASSWORD")                        its name announces it: words.go has the words
//	by place   Place{}.Field("auth").Field("token")       it is in a Secret, below an announced name, or beside one ({name, value})
//	by text    Scrub("redis://:hunter2@cache")            its text has the form of one: tokens.go, assignments.go, nested.go and
//	                                                      pairs.go have the forms
//	by value   Known.Scrub("the server says hunter2...")  it is the value of a Secret, or was announced somewhere else
//
// # Names
//
// A name is split into words at case, underscore, dash, dot and blank, and compared by word: DB_PASS and dbPass announce a secret,
// while compass and bypass do not. Words such as password, token and secret announce one. A last word that says that the value is
// only an attribute of the secret takes precedence: secretName, passwordFile, tokenTTL. Some first words do the same:
// existingSecret, automountServiceAccountToken. Names of references stay readable, because readers of a report need the references.
// If a name is ambiguous, the value is masked.
//
// # Places
//
// Every text below an announced name is secret, except for the few fields that refer to a Secret or describe one in the APIs
// (serviceAccountToken.path, password.secretKeyRef.name): words.go lists them. So serviceAccountToken is readable if it is a projected
// volume, and masked if it is the token itself. A schema (openAPIV3Schema) describes secrets and contains none.
//
// Whoever copies a value without its secrets goes through it as Each does: by InMap and FieldIn through maps, by Item and Arguments through
// lists, and by Whole to texts. internal/tokens does so, and internal/fixing for the backup of a fix.
//
// # Texts
//
// Scrub searches a text for what people write into arguments and files: assignments (password: x, Pwd=x;), items with a secret name and a
// value ({name: DB_PASSWORD, value: x}), elements (<password>x</password>), flags (--token x, mysql -px), logins (--user=u:x), URLs with
// credentials or a signature, HTTP headers, JSON Web Tokens, private keys, tokens of known services, a whole Secret. Name decides about
// the names of assignments, items, elements and flags. Values that only point to a secret, such as $(DB_PASSWORD) or /run/secrets/db, are
// no secrets; pointer.go says which.
//
// A text may be hostile. The time of the finders grows linearly with its length: they read it through a scan, which counts their work and
// remembers what was read last (scan.go). If a text takes too much work, it is masked whole.
//
// # Values
//
// Known collects the secrets of one run and removes them from texts, in clear and in the encodings that may quote them, even nested ones:
// encoded.go decodes base64, hexadecimal digits, escapes and folded lines, and needles.go looks for the secrets in the result. The
// constants in known.go say how long a value must be for that: a short value may be an ordinary word.
//
// # What always holds
//
//   - Scrub and Known.Scrub never fail. A text without secrets is returned unchanged.
//   - Scrubbing a masked text again changes nothing.
//   - A Secret is masked whole, except for its metadata and type.
package secret
