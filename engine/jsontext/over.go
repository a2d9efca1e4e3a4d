package jsontext

// Over is where the value at i ends as its brackets and quotes tell, whatever else is wrong with it and however deep it is; -1: they do not tell.
func Over(b []byte, i int) int {
	depth := 0
	for from := i; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return -1
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || i+1 < len(b) && !ends(b[i+1]) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		} else if depth < 0 {
			return max(i, from+1)
		}
	}
	return -1
}

// ends reports whether a byte ends a number or a word before it.
func ends(c byte) bool {
	return c <= ' ' || c == ',' || c == '{' || c == '[' || c == '}' || c == ']' || c == '"'
}
