package stdlib

import (
	byteorder "encoding/binary"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// ipFunctions work on addresses and networks.
var ipFunctions = []vrl.Function{
	{Name: "ip_aton", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.Integer), Run: ipAton},
	{Name: "ip_ntoa", Params: []vrl.Param{arg("value", vrl.Integer)}, Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: ipNtoa},
	{Name: "ip_pton", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: ipPton},
	{Name: "ip_ntop", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: ipNtop},
	{Name: "ip_cidr_contains", Params: []vrl.Param{arg("cidr", vrl.String|vrl.Array), arg("value", vrl.String)},
		Fails: vrl.Always, Returns: vrl.Of(vrl.Boolean), Compile: compileCIDRContains},
	{Name: "ip_subnet", Params: []vrl.Param{arg("value", vrl.String), arg("subnet", vrl.String)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: ipSubnet},
	{Name: "ip_to_ipv6", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: ipToIPv6},
	{Name: "ipv6_to_ipv4", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: ipv6ToIPv4},
	{Name: "is_ipv4", Params: stringParam, Returns: vrl.Of(vrl.Boolean),
		Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			ip, ok := address(args[0].Str())
			return value.Bool(ok && ip.Is4()), nil
		}},
	{Name: "is_ipv6", Params: stringParam, Returns: vrl.Of(vrl.Boolean),
		Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			ip, ok := address(args[0].Str())
			return value.Bool(ok && ip.Is6()), nil
		}},
}

// address reads an address without a zone.
func address(s string) (ip netip.Addr, ok bool) {
	ip, err := netip.ParseAddr(s)
	return ip, err == nil && ip.Zone() == ""
}

func ipAton(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	ip, ok := address(args[0].Str())
	if !ok || !ip.Is4() {
		return f.Fail("unable to parse IPv4 address: invalid IPv4 address syntax")
	}
	four := ip.As4()
	return value.Int(int64(byteorder.BigEndian.Uint32(four[:]))), nil
}

func ipNtoa(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	n := args[0].Int()
	if n < 0 || n > math.MaxUint32 {
		return f.Fail("cannot convert to bytes, integer does not fit in u32")
	}
	var four [4]byte
	byteorder.BigEndian.PutUint32(four[:], uint32(n))
	return addressText(f, netip.AddrFrom4(four)), nil
}

// addressText is an address as text.
func addressText(f *vrl.Frame, ip netip.Addr) value.Value {
	return f.Arena.End(ip.AppendTo(f.Arena.Begin()))
}

func ipPton(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	ip, ok := address(args[0].Str())
	if !ok {
		return f.Fail("unable to parse IP address: invalid IP address syntax")
	}
	return f.Arena.End(append(f.Arena.Begin(), ip.AsSlice()...)), nil
}

func ipNtop(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	ip, ok := netip.AddrFromSlice([]byte(args[0].Str()))
	if !ok {
		return f.Fail("unable to parse address: expected 4 or 16 bytes, got %s", value.Int(int64(len(args[0].Str()))))
	}
	return addressText(f, ip), nil
}

// network reads a network, or an address as the network of itself.
func network(s string) (netip.Prefix, bool) {
	if !strings.Contains(s, "/") {
		ip, ok := address(s)
		if !ok {
			return netip.Prefix{}, false
		}
		return netip.PrefixFrom(ip, ip.BitLen()), true
	}
	n, err := netip.ParsePrefix(s)
	return n, err == nil
}

func compileCIDRContains(c *vrl.Call) (vrl.Run, error) {
	constant, known := c.Const("cidr")
	var networks []netip.Prefix
	if known {
		list := []value.Value{constant}
		if constant.Kind() == value.ArrayKind {
			list = nil
			for i := range constant.Array().Len() {
				list = append(list, constant.Array().At(i))
			}
		}
		for _, v := range list {
			n, ok := netip.Prefix{}, false
			if v.Kind() == value.StringKind {
				n, ok = network(v.Str())
			}
			if !ok {
				known = false // the call says so when it runs
				break
			}
			networks = append(networks, n)
		}
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		ip, ok := address(args[1].Str())
		if !ok {
			return f.Fail("unable to parse IP address: invalid IP address syntax")
		}
		if known {
			for _, n := range networks {
				if n.Contains(ip) {
					return value.Bool(true), nil
				}
			}
			return value.Bool(false), nil
		}
		return containsAddress(f, args[0], ip)
	}, nil
}

// containsAddress looks for an address in a network, or in several.
func containsAddress(f *vrl.Frame, cidr value.Value, ip netip.Addr) (value.Value, *vrl.Failure) {
	if cidr.Kind() == value.ArrayKind {
		for i := range cidr.Array().Len() {
			item := cidr.Array().At(i)
			if item.Kind() != value.StringKind {
				return f.Fail("expected string, got %k", item)
			}
			v, fl := containsAddress(f, item, ip)
			if fl != nil || v.Bool() {
				return v, fl
			}
		}
		return value.Bool(false), nil
	}
	n, ok := network(cidr.Str())
	if !ok {
		return f.Fail("unable to parse CIDR: couldn't parse address in network: invalid IP address syntax")
	}
	return value.Bool(n.Contains(ip)), nil
}

func ipSubnet(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	ip, ok := address(args[0].Str())
	if !ok {
		return f.Fail("unable to parse IP address: invalid IP address syntax")
	}
	subnet := args[1].Str()
	if digits, isBits := strings.CutPrefix(subnet, "/"); isBits {
		bits, err := strconv.ParseUint(digits, 10, 8)
		if err != nil {
			return f.Fail("invalid subnet: %s", args[1])
		}
		if int(bits) > ip.BitLen() {
			return f.Fail("subnet cannot be greater than %s for %s addresses", value.Int(int64(ip.BitLen())),
				value.String(family(ip)))
		}
		n, err := ip.Prefix(int(bits))
		if err != nil {
			return f.FailErr(err)
		}
		return addressText(f, n.Addr()), nil
	}
	mask, ok := address(subnet)
	if !ok {
		return f.Fail("invalid subnet: %s", args[1])
	}
	if mask.Is4() != ip.Is4() {
		return f.Fail("attempting to mask %s address with %s mask", value.String(family(ip)),
			value.String(family(mask)))
	}
	a, m := ip.AsSlice(), mask.AsSlice()
	for i := range a {
		a[i] &= m[i]
	}
	masked, _ := netip.AddrFromSlice(a)
	return addressText(f, masked), nil
}

func family(ip netip.Addr) string {
	if ip.Is4() {
		return "ipv4"
	}
	return "ipv6"
}

func ipToIPv6(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	ip, ok := address(args[0].Str())
	if !ok {
		return f.Fail("unable to parse IP address: invalid IP address syntax")
	}
	return addressText(f, netip.AddrFrom16(ip.As16())), nil
}

func ipv6ToIPv4(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	ip, ok := address(args[0].Str())
	if !ok {
		return f.Fail("unable to parse IP address: invalid IP address syntax")
	}
	if sixteen := ip.As16(); ip.Is6() && !ip.Is4In6() {
		// The older compatible form ::a.b.c.d counts as well.
		for _, b := range sixteen[:12] {
			if b != 0 {
				return f.Fail("IPV6 address '%s' is not compatible with IPV4", args[0])
			}
		}
		return addressText(f, netip.AddrFrom4([4]byte(sixteen[12:]))), nil
	}
	return addressText(f, ip.Unmap()), nil
}
