package stage

import (
	"bytes"
	"net/netip"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// network is the argument of ip(): the addresses from the first to the last one, of one family.
type network struct{ first, last netip.Addr }

// newNetwork reads an address, a range a-b or a network a/n.
func newNetwork(pattern string) (*network, error) {
	if from, to, ok := strings.Cut(pattern, "-"); ok {
		first, err := netip.ParseAddr(strings.TrimSpace(from))
		last, wrong := netip.ParseAddr(strings.TrimSpace(to))
		if err != nil || wrong != nil || first.Is4() != last.Is4() || last.Less(first) {
			return nil, syntax.ErrNetwork
		}
		return &network{first, last}, nil
	}
	if strings.Contains(pattern, "/") {
		p, err := netip.ParsePrefix(pattern)
		if err != nil {
			return nil, syntax.ErrNetwork
		}
		first := p.Masked().Addr()
		bits := first.AsSlice()
		for i := p.Bits(); i < len(bits)*8; i++ {
			bits[i/8] |= 0x80 >> (i % 8)
		}
		last, _ := netip.AddrFromSlice(bits)
		return &network{first, last}, nil
	}
	a, err := netip.ParseAddr(pattern)
	if err != nil {
		return nil, syntax.ErrNetwork
	}
	return &network{a, a}, nil
}

// contains reports whether an address is one of the network.
func (n *network) contains(a netip.Addr) bool {
	return a.Is4() == n.first.Is4() && n.first.Compare(a) <= 0 && a.Compare(n.last) <= 0
}

// found reports whether a text contains an address of the network: a run of characters of addresses that is one.
func (n *network) found(text []byte) bool {
	v4 := n.first.Is4()
	mark := byte(':')
	if v4 {
		mark = '.'
	}
	for at := 0; at < len(text); {
		i := bytes.IndexByte(text[at:], mark)
		if i < 0 {
			return false
		}
		i += at
		begin := i
		for begin > at && ofAddress(text[begin-1], v4) {
			begin--
		}
		end := i + 1
		for end < len(text) && ofAddress(text[end], v4) {
			end++
		}
		at = end
		for end > begin && text[end-1] == '.' {
			end--
		}
		if a, ok := parseAddress(text[begin:end], v4); ok && n.contains(a) {
			return true
		}
	}
	return false
}

// parseAddress reads an address of a family.
func parseAddress(run []byte, v4 bool) (a netip.Addr, ok bool) {
	if !v4 {
		if len(run) < 2 || len(run) > 64 || bytes.Count(run, []byte(":")) < 2 {
			return a, false
		}
		a, err := netip.ParseAddr(string(run))
		return a, err == nil
	}
	var octets [4]byte
	at, n, digits := 0, 0, 0
	for _, c := range run {
		switch {
		case c == '.':
			if digits == 0 || at == 3 {
				return a, false
			}
			octets[at] = byte(n)
			at, n, digits = at+1, 0, 0
		case digits > 0 && n == 0: // a leading zero
			return a, false
		default:
			if n, digits = n*10+int(c-'0'), digits+1; n > 255 {
				return a, false
			}
		}
	}
	octets[3] = byte(n)
	return netip.AddrFrom4(octets), at == 3 && digits > 0
}

// ofAddress reports whether a byte may stand in an address.
func ofAddress(c byte, v4 bool) bool {
	if c >= '0' && c <= '9' || c == '.' {
		return true
	}
	return !v4 && (c == ':' || c|0x20 >= 'a' && c|0x20 <= 'f')
}
