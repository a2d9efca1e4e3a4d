package stdlib

import (
	"crypto/sha1"
	"encoding/base64"
	byteorder "encoding/binary"
	"math/big"
	"math/bits"
	"net/netip"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// checksumFunctions compute hashes that keep no secret: checksums, hashes for tables, hashes of flows.
var checksumFunctions = []vrl.Function{
	{Name: "crc", Params: []vrl.Param{arg("value", vrl.String), text("algorithm", "CRC_32_ISO_HDLC")},
		Fails: vrl.UnlessConst("algorithm",
			func(v value.Value) bool { return v.Kind() == value.StringKind && crcAlgorithms[v.Str()] != nil }),
		Returns: vrl.Of(vrl.String), Compile: compileCRC},
	{Name: "xxhash", Params: []vrl.Param{arg("value", vrl.String), text("variant", "XXH32")},
		Fails: vrl.UnlessConst("variant", func(v value.Value) bool {
			return v.Kind() == value.StringKind && xxhashVariants[v.Str()] != nil
		}),
		ReturnsFor: func(c *vrl.Call) vrl.Type {
			v, ok := c.Const("variant")
			switch {
			case !ok || v.Kind() != value.StringKind:
				return vrl.Of(vrl.Integer, vrl.String)
			case v.Str() == "XXH3-128":
				return vrl.Of(vrl.String)
			}
			return vrl.Of(vrl.Integer)
		}, Compile: compileXXHash},
	{Name: "seahash", Params: stringParam, Returns: vrl.Of(vrl.Integer),
		Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return value.Int(int64(seahash(args[0].Str()))), nil
		}},
	{Name: "community_id", Params: []vrl.Param{arg("source_ip", vrl.String), arg("destination_ip", vrl.String),
		arg("protocol", vrl.Integer), opt("source_port", vrl.Integer),
		opt("destination_port", vrl.Integer),
		opt("seed", vrl.Integer)}, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: communityID},
}

func compileCRC(c *vrl.Call) (vrl.Run, error) {
	if name, ok := c.Const("algorithm"); ok && (name.Kind() != value.StringKind || crcAlgorithms[name.Str()] == nil) {
		return nil, c.Invalid("algorithm", "Invalid CRC algorithm: %s", name.Str())
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		t := crcAlgorithms[args[1].Str()]
		if t == nil {
			return f.Fail("Invalid CRC algorithm: %s", args[1])
		}
		return value.String(t.sum(args[0].Str())), nil
	}, nil
}

var xxhashVariants = map[string]func(s string) value.Value{
	"XXH32":   func(s string) value.Value { return value.Int(int64(xxh32(s))) },
	"XXH64":   func(s string) value.Value { return value.Int(int64(xxhash.Sum64String(s))) },
	"XXH3-64": func(s string) value.Value { return value.Int(int64(xxh3.HashString(s))) },
	"XXH3-128": func(s string) value.Value {
		h := xxh3.HashString128(s)
		n := new(big.Int).SetUint64(h.Hi)
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(h.Lo))
		return value.String(n.String())
	},
}

func compileXXHash(c *vrl.Call) (vrl.Run, error) {
	if name, ok := c.Const("variant"); ok && (name.Kind() != value.StringKind || xxhashVariants[name.Str()] == nil) {
		return nil, c.Invalid("variant", "Variant must be either 'XXH32', 'XXH64', 'XXH3-64' or 'XXH3-128'")
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		h := xxhashVariants[args[1].Str()]
		if h == nil {
			return f.Fail("Variant must be either 'XXH32', 'XXH64', 'XXH3-64' or 'XXH3-128'")
		}
		return h(args[0].Str()), nil
	}, nil
}

// The primes of XXH32. Source: the algorithm's specification.
const (
	xxPrime1 = 0x9E3779B1
	xxPrime2 = 0x85EBCA77
	xxPrime3 = 0xC2B2AE3D
	xxPrime4 = 0x27D4EB2F
	xxPrime5 = 0x165667B1
)

// xxh32 is XXH32 with seed 0.
func xxh32(s string) uint32 {
	word := func(i int) uint32 {
		return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
	}
	i := 0
	h := uint32(xxPrime5)
	if len(s) >= 16 {
		one, two := uint32(xxPrime1), uint32(xxPrime2)
		lanes := [4]uint32{one + two, two, 0, -one}
		for ; i+16 <= len(s); i += 16 {
			for lane := range lanes {
				lanes[lane] = bits.RotateLeft32(lanes[lane]+word(i+4*lane)*xxPrime2, 13) * xxPrime1
			}
		}
		h = bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) + bits.RotateLeft32(lanes[2], 12) +
			bits.RotateLeft32(lanes[3], 18)
	}
	h += uint32(len(s))
	for ; i+4 <= len(s); i += 4 {
		h = bits.RotateLeft32(h+word(i)*xxPrime3, 17) * xxPrime4
	}
	for ; i < len(s); i++ {
		h = bits.RotateLeft32(h+uint32(s[i])*xxPrime5, 11) * xxPrime1
	}
	h = (h ^ h>>15) * xxPrime2
	h = (h ^ h>>13) * xxPrime3
	return h ^ h>>16
}

// seahash is SeaHash with its default keys: four lanes of eight bytes, taken in turn, the last word padded with zeros.
// Source: the algorithm's reference description.
func seahash(s string) uint64 {
	lanes := [4]uint64{0x16f11fe89b0d677c, 0xb480a793d8e6c86c, 0x6fe2e5aaf078ebc9, 0x14f994a4c5259381}
	diffuse := func(x uint64) uint64 {
		x *= 0x6eed0e9da4d94a4f
		x ^= (x >> 32) >> (x >> 60)
		return x * 0x6eed0e9da4d94a4f
	}
	lane := 0
	for i := 0; i < len(s); i += 8 {
		var word [8]byte
		copy(word[:], s[i:])
		lanes[lane] = diffuse(lanes[lane] ^ byteorder.LittleEndian.Uint64(word[:]))
		lane = (lane + 1) & 3
	}
	return diffuse(lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3] ^ uint64(len(s)))
}

// The types of ICMP messages that have an answer, with the type of the answer: they stand for the ports of a flow.
var (
	icmp4Answers = map[int64]int64{8: 0, 0: 8, 13: 14, 14: 13, 15: 16, 16: 15, 17: 18, 18: 17, 10: 9, 9: 10}
	icmp6Answers = map[int64]int64{128: 129, 129: 128, 133: 134, 134: 133, 135: 136, 136: 135, 130: 131, 131: 130,
		139: 140, 140: 139, 144: 145, 145: 144}
)

// communityID is version 1 of the community ID flow hash: SHA-1 of the ordered ends of a flow.
func communityID(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	source, ok := address(args[0].Str())
	destination, also := address(args[1].Str())
	if !ok || !also {
		return f.Fail("unable to parse IP address: invalid IP address syntax")
	}
	protocol, seed := args[2].Int(), int64(0)
	if protocol < 0 || protocol > 255 {
		return f.Fail("protocol must be between 0 and 255")
	}
	if !args[5].IsNull() {
		if seed = args[5].Int(); seed < 0 || seed > 65535 {
			return f.Fail("seed must be between 0 and 65535")
		}
	}
	var ports [2]int64
	for i, v := range args[3:5] {
		if !v.IsNull() {
			if ports[i] = v.Int(); ports[i] < 0 || ports[i] > 65535 {
				return f.Fail("port must be between 0 and 65535")
			}
		}
	}
	hasPorts := protocol == 1 || protocol == 6 || protocol == 17 || protocol == 58 || protocol == 132
	if hasPorts && (args[3].IsNull() || args[4].IsNull()) {
		return f.Fail("src port and dst port should be set when protocol is tcp, udp, sctp or icmp")
	}
	oneWay := false
	if answers := map[int64]map[int64]int64{1: icmp4Answers, 58: icmp6Answers}[protocol]; answers != nil {
		if answer, ok := answers[ports[0]]; ok {
			ports[1] = answer
		} else {
			oneWay = true
		}
	}
	if c := source.Compare(destination); !oneWay && (c > 0 || c == 0 && ports[0] > ports[1]) {
		source, destination = destination, source
		ports[0], ports[1] = ports[1], ports[0]
	}
	b := byteorder.BigEndian.AppendUint16(nil, uint16(seed))
	b = appendAddress(appendAddress(b, source), destination)
	b = append(b, byte(protocol), 0)
	if hasPorts {
		b = byteorder.BigEndian.AppendUint16(b, uint16(ports[0]))
		b = byteorder.BigEndian.AppendUint16(b, uint16(ports[1]))
	}
	sum := sha1.Sum(b)
	return f.Arena.End(base64.StdEncoding.AppendEncode(append(f.Arena.Begin(), "1:"...), sum[:])), nil
}

func appendAddress(dst []byte, ip netip.Addr) []byte { return append(dst, ip.AsSlice()...) }
