package expr

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"

	"varve/engine/vector"
)

func init() {
	registerIPv4()
	registerIPv6()
	for name, family := range map[string]func(netip.Addr) bool{"ipv4_in_range": netip.Addr.Is4,
		"ipv6_in_range": netip.Addr.Is6} {
		simple(2, sig{str, str}, flag, inRange(name, family), name)
	}
}

// inRange reports whether an address lies in a network of the family.
func inRange(name string, family func(netip.Addr) bool) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		out.Bools = vector.MakeBitmap(n)
		for i := range n {
			if valid != nil && !valid.Get(i) {
				continue
			}
			addr, err := netip.ParseAddr(a[0].Str(i))
			if err != nil || !family(addr) {
				return execError("%s: '%s' is not an address", name, a[0].Bytes(i))
			}
			network, err := netip.ParsePrefix(a[1].Str(i))
			if err != nil || !family(network.Addr()) {
				return execError("%s: '%s' is not a network in CIDR notation", name, a[1].Bytes(i))
			}
			if network.Contains(addr.WithZone("")) {
				out.Bools.Set(i)
			}
		}
		return nil
	}
}

func registerIPv4() {
	simple(1, sig{str}, vector.Uint32Type,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				var x uint64
				if valid == nil || valid.Get(i) {
					addr, err := netip.ParseAddr(a[0].Str(i))
					if err != nil || !addr.Is4() {
						return execError("ipv4_string_to_num: '%s' is not an IPv4 address", a[0].Bytes(i))
					}
					b := addr.As4()
					x = uint64(binary.BigEndian.Uint32(b[:]))
				}
				out.Uints = append(out.Uints, x)
			}
			return nil
		}, "ipv4_string_to_num", "inet_aton")
	simple(1, sig{i64}, str, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		x := a[0].Ints[i]
		if x < 0 || x > 1<<32-1 {
			return nil, false
		}
		return netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)}).AppendTo(nil), true
	}), "ipv4_num_to_string", "inet_ntoa")
	simple(1, sig{str, i64}, str, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		parts := strings.Split(strings.TrimSuffix(a[0].Str(i), "."), ".")
		given := len(parts)
		for len(parts) < 4 {
			parts = append(parts, "0")
		}
		addr, err := netip.ParseAddr(strings.Join(parts, "."))
		if err != nil || !addr.Is4() {
			return nil, false
		}
		bits := int64(8 * given)
		if b := addr.As4(); given == 4 { // trailing zeros tell the network
			for bits > 8 && b[bits/8-1] == 0 {
				bits -= 8
			}
		}
		return cidr(a, i, addr, bits)
	}), "ipv4_to_cidr")
}

// cidr writes the network of so many bits that an address lies in. A given number of bits comes before the guessed one.
func cidr(a []*vector.Vector, i int, addr netip.Addr, bits int64) ([]byte, bool) {
	if len(a) > 1 {
		bits = a[1].Ints[i]
	}
	if bits < 0 || bits > int64(addr.BitLen()) {
		return nil, false
	}
	p, err := addr.WithZone("").Prefix(int(bits))
	return p.AppendTo(nil), err == nil
}

func registerIPv6() {
	simple(1, sig{str}, vector.BinaryType,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if valid != nil && !valid.Get(i) {
					out.PushBytes(nil)
					continue
				}
				addr, err := netip.ParseAddr(a[0].Str(i))
				if err != nil {
					return execError("ipv6_string_to_num: '%s' is not an IPv6 address", a[0].Bytes(i))
				}
				b := addr.As16()
				out.PushBytes(b[:])
			}
			return nil
		}, "ipv6_string_to_num")
	// The number is the 16 bytes as BINARY, or these in hexadecimal as text.
	register(&Function{min: 1, max: 1, makesNull: true,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			if t := args[0].Type(); !bytesLike(t) && t != vector.NullType {
				return nil, str, nil,
					planError("function 'ipv6_num_to_string' takes 16 bytes or their hexadecimal form, found %s", t)
			}
			text := args[0].Type().ID == vector.TypeString
			return args, str, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
				b := a[0].Bytes(i)
				if text {
					var err error
					if b, err = hex.DecodeString(string(b)); err != nil {
						return nil, false
					}
				}
				addr, ok := netip.AddrFromSlice(b)
				if !ok || len(b) != 16 {
					return nil, false
				}
				return addr.AppendTo(nil), true
			}), nil
		}}, "ipv6_num_to_string")
	simple(1, sig{str, i64}, str, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		addr, err := netip.ParseAddr(a[0].Str(i))
		if err != nil || !addr.Is6() {
			return nil, false
		}
		bits := int64(128)
		// trailing groups of zeros tell the network
		for b := addr.As16(); bits > 16 && b[bits/8-1] == 0 && b[bits/8-2] == 0; {
			bits -= 16
		}
		return cidr(a, i, addr, bits)
	}), "ipv6_to_cidr")
}
