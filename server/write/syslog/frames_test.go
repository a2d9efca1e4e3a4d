package syslog

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, in, want, err string
		cut                 int
	}{
		{"nothing", "", "", "EOF", 0},
		{"lines", "<1>a\r\n\n<2>b\x00<3>c", "<1>a|<2>b|<3>c", "EOF", 0},
		{"octets", "4 <1>a7 <2>b\nc!", "<1>a|<2>b\nc!", "EOF", 0},
		{"octets and line ends", "4 <1>a\n5 <2>b\n\n", "<1>a|<2>b", "EOF", 0},
		{"a long line", "<1>" + strings.Repeat("x", 100) + "\n<2>\n", "<1>xxxxxxxxxxxxxxxxx|<2>", "EOF", 1},
		{"a long message", "25 <1>" + strings.Repeat("x", 22) + "3 <2>", "<1>xxxxxxxxxxxxxxxxx|<2>", "EOF", 1},
		{"a length that lies", "4 <1>abc\n", "<1>a", "expected the length of a message, found 'b'", 0},
		{"more than there is", "9 <1>a", "", "the stream ends inside a message", 0},
		{"a huge length", "99999999 <1>x", "", "more than 67108864 bytes", 0},
		{"a line with a digit", "2026-11-26 up\n<1>b\n", "2026-11-26 up|<1>b", "EOF", 0},
		{"a line with a number", "12 monkeys\n7 <1>b\n", "12 monkeys|7 <1>b", "EOF", 0},
		{"zeros without end", strings.Repeat("0", 50), strings.Repeat("0", 20), "EOF", 1},
		{"number alone", "12", "12", "EOF", 0},
	} {
		for _, slow := range []bool{false, true} {
			var in io.Reader = strings.NewReader(c.in)
			if slow {
				in = iotest.OneByteReader(in)
			}
			cut := 0
			f := &frames{r: bufio.NewReaderSize(in, 16), most: 20, cut: func() { cut++ }}
			var got []string
			var err error
			for {
				var text []byte
				if text, _, err = f.Next(); err != nil {
					break
				}
				got = append(got, string(text))
			}
			if strings.Join(got, "|") != c.want || !strings.Contains(err.Error(), c.err) || cut != c.cut {
				t.Errorf("%s: %q, %v, %d cut; want %q, %s, %d", c.name, got, err, cut, c.want, c.err, c.cut)
			}
		}
	}
}
