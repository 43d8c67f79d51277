package secret

import "strings"

// class is a class of bytes. The finders read runs of them.
type class int

const (
	// inLine are the bytes of a line, notSpace those of a word in it.
	inLine class = iota
	notSpace
	// blank are the blanks within a line, and quotes are quotes that may be escaped.
	blank
	quotes
	// beforeSign are the bytes between the end of a name and its sign.
	beforeSign
	// inToken are the bytes of a token, inJWT and inPath those with dots or slashes too, inBase64 those of both alphabets of base64.
	inToken
	inJWT
	inPath
	inBase64
	hexDigit
	// inName are the bytes of the name in front of a sign.
	inName
	// inAuthority are the bytes of a URL up to its path, inDSN those of a data source name up to its network.
	inAuthority
	inDSN
	// inHeader are the bytes of the value of an HTTP header.
	inHeader
	// inWord are the bytes of an unquoted value, inVariable those up to the end of a variable in it.
	inWord
	inVariable
	// inFault are the bytes of an unquoted value in an error, notBracket those behind the last bracket of a line.
	inFault
	notBracket
	// inDigest are the bytes of a digest that may have the name of its algorithm in front.
	inDigest
	// inArgument are the bytes of an argument in a command line.
	inArgument
	// inElement are the bytes between two tags of XML.
	inElement
	// classes is the number of classes.
	classes
)

// has reports whether a byte is in the class.
func (c class) has(b byte) bool {
	switch c {
	case inLine:
		return b != '\n'
	case notSpace:
		return b != ' '
	case blank:
		return b == ' ' || b == '\t'
	case quotes:
		return strings.IndexByte("\"'`\\", b) >= 0
	case beforeSign:
		return strings.IndexByte("\"'\\ \t", b) >= 0
	case inToken:
		return isTokenByte(b)
	case inJWT:
		return isTokenByte(b) || b == '.'
	case inPath:
		return isTokenByte(b) || b == '/'
	case inBase64:
		return isTokenByte(b) || b == '+' || b == '/' || b == '='
	case hexDigit:
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'f'
	case inName:
		return isTokenByte(b) || b == '.' || b >= 0x80
	case inAuthority:
		return strings.IndexByte(" \t\r\n/\"'<>`", b) < 0
	case inDSN:
		return strings.IndexByte(" \t\r\n\"'<>`=", b) < 0
	case inHeader:
		return strings.IndexByte("\"'`\r\n", b) < 0
	case inWord:
		return strings.IndexByte(" \t\r\n;&,\"'`)}]<>|", b) < 0
	case inVariable:
		return strings.IndexByte("\n)}", b) < 0
	case inFault:
		return strings.IndexByte(" \t\r\n\f\v:", b) < 0
	case notBracket:
		return strings.IndexByte("\n]}", b) < 0
	case inDigest:
		return inBase64.has(b) || b == ':'
	case inArgument:
		return strings.IndexByte(" \t\r\n\"'`,[]", b) < 0
	case inElement:
		return b != '<' && b != '>'
	case classes:
	}
	return false
}

// isTokenByte reports whether a byte may be part of a token, as letters, digits, underscores and dashes may.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
