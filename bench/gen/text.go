package gen

import (
	"encoding/binary"
	"strconv"
)

// words appear in messages, searches and posts.
var words = [...]string{
	"time", "order", "light", "stone", "river", "green", "market", "signal", "morning", "quick",
	"garden", "simple", "paper", "letter", "window", "people", "silver", "travel", "music", "number",
	"house", "story", "answer", "ocean", "engine", "friend", "forest", "winter", "summer", "change",
	"memory", "moment", "yellow", "city", "coffee", "shadow", "bridge", "planet", "flower", "dream",
}

var regions = [...]string{"us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-south-1"}

const (
	base32Digits = "abcdefghijklmnopqrstuvwxyz234567"
	hexDigits    = "0123456789abcdef"
)

// hexPairs holds the two digits of every byte.
var hexPairs = func() (t [256][2]byte) {
	for i := range t {
		t[i] = [2]byte{hexDigits[i>>4], hexDigits[i&15]}
	}
	return t
}()

// appendHex appends the 16 digits of x.
func appendHex(dst []byte, x uint64) []byte {
	var b [16]byte
	for i := range 8 {
		p := hexPairs[byte(x>>(8*i))]
		b[2*i], b[2*i+1] = p[0], p[1]
	}
	return append(dst, b[:]...)
}

// appendBase32 appends n random digits.
func appendBase32(dst []byte, r *random, n int) []byte {
	for n > 0 {
		x := r.next()
		for k := min(n, 12); k > 0; k-- {
			dst = append(dst, base32Digits[x&31])
			x >>= 5
			n--
		}
	}
	return dst
}

func appendUint(dst []byte, x uint64) []byte { return strconv.AppendUint(dst, x, 10) }

// appendThousandths appends x/1000 as a JSON number: at most three decimals, at least one.
func appendThousandths(dst []byte, x uint64) []byte {
	dst = appendUint(dst, x/1000)
	m := x % 1000
	b := [4]byte{'.', byte('0' + m/100), byte('0' + m/10%10), byte('0' + m%10)}
	n := 4
	for n > 2 && b[n-1] == '0' {
		n--
	}
	return append(dst, b[:n]...)
}

// octets holds the decimal text of every byte and, last, its length.
var octets = func() (t [256][4]byte) {
	for i := range t {
		t[i][3] = byte(copy(t[i][:3], strconv.Itoa(i)))
	}
	return t
}()

// appendAddress appends the address whose octets are those of a.
func appendAddress(dst []byte, a uint32) []byte {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], a)
	for i, o := range b {
		if i > 0 {
			dst = append(dst, '.')
		}
		t := &octets[o]
		dst = append(dst, t[:t[3]]...)
	}
	return dst
}
