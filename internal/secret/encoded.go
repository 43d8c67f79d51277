package secret

import "sort"

// deepestEncoding is how many encodings within each other are read: the data of a Secret, of a file in JSON, of a login in base64.
const deepestEncoding = 3

// find returns where the secrets are in a text, as they are and encoded. Depth is how many encodings are read. A text in base64 or in
// hexadecimal digits is found as a whole, because its other parts say what is before and after the secret.
func (n *needles) find(s *scan, text string, depth int) []span {
	least := 1
	if depth < deepestEncoding {
		least = shortestWord
	}
	out := n.in(s, text, least)
	if depth == 0 || len(text) < shortestBase64 {
		return out
	}
	for _, decode := range decoders {
		s.spend(len(text))
		for _, d := range decode(n, text) {
			for _, found := range n.find(s, d.text, depth-1) {
				out = append(out, d.source(found))
			}
		}
	}
	if n.blanks {
		s.spend(len(text))
		for _, d := range unfolded(text) {
			for _, found := range n.in(s, d.text, least) {
				out = append(out, d.source(found))
			}
		}
	}
	return out
}

// spans returns where the secrets are in a text, as they are and encoded, in order and without overlaps.
func (n *needles) spans(text string) []span {
	if n == nil || n.count == 0 || text == "" {
		return nil
	}
	return merged(newScan(text, nil).find(func(s *scan) []span { return n.find(s, text, deepestEncoding) }))
}

// decoders read a text in the encodings that templates, tools and errors use to quote values.
var decoders = [...]func(*needles, string) []decoding{
	(*needles).inBase64, (*needles).inHex, (*needles).percents, (*needles).backslashes, (*needles).entities, (*needles).doubledQuotes,
}

// decoding is what a text says in one encoding.
type decoding struct {
	text   string
	pieces []piece
}

// piece is a part of a decoded text, and what encodes it.
type piece struct {
	at int // where it begins in the decoded text
	of span
	// literal is set if the part is not encoded.
	literal bool
}

// source returns what encodes a part of the decoded text.
func (d decoding) source(part span) span {
	first, last := d.pieceAt(part.from), d.pieceAt(part.to-1)
	out := span{first.of.from, last.of.to}
	if first.literal {
		out.from += part.from - first.at
	}
	if last.literal {
		out.to = last.of.from + part.to - last.at
	}
	return out
}

// pieceAt returns the piece with an offset of the decoded text.
func (d decoding) pieceAt(offset int) piece {
	return d.pieces[sort.Search(len(d.pieces), func(i int) bool { return d.pieces[i].at > offset })-1]
}
