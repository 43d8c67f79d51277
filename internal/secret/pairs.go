package secret

import (
	"slices"
	"strings"
)

// longestItem bounds how far from a value to look for its name.
const longestItem = 1024

// pairs finds the values of items whose name or key announces a secret, as Place finds them in objects: {"name": "PASSWORD", "value": "x"},
// the same in lines of YAML or TOML, and the attributes or the elements name and value in XML.
func pairs(s *scan) (out []span) {
	done := 0 // what is before it is found
	for at := range s.indexes("value") {
		if at < done {
			continue
		}
		sign := s.end(beforeSign, at+len("value"))
		if sign == len(s.text) || s.text[sign] != ':' && s.text[sign] != '=' {
			continue
		}
		if a := s.assignmentAt(sign); a.name == "value" && s.isSecretItem(s.itemAround(a.from, sign)) {
			for _, found := range a.values() {
				out = append(out, found)
				done = max(done, found.to)
			}
		}
	}
	if s.index(0, "<name>") < 0 {
		return out
	}
	for _, m := range s.matches(pairElements()) {
		s.spend(nameWork * (m[3] - m[2]))
		if isSecretHeader(s.text[m[2]:m[3]]) {
			out = append(out, s.secret(span{m[4], m[5]})...)
		}
	}
	return out
}

// pairName matches the name of an item, and pairElements matches an item in the configuration of Hadoop.
var (
	pairName     = expression(`(?:^|[^\w.\-/])(?:name|key)[\\"']*\s*[:=]\s*[\\"']*([\w.\-/]+)`)
	pairElements = expression(`<name>\s*([\w.\-/]+)\s*</name>\s*<value>([^<]*)</value>`)
)

// isSecretItem reports whether a name in the text of an item announces a secret.
func (s *scan) isSecretItem(item string) bool {
	if s.spend(len(item)); !strings.Contains(item, "name") && !strings.Contains(item, "key") {
		return false
	}
	s.spend(regexpWork * len(item))
	return slices.ContainsFunc(pairName().FindAllStringSubmatch(item, -1), func(m []string) bool { return isSecretHeader(m[1]) })
}

// itemAround returns the item that has a field between two offsets, without the items and maps in it.
func (s *scan) itemAround(from, to int) string {
	before, after := s.text[max(0, from-longestItem):from], s.text[to:min(len(s.text), to+longestItem)]
	if s.text[to] == '=' {
		s.spend(len(before))
		if i := strings.LastIndexAny(before, "<>"); i >= 0 && before[i] == '<' {
			if end := strings.IndexAny(after, "<>"); end >= 0 {
				after = after[:end]
			}
			return before[i+1:] + after
		}
	}
	if i := s.openBracket(before); i >= 0 {
		return s.topLevel(before[i+1:], after)
	}
	start := strings.LastIndexByte(before, '\n') + 1
	column := fieldColumn(before[start:])
	if s.spend(len(before) - start); strings.Trim(before[start:], "- \t\"'\\") != "" {
		return ""
	}
	var item strings.Builder
	if !strings.Contains(before[start:], "- ") {
		s.linesAbove(&item, before[:start], column)
	}
	s.linesBelow(&item, after, column)
	return item.String()
}

// openBracket returns the offset of the last brace that is open at the end of a text, or -1 if none is.
func (s *scan) openBracket(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case '}':
			depth++
		case '{':
			if depth--; depth < 0 {
				s.spend(len(text) - i)
				return i
			}
		}
	}
	s.spend(len(text))
	return -1
}

// topLevel returns the parts of two texts up to the brace or bracket that closes them, without the content of inner ones.
func (s *scan) topLevel(before, after string) string {
	var b strings.Builder
	depth := 0
	for _, text := range []string{before, after} {
		for i := 0; i < len(text) && depth >= 0; i++ {
			switch text[i] {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if s.spend(1); depth == 0 {
				b.WriteByte(text[i])
			}
		}
	}
	return b.String()
}

// fieldColumn returns the column of the field at the beginning of a line, behind the dashes of items.
func fieldColumn(line string) int { return prefixLength(line, " \t-") }

// linesAbove adds the lines of the same item above one of its fields. The line with the dash is the first.
func (s *scan) linesAbove(item *strings.Builder, text string, column int) {
	for text != "" {
		start := strings.LastIndexByte(text[:len(text)-1], '\n') + 1
		line := text[start:]
		text = text[:start]
		s.spend(len(line))
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
func (s *scan) linesBelow(item *strings.Builder, text string, column int) {
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		s.spend(len(line))
		switch blank := strings.TrimSpace(line) == ""; {
		case !blank && (indent(line) < column || line[0] == '['), strings.HasPrefix(line[indent(line):], "- "):
			return
		case !blank && indent(line) == column:
			item.WriteString(line)
		}
	}
}

// indent returns the number of blanks at the beginning of a line.
func indent(line string) int { return prefixLength(line, " \t") }

// elements finds the texts of XML elements whose names announce a secret: <password>x</password>.
func elements(s *scan) (out []span) {
	const begin, end = "<![CDATA[", "]]>"
	last := 0 // the end of the element before
	for at := range s.indexes("</") {
		name := s.end(inName, at+2)
		if name < len(s.text) && s.text[name] == ':' { // behind the prefix of a namespace
			name = s.end(inName, name+1)
		}
		s.spend(nameWork * (name - at))
		isSecret := Name(s.text[at+2+strings.LastIndexByte(s.text[at+2:name], ':')+1 : name])
		from, to := s.start(inElement, at), at
		if strings.HasSuffix(s.text[last:at], end) {
			if i := strings.LastIndex(s.text[last:at], begin); i >= 0 {
				from, to = last+i+len(begin), at-len(end)
			}
			s.spend(at - last)
		}
		if last = at + 2; isSecret && from > 0 && strings.IndexByte(">[", s.text[from-1]) >= 0 {
			out = append(out, s.secret(span{from, to})...)
		}
	}
	return out
}

// redisUser matches the rules of a user in Redis, and redisPassword matches a password in them, or its digest (redis.io/docs, ACL SETUSER).
var (
	redisUser     = expression(`(?m)(?:^|[\s"'\[,])(?i:user|setuser)[ \t]+\S+[ \t]+[^\n]*`)
	redisRule     = expression(`(?i)[ \t](?:on|off|reset|allkeys|allcommands|[~%&]\S+|[+-]@?[a-z|]+)(?:\s|["']|$)`)
	redisPassword = expression(`[ \t"'][>#]([^\s"'>]+)`)
)

// redisUsers finds the passwords of users in the configuration and the commands of Redis.
func redisUsers(s *scan) (out []span) {
	s.spend(len(s.text))
	if !containsFold(s.text, "user") || s.index(0, " >") < 0 && s.index(0, " #") < 0 {
		return nil
	}
	for _, line := range s.matches(redisUser()) {
		rules := s.text[line[0]:line[1]]
		if s.spend(2 * regexpWork * len(rules)); !redisRule().MatchString(rules) {
			continue
		}
		for _, m := range redisPassword().FindAllStringSubmatchIndex(rules, -1) {
			out = append(out, s.secret(span{line[0] + m[2], line[0] + m[3]})...)
		}
	}
	return out
}
