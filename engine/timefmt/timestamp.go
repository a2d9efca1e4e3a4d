package timefmt

import (
	"strings"
	"time"
)

// ParseTimestamp reads SQL timestamp text: 2024-01-02 03:04:05.678, with T for the blank, with Z, +08:00, +0800 or +08
// after it, hours and minutes or a date alone, years of more than four digits with a sign. Blanks around are ignored.
// Without a zone the time is read in loc (nil: UTC); of a time that came twice there the first is taken. Fractions
// past nanoseconds are cut. Errors are ErrSyntax and ErrRange.
func ParseTimestamp(text string, loc *time.Location) (sec int64, nanos int32, err error) {
	s := strings.TrimSpace(text)
	year, s, ok := readYear(s)
	if !ok {
		return 0, 0, ErrSyntax
	}
	month, s, ok1 := readPart(s, '-')
	day, s, ok2 := readPart(s, '-')
	if !ok1 || !ok2 || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) {
		return 0, 0, ErrSyntax
	}
	wall := Days(year, month, day) * secondsPerDay
	if s == "" {
		return place(wall, 0, loc)
	}
	if s[0] != 'T' && s[0] != 't' && s[0] != ' ' {
		return 0, 0, ErrSyntax
	}
	s = strings.TrimLeft(s[1:], " ")
	hour, s, ok := readDigits(s, 1, 2)
	minute, s, ok1 := readPart(s, ':')
	if !ok || !ok1 || hour > 23 || minute > 59 {
		return 0, 0, ErrSyntax
	}
	second := 0
	if s != "" && s[0] == ':' {
		if second, s, ok = readPart(s, ':'); !ok || second > 60 {
			return 0, 0, ErrSyntax
		}
		if nanos, s, ok = readFraction(s); !ok {
			return 0, 0, ErrSyntax
		}
	}
	wall += int64(hour)*3600 + int64(minute)*60 + int64(second)
	s = strings.TrimLeft(s, " ")
	if s == "" {
		return place(wall, nanos, loc)
	}
	offset, ok := readOffset(s)
	if !ok {
		return 0, 0, ErrSyntax
	}
	return place(wall-offset, nanos, time.UTC)
}

// place puts a wall-clock time into a zone. A time that the clock was set forward over moves forward as far: 02:30 is
// 03:30.
func place(wall int64, nanos int32, loc *time.Location) (int64, int32, error) {
	sec, _ := toUTC(wall, loc)
	return sec, nanos, nil
}

// readYear reads four digits, or a sign and up to six.
func readYear(s string) (year int, rest string, ok bool) {
	if s == "" {
		return 0, s, false
	}
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		if year, s, ok = readDigits(s[1:], 4, 6); neg {
			year = -year
		}
	} else {
		year, s, ok = readDigits(s, 4, 4)
	}
	return year, s, ok && year >= minYear && year <= maxYear
}

// readPart reads a separator and one or two digits.
func readPart(s string, sep byte) (n int, rest string, ok bool) {
	if s == "" || s[0] != sep {
		return 0, s, false
	}
	return readDigits(s[1:], 1, 2)
}

// readDigits reads from least to most digits.
func readDigits(s string, least, most int) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && i < most && isDigit(s[i]) {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i >= least
}

func isDigit(c byte) bool { return c-'0' < 10 }

// readFraction reads a point or comma and digits; nothing is zero. Digits past the ninth are dropped.
func readFraction(s string) (nanos int32, rest string, ok bool) {
	if s == "" || s[0] != '.' && s[0] != ',' {
		return 0, s, true
	}
	return readNanos(s[1:])
}

// readNanos reads the digits of a fraction, one at least.
func readNanos(s string) (nanos int32, rest string, ok bool) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		if i < 9 {
			nanos = nanos*10 + int32(s[i]-'0')
		}
		i++
	}
	for k := i; k < 9; k++ {
		nanos *= 10
	}
	return nanos, s[i:], i > 0
}

// readOffset reads all of s as Z, +08:00, +0800 or +08, in seconds east.
func readOffset(s string) (sec int64, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if s == "UTC" {
		return 0, true
	}
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	neg := s[0] == '-'
	hour, s, ok := readDigits(s[1:], 2, 2)
	minute := 0
	if ok && s != "" {
		s = strings.TrimPrefix(s, ":")
		minute, s, ok = readDigits(s, 2, 2)
	}
	if !ok || s != "" || hour > 23 || minute > 59 {
		return 0, false
	}
	if sec = int64(hour)*3600 + int64(minute)*60; neg {
		sec = -sec
	}
	return sec, true
}

// AppendTimestamp prints a timestamp of 0, 3, 6 or 9 fraction digits in UTC: 2024-01-02T03:04:05, with 3, 6 or 9
// digits of fraction only when it is not zero.
func AppendTimestamp(dst []byte, v int64, precision uint8) []byte {
	units := unitsPerSecond(precision)
	sec := FloorDiv(v, units)
	nanos := int32((v - sec*units) * (nanosPerSec / units))
	days := FloorDiv(sec, secondsPerDay)
	dst = AppendDate(dst, days)
	dst = append(dst, 'T')
	return AppendTime(dst, int(sec-days*secondsPerDay), nanos)
}

func unitsPerSecond(precision uint8) int64 {
	n := int64(1)
	for range precision {
		n *= 10
	}
	return n
}

// AppendDate prints a day number as 2024-01-02; years outside 0..9999 carry a sign.
func AppendDate(dst []byte, days int64) []byte {
	year, month, day := Civil(days)
	dst = appendYear(dst, year)
	dst = append(dst, '-')
	dst = appendTwo(dst, month)
	dst = append(dst, '-')
	return appendTwo(dst, day)
}

// AppendTime prints a time of day as 03:04:05, with 3, 6 or 9 digits of fraction when it is not zero.
func AppendTime(dst []byte, second int, nanos int32) []byte {
	dst = appendTwo(dst, second/3600)
	dst = append(dst, ':')
	dst = appendTwo(dst, second/60%60)
	dst = append(dst, ':')
	dst = appendTwo(dst, second%60)
	return appendFraction(dst, nanos)
}

// appendFraction prints nothing for zero, else a point and 3, 6 or 9 digits.
func appendFraction(dst []byte, nanos int32) []byte {
	switch {
	case nanos == 0:
		return dst
	case nanos%1e6 == 0:
		return appendPadded(append(dst, '.'), int64(nanos/1e6), 3, '0')
	case nanos%1e3 == 0:
		return appendPadded(append(dst, '.'), int64(nanos/1e3), 6, '0')
	}
	return appendPadded(append(dst, '.'), int64(nanos), 9, '0')
}

func appendYear(dst []byte, year int) []byte {
	switch {
	case year > 9999:
		dst = append(dst, '+')
	case year < 0:
		dst, year = append(dst, '-'), -year
	}
	return appendPadded(dst, int64(year), 4, '0')
}

func appendTwo(dst []byte, n int) []byte { return append(dst, '0'+byte(n/10), '0'+byte(n%10)) }

// appendPadded prints n >= 0 with at least width digits; pad 0 means no padding.
func appendPadded(dst []byte, n int64, width int, pad byte) []byte {
	var buf [20]byte
	i := len(buf)
	for {
		i--
		buf[i] = '0' + byte(n%10)
		if n /= 10; n == 0 {
			break
		}
	}
	if pad != 0 {
		for k := len(buf) - i; k < width; k++ {
			dst = append(dst, pad)
		}
	}
	return append(dst, buf[i:]...)
}
