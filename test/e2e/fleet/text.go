package fleet

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// These are the sizes of generated texts in bytes.
const (
	minConfig = 1 << 10
	maxConfig = 30 << 10
	minReadme = 2 << 10
	maxReadme = 60 << 10
)

// words are the vocabulary of generated texts.
const words = `account address agent audit backend balance batch billing broker bucket buffer cache cart catalog channel checkout
client cluster connection consumer counter credit currency customer deadline delivery discount endpoint event export
feature filter gateway handler header host import index interval inventory invoice item job journal language ledger
level limit listener locale log mail memory message metric notification offer order origin owner page partner path
payment period pool port price priority producer product profile promotion proxy queue quota rate record refund region
registry replica report request retry return review role route sample schedule schema search section server service
session shard shipment size snapshot source stock storage stream supplier target tax template tenant threshold timeout
token topic trace transaction transport upload user validation vendor version voucher warehouse window worker zone`

// size returns a size between least and most; small ones are more frequent.
func size(random *rand.Rand, least, most int) int {
	u := random.Float64()
	return least + int(u*u*u*float64(most-least))
}

// configFiles returns the files of a ConfigMap.
func configFiles(random *rand.Rand) map[string]any {
	return map[string]any{"app.yaml": settings(random, size(random, minConfig, maxConfig))}
}

// settings returns a file of settings with about n bytes, as applications read it.
func settings(random *rand.Rand, n int) string {
	vocabulary := strings.Fields(words)
	word := func() string { return vocabulary[random.IntN(len(vocabulary))] }
	var text strings.Builder
	for line := 0; text.Len() < n; line++ {
		switch line % 8 {
		case 0:
			fmt.Fprintf(&text, "# The %s of the %s %s.\n%s%d:\n", word(), word(), word(), word(), line)
		case 1, 4:
			fmt.Fprintf(&text, "  %s-%s: %d\n", word(), word(), random.IntN(10000))
		case 2, 5:
			fmt.Fprintf(&text, "  %s.%s: %s://%s.%s.internal:%d/%s\n", word(), word(), "https", word(), word(), 1024+random.IntN(9000), word())
		default:
			fmt.Fprintf(&text, "  %s-%s: %s %s\n", word(), word(), word(), word())
		}
	}
	return text.String()
}

// prose returns a text of about n bytes with headings and lines, as the README of a chart.
func prose(random *rand.Rand, n int) string {
	vocabulary := strings.Fields(words)
	var text strings.Builder
	for line := 0; text.Len() < n; line++ {
		if line%12 == 0 {
			text.WriteString("\n## ")
		}
		for range 4 + random.IntN(12) {
			text.WriteString(vocabulary[random.IntN(len(vocabulary))])
			text.WriteByte(' ')
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// secretEntries returns the entries of a Secret.
func secretEntries(random *rand.Rand) map[string]any {
	return map[string]any{
		"username": "app",
		"password": fmt.Sprintf("%016x", random.Uint64()),
		"url":      fmt.Sprintf("postgres://db.internal:5432/app?application_name=%08x", random.Uint32()),
	}
}

// environment returns the environment variables of all containers.
func environment(random *rand.Rand) map[string]any {
	vocabulary := strings.Fields(words)
	variables := map[string]any{}
	for range 4 + random.IntN(12) {
		name := vocabulary[random.IntN(len(vocabulary))] + "_" + vocabulary[random.IntN(len(vocabulary))]
		variables[strings.ToUpper(name)] = fmt.Sprintf("%s-%d", vocabulary[random.IntN(len(vocabulary))], random.IntN(1000))
	}
	return variables
}
