package ingest

import "bytes"

// protocolEntry finds the first entry of line protocol in a text that begins outside of one: blanks, empty lines and
// comments before it are passed over. It ends behind its line end, which is not one within the quotes of a field. Where
// last says that nothing follows the text, it may lack that, and a quote that nothing closes is none. whole is false
// where the text holds no whole entry: begin is where the line begins that it holds a part of, or the end of the text.
func protocolEntry(text []byte, last bool) (begin, end int, whole bool) {
	for {
		rest := bytes.TrimLeft(text[begin:], " \t\r\n")
		if begin = len(text) - len(rest); len(rest) == 0 {
			return begin, begin, false
		}
		line := bytes.IndexByte(rest, '\n') + 1
		if rest[0] != '#' {
			n := protocolEnd(rest)
			if n < 0 && last {
				if n = line; n == 0 {
					n = len(rest)
				}
			}
			return begin, begin + n, n > 0
		}
		if line == 0 && last {
			return len(text), len(text), false
		} else if line == 0 {
			return begin, begin, false
		}
		begin += line
	}
}

// protocolEnd is behind the line end of the entry that a text begins with; -1: the text does not hold it. What is no
// entry ends with its line, as it does for the server.
func protocolEnd(text []byte) int {
	line := bytes.IndexByte(text, '\n') + 1
	if line > 0 && bytes.IndexByte(text[:line], '"') < 0 {
		return line
	}
	p, ok := skipFields(text, skipToken(text, 0, ' ')) // before fields nothing is quoted
	if !ok && line > 0 {
		return line
	}
	if end := bytes.IndexByte(text[p:], '\n'); end >= 0 {
		return p + end + 1
	}
	return -1
}

// skipFields is where the fields end that begin at p, perhaps the end of the text; ok is false where what stands there
// are none.
func skipFields(text []byte, p int) (end int, ok bool) {
	for p < len(text) && text[p] == ' ' {
		p++
	}
	for {
		if p = skipToken(text, p, '='); p+1 >= len(text) || text[p] != '=' {
			return min(p, len(text)), true
		}
		if p++; text[p] == '"' {
			p = skipQuoted(text, p+1)
		} else {
			p = skipToken(text, p, ',', ' ')
		}
		switch {
		case p == len(text) || text[p] == ' ' || text[p] == '\r' || text[p] == '\n':
			return p, true
		case text[p] != ',':
			return p, false
		}
		p++
	}
}

// skipToken is the place from p on of the first of some bytes, or line end, that no backslash stands before, or the end
// of the text.
func skipToken(text []byte, p int, ends ...byte) int {
	for p < len(text) && text[p] != '\n' && bytes.IndexByte(ends, text[p]) < 0 {
		if p++; text[p-1] == '\\' && p < len(text) && text[p] != '\n' {
			p++
		}
	}
	return p
}

// skipQuoted is behind the quote that ends a text that begins at p, or the end of the text.
func skipQuoted(text []byte, p int) int {
	for ; p < len(text); p++ {
		switch text[p] {
		case '\\':
			p++
		case '"':
			return p + 1
		}
	}
	return len(text)
}

// protocolEntries is where the whole entries of a text end, at most so many (0: any number), with comments and empty
// lines among them, and how many they are. last is that of protocolEntry.
func protocolEntries(text []byte, most int64, last bool) (end int, entries int64) {
	for most == 0 || entries < most {
		begin, n, whole := protocolEntry(text[end:], last)
		if !whole {
			return end + begin, entries
		}
		end += n
		entries++
	}
	return end, entries
}
