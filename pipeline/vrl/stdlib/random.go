package stdlib

import (
	byteorder "encoding/binary"
	"math/rand/v2"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// maxRandomBytes bounds the result of random_bytes.
const maxRandomBytes = 64 << 10

// randomFunctions give another value each time. The generator is seeded by the system and not meant for secrets.
var randomFunctions = []vrl.Function{
	{Name: "uuid_v4", Returns: vrl.Of(vrl.String),
		Run: func(f *vrl.Frame, _ []value.Value) (value.Value, *vrl.Failure) {
			return uuid(f, rand.Uint64(), rand.Uint64(), 4), nil
		}},
	{Name: "uuid_v7", Params: []vrl.Param{opt("timestamp", vrl.Timestamp)}, Returns: vrl.Of(vrl.String),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			at := f.Now().UnixNano()
			if !args[0].IsNull() {
				at = args[0].Nanos()
			}
			return uuid(f, uint64(max(timefmt.FloorDiv(at, 1e6), 0))<<16|rand.Uint64()&0xffff, rand.Uint64(), 7), nil
		}},
	{Name: "random_bool", Returns: vrl.Of(vrl.Boolean),
		Run: func(*vrl.Frame, []value.Value) (value.Value, *vrl.Failure) {
			return value.Bool(rand.Uint64()&1 != 0), nil
		}},
	{Name: "random_int", Params: []vrl.Param{arg("min", vrl.Integer), arg("max", vrl.Integer)}, Fails: unlessRange,
		Returns: vrl.Of(vrl.Integer), Compile: checkRange(randomInt)},
	{Name: "random_float", Params: []vrl.Param{arg("min", vrl.Float), arg("max", vrl.Float)}, Fails: unlessRange,
		Returns: vrl.Of(vrl.Float), Compile: checkRange(randomFloat)},
	{Name: "random_bytes", Params: []vrl.Param{arg("length", vrl.Integer)},
		Fails: vrl.UnlessConst("length", goodLength), Returns: vrl.Of(vrl.String),
		Compile: func(c *vrl.Call) (vrl.Run, error) {
			if n, ok := c.Const("length"); ok && !goodLength(n) {
				return nil, c.Invalid("length", "Number of bytes must be between 0 and %d", maxRandomBytes)
			}
			return randomBytes, nil
		}},
}

// uuid writes 128 bits as a UUID of a version.
func uuid(f *vrl.Frame, hi, lo uint64, version byte) value.Value {
	var u [16]byte
	byteorder.BigEndian.PutUint64(u[:8], hi)
	byteorder.BigEndian.PutUint64(u[8:], lo)
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	return f.Arena.End(appendUUID(f.Arena.Begin(), u))
}

func appendUUID(dst []byte, u [16]byte) []byte {
	const digits = "0123456789abcdef"
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

// unlessRange reports whether a call can fail unless both bounds are constants in order.
func unlessRange(c *vrl.Call) bool {
	lo, known := c.Const("min")
	hi, also := c.Const("max")
	return !known || !also || !inOrder(lo, hi)
}

func inOrder(lo, hi value.Value) bool {
	return lo.IsNumber() && hi.IsNumber() && lo.Number() < hi.Number()
}

// checkRange refuses constant bounds that are not in order.
func checkRange(run vrl.Run) func(c *vrl.Call) (vrl.Run, error) {
	return func(c *vrl.Call) (vrl.Run, error) {
		lo, known := c.Const("min")
		hi, also := c.Const("max")
		if known && also && !inOrder(lo, hi) {
			return nil, c.Invalid("max", "max must be greater than min")
		}
		return run, nil
	}
}

func randomInt(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	lo, hi := args[0].Int(), args[1].Int()
	if lo >= hi {
		return f.Fail("max must be greater than min")
	}
	return value.Int(int64(uint64(lo) + rand.Uint64N(uint64(hi)-uint64(lo)))), nil
}

func randomFloat(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	lo, hi := args[0].Float(), args[1].Float()
	if !(lo < hi) {
		return f.Fail("max must be greater than min")
	}
	x := rand.Float64()
	return value.Float(lo*(1-x) + hi*x), nil
}

func goodLength(v value.Value) bool {
	return v.Kind() == value.IntKind && v.Int() >= 0 && v.Int() <= maxRandomBytes
}

func randomBytes(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if !goodLength(args[0]) {
		return f.Fail("Number of bytes must be between 0 and %s", value.Int(maxRandomBytes))
	}
	b := f.Arena.Alloc(int(args[0].Int()))
	for i := 0; i < len(b); i += 8 {
		var eight [8]byte
		byteorder.LittleEndian.PutUint64(eight[:], rand.Uint64())
		copy(b[i:], eight[:])
	}
	return value.Bytes(b), nil
}
