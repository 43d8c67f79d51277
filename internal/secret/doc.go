// Package secret decides what may not be shown. It is the one place that does: findings, reasons, faults of a schema, list keys in
// paths and rules, errors, warnings, Helm's own log and backups all ask here. It is pure and knows no type of ours.
//
// A value is secret for one of four reasons, from the cheapest to ask to the dearest:
//
//	by name    Name("DB_PASSWORD")                        a name announces it: words.go has the words
//	by place   Place{}.Field("auth").Field("token")       it stands in a Secret, below an announced name, or beside one ({name, value})
//	by text    Scrub("redis://:hunter2@cache")            the text itself has the form of one: text.go has the forms
//	by value   Known.Scrub("the server says hunter2...")  the same text is a member of a Secret, or was announced somewhere else
//
// # Names
//
// A name is split into words at case, underscore, dash, dot and blank, and compared by word: DB_PASS and dbPass announce a secret,
// compass and bypass do not. A word that announces one (password, token, secret …) is outweighed by the last word of the name where
// that says that the value is something about the secret and not the secret: secretName, passwordFile, tokenTTL. Some first words do
// the same: existingSecret, automountServiceAccountToken. Who masks a reference hides what a reader of a report needs, so names of
// references stay readable; where a name leaves it open, the value is masked.
//
// # Places
//
// Below an announced name a text is secret, but for the few fields by which the APIs refer to a Secret or tell something about one
// (serviceAccountToken.path, password.secretKeyRef.name): place.go lists them. So serviceAccountToken is readable where it is a projected
// volume, and masked where it is the token itself. A schema (openAPIV3Schema) describes secrets and holds none.
//
// # Texts
//
// A text is read as what people put into arguments and files: assignments (password: x, Pwd=x;), flags (--token x, mysql -px), URLs
// with credentials, HTTP headers, JSON Web Tokens, private keys, tokens of known services, a whole Secret. In an assignment and in a flag
// it is again Name that decides. Values that only point to one, such as $(DB_PASSWORD) or /run/secrets/db, are no secrets.
//
// # Values
//
// Known collects what is secret in one run, and takes it out of texts, in each form in which it may be quoted. How short a value may be
// for that is decided there.
package secret
