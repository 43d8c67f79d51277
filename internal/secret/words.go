package secret

import (
	"strings"
	"sync"
)

// set returns a lookup table for a list of words, which is built on first use.
func set(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			out[word] = true
		}
		return out
	})
}

// announcing are the words that announce a secret at any position in a name.
var announcing = set(`
	password passwords passwd passwds passphrase passphrases passcode passcodes pwd pwds secret secrets token tokens
	credential credentials cred creds htpasswd dockerconfigjson dockercfg mnemonic psk
	apikey apikeys apitoken secretkey secretkeys accesskey accesskeys accesskeyid privatekey privatekeys encryptionkey signingkey masterkey
	appkey unsealkey accountkey storagekey sharedkey authkey licensekey sshkey connectionstring connstr
	requirepass masterauth userpass dbpass rootpass adminpass mypass smtppass authpass keypass storepass dbpw rootpw bindpw adminpw userpw
`)

// announcingLast are the words that announce a secret only at the end of a name: passThrough, saltRounds and jwtIssuer announce none.
var announcingLast = set(`pass pw salt jwt dsn bearer hmac otp`)

// announcingEnds are the ends of a word that announce a secret: clientsecret. isAnnouncing has a rule of its own for mysqlpassword.
var announcingEnds = []string{"passwd", "passphrase", "secret", "secrets", "token", "apikey", "accesskey", "secretkey", "privatekey", "pwd"}

// keyKinds are the words that make a following "key" or "keys" secret: apiKey, SIGNING_KEY, tls.key.
var keyKinds = set(`
	access account admission aes agent api app application auth authn bearer ca cert certificate cipher client consumer cookie crypt crypto
	csrf decrypt decryption deploy derivation developer enc encrypt encrypted encryption fernet gossip gpg hmac host insight integration
	json jwe jwk jwt licence license master mesh otp pgp preshared private register registration replicaset root rsa sas secret
	security server
	service session set shared sign signing ssh ssl storage subscription symmetric tls token tsig unseal vapid webhook wireguard worker write
`)

// announcingPairs are other pairs of words that announce a secret.
var announcingPairs = set(`
	connection+string conn+string conn+str erlang+cookie rabbitmq+cookie rediscli+auth id+rsa id+ecdsa id+ed key+base key+json
`)

// headers are the HTTP headers that carry credentials although no word in their name announces a secret.
var headers = set(`authorization proxy-authorization cookie set-cookie`)

// attributeWords are the last words of names whose values describe a secret or say where it is: secretName, tokenTTL.
var attributeWords = set(`
	age alg algorithm algorithms allowed allowlist annotate annotation annotations at attempts attribute attributes audience audiences
	backend
	authenticate authentication authenticator authenticators authorization authorizer backends binding bindings bits blacklist bootstrapper
	budget cache caches check checker checks checksum claim claims class classes column complexity condition conditions configmap container
	controller count counter counts created date days definition delivery denylist description detector dir directories directory dirs
	disable disabled driver duration durations enable enabled encoding endpoint endpoints engine expiration expirations expire expires expiry
	field fields file filename filenames filter filters finder fingerprint folder format formats generator grant grants handler header
	headers hint history hostname hours image index init interval issuer issuers iterations job kind kinds label labels length lifespan
	lifetime limit limits loader location locator manager map mapper mapping mappings masking max maximum meta metadata method methods
	middleware min minimum minutes mode modes mount mounted mounts mtime name names namespace namespaces operator option optional options
	override overrides param parameter parameters params path paths period placeholder plugin policies policy prefix projection projections
	prompt provider providers pub quota rate reason redaction ref reference referenced references refresh refs reload reloader
	renewal request requester requests required requirement requirements resolver retries review reviewer reviews rotate rotation rotator
	rounds scanner schema scheme scope scopes scrape search seconds selector selectors settings sidecar size slot slots spec specs state
	status store stores strategy strength suffix sync template templates threshold thumbprint time timeout timeouts times ttl ttls type types
	updated uri url urls usage username usernames validation validator validity version versions visible volume volumes whitelist
`)

// optionWords are the first words of names that switch, count or refer to something: existingSecret, useToken, maxTokens.
var optionWords = set(`
	existing automount auto use uses using create creates enable enables disable disables has is are allow allows require requires skip
	ignore ignores keep generate generates inject injects includes include load max min num number total with without no hide show mask
	redact validate verify print propagate support supports manage manages needs force store
`)

// secretHolders are the words before "secret" or "secrets" that make the name a reference to a Secret with such
// content: tlsSecret, imagePullSecrets.
var secretHolders = set(`
	tls ssl cert certs certificate certificates ca pull image images credential credentials creds password passwords keystore truststore
	jks script scripts existing bundle basicauth volume volumes from in as config configs configuration vars datasource
`)

// secretKeyWords are the words before "secretKey" that make the name a reference to a key of a Secret: passwordSecretKey.
var secretKeyWords = set(`password passwd passphrase key user username uri url config name cert certificate keystore truststore`)

// referringWords are single lower-case words that refer to a Secret.
var referringWords = set(`
	pullsecret pullsecrets imagepullsecret imagepullsecrets existingsecret existingsecrets tlssecret secretname secretnames secretref
`)

// otherPassWords are the words that give a following "pass" another meaning: proxy_pass.
var otherPassWords = set(`proxy by first second single one two multi fastcgi uwsgi grpc scgi`)

// readableBelow are the fields that stay readable below an announced name, because in APIs they refer to a Secret or describe one (core/v1
// SecretVolumeSource, SecretKeySelector, SecretReference, KeyToPath, ServiceAccountTokenProjection, ObjectReference).
var readableBelow = set(`
	name key namespace optional secretname items path mode defaultmode audience audiences expirationseconds kind apiversion apigroup group
	version resourceversion uid fieldpath valuefrom annotations labels mountpath subpath username
`)

// harmless are values that are not secret under any name.
var harmless = set(`true false yes no on off null none nil ~ enabled disabled *** {} []`)

// prose are first words of sentences about a secret in the place of its value: "password: must not be empty".
var prose = set(`
	must may should can cannot could will would is are was has have not no a an the and or of in for to with without if from by on at be
	required forbidden such field missing invalid unsupported duplicate too unknown expected internal not found failed does do it this that
	value values key keys name expired wrong empty too undefined unauthorized
`)
