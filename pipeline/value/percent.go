package value

// hexDigit is the number that a hexadecimal digit stands for; -1 for any other byte.
func hexDigit(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// Escaped returns the byte for the two hexadecimal digits at the start of s, which follow the sign of an escape.
func Escaped(s string) (c byte, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	hi, lo := hexDigit(s[0]), hexDigit(s[1])
	return byte(hi<<4 | lo), hi|lo >= 0
}

// AppendPercentEncoded appends a byte as %XX.
func AppendPercentEncoded(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// AppendPercentDecoded appends s with every %XX as the byte that it stands for; any other percent sign stays.
func AppendPercentDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if b, ok := Escaped(s[i+1:]); ok {
				c, i = b, i+2
			}
		}
		dst = append(dst, c)
	}
	return dst
}
