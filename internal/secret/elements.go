package secret

import (
	"regexp"
	"strings"
	"sync"
)

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

// redisUser matches the rules of a user in Redis, and redisPassword a password in them, or its digest (redis.io/docs, ACL SETUSER).
var (
	redisUser = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|[\s"'\[,])(?i:user|setuser)[ \t]+\S+[ \t]+[^\n]*`)
	})
	redisRule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[ \t](?:on|off|reset|allkeys|allcommands|[~%&]\S+|[+-]@?[a-z|]+)(?:\s|["']|$)`)
	})
	redisPassword = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t"'][>#]([^\s"'>]+)`) })
)

// redisUsers finds the passwords of users in the configuration and the commands of Redis.
func redisUsers(s *scan) (out []span) {
	s.spend(len(s.text))
	if !containsFold(s.text, "user") || s.index(0, len(s.text), " >") < 0 && s.index(0, len(s.text), " #") < 0 {
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
