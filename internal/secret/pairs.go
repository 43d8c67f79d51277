package secret

import (
	"regexp"
	"strings"
	"sync"
)

// longestItem bounds how far from a value its name is looked for.
const longestItem = 1024

// pairs finds the values of items whose name or key announces a secret, as Place finds them in objects: {"name": "PASSWORD", "value": "x"},
// the same in lines of YAML or TOML, and the attributes or the elements name and value in XML.
func pairs(text string) (out []span) {
	for at := range indexes(text, "value") {
		sign := at + len("value")
		sign += prefixLength(text[sign:], func(c byte) bool { return strings.IndexByte("\"'\\ \t", c) >= 0 })
		if sign == len(text) || text[sign] != ':' && text[sign] != '=' {
			continue
		}
		if name, from := nameBefore(text, sign); name == "value" && isSecretItem(itemAround(text, from, sign)) {
			out = append(out, assignment{text: text, from: from, sign: sign}.values()...)
		}
	}
	for _, m := range pairElements().FindAllStringSubmatchIndex(text, -1) {
		if isSecretHeader(text[m[2]:m[3]]) {
			out = append(out, secretSpan(text, span{m[4], m[5]})...)
		}
	}
	return out
}

// pairName matches the name of an item, and pairElements an item as the configuration of Hadoop has it.
var (
	pairName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[^\w.\-/])(?:name|key)[\\"']*\s*[:=]\s*[\\"']*([\w.\-/]+)`)
	})
	pairElements = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<name>\s*([\w.\-/]+)\s*</name>\s*<value>([^<]*)</value>`)
	})
)

// isSecretItem reports whether a name in the text of an item announces a secret.
func isSecretItem(item string) bool {
	for _, m := range pairName().FindAllStringSubmatch(item, -1) {
		if isSecretHeader(m[1]) {
			return true
		}
	}
	return false
}

// itemAround returns the item that has a field between two offsets, without the items and maps in it.
func itemAround(text string, from, to int) string {
	before, after := text[max(0, from-longestItem):from], text[to:min(len(text), to+longestItem)]
	if i := strings.LastIndexAny(before, "<>"); text[to] == '=' && i >= 0 && before[i] == '<' {
		if end := strings.IndexAny(after, "<>"); end >= 0 {
			after = after[:end]
		}
		return before[i+1:] + after
	}
	if i := openBracket(before); i >= 0 {
		return topLevel(before[i+1:] + after)
	}
	start := strings.LastIndexByte(before, '\n') + 1
	column := fieldColumn(before[start:])
	if strings.Trim(before[start:], "- \t\"'\\") != "" {
		return ""
	}
	var item strings.Builder
	if !strings.Contains(before[start:], "- ") {
		linesAbove(&item, before[:start], column)
	}
	linesBelow(&item, after, column)
	return item.String()
}

// openBracket returns the offset of the last brace that is open at the end of a text; -1 if none is.
func openBracket(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case '}':
			depth++
		case '{':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return -1
}

// topLevel returns a text up to the brace or bracket that closes it, without what is in other ones.
func topLevel(text string) string {
	var b strings.Builder
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth < 0 {
			break
		}
		if depth == 0 {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// fieldColumn returns the column of the field at the beginning of a line, behind the dashes of items.
func fieldColumn(line string) int {
	return prefixLength(line, func(c byte) bool { return c == ' ' || c == '\t' || c == '-' })
}

// linesAbove adds the lines of the same item above one of its fields. The line with the dash is the first.
func linesAbove(item *strings.Builder, text string, column int) {
	for text != "" {
		start := strings.LastIndexByte(text[:len(text)-1], '\n') + 1
		line := text[start:]
		text = text[:start]
		switch blank := strings.TrimSpace(line) == ""; {
		case !blank && fieldColumn(line) < column, line[0] == '[':
			return
		case !blank && fieldColumn(line) == column:
			item.WriteString(line)
		}
		if indent(line) < column && strings.HasPrefix(line[indent(line):], "- ") {
			return
		}
	}
}

// linesBelow adds the lines of the same item below one of its fields.
func linesBelow(item *strings.Builder, text string, column int) {
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		switch blank := strings.TrimSpace(line) == ""; {
		case !blank && (indent(line) < column || line[0] == '['), strings.HasPrefix(line[indent(line):], "- "):
			return
		case !blank && indent(line) == column:
			item.WriteString(line)
		}
	}
}
