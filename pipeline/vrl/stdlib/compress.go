package stdlib

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// compressFunctions compress and expand. The expanded text is bounded like every string.
var compressFunctions = []vrl.Function{
	{Name: "encode_gzip", Params: levelParams(6), Fails: vrl.UnlessConst("compression_level", goodLevel),
		Returns: vrl.Of(vrl.String), Compile: leveled(encodeGzip)},
	{Name: "decode_gzip", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: decompress("gzip", func(b []byte) (io.Reader, error) { return gzip.NewReader(bytes.NewReader(b)) })},
	{Name: "encode_zlib", Params: levelParams(6), Fails: vrl.UnlessConst("compression_level", goodLevel),
		Returns: vrl.Of(vrl.String), Compile: leveled(encodeZlib)},
	{Name: "decode_zlib", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: decompress("zlib", func(b []byte) (io.Reader, error) { return zlib.NewReader(bytes.NewReader(b)) })},
	{Name: "encode_zstd", Params: levelParams(3), Returns: vrl.Of(vrl.String), Run: encodeZstd},
	{Name: "decode_zstd", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: decodeZstd},
	{Name: "encode_snappy", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: encodeSnappy},
	{Name: "decode_snappy", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: decodeSnappy},
	{Name: "encode_lz4", Params: []vrl.Param{arg("value", vrl.String), flag("prepend_size", true)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: encodeLZ4},
	{Name: "decode_lz4", Params: []vrl.Param{arg("value", vrl.String),
		with("buf_size", vrl.Integer, value.Int(1_000_000)), flag("prepended_size", false)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: decodeLZ4},
}

func levelParams(byDefault int64) []vrl.Param {
	return []vrl.Param{arg("value", vrl.String), with("compression_level", vrl.Integer, value.Int(byDefault))}
}

// maxLevel is the highest level of gzip and zlib that scripts may write; Go has levels up to 9.
const maxLevel = 10

func goodLevel(v value.Value) bool {
	return v.Kind() == value.IntKind && v.Int() >= 0 && v.Int() <= maxLevel
}

// leveled checks the level of a call.
func leveled(encode func(w io.Writer, level int, s string) error) func(c *vrl.Call) (vrl.Run, error) {
	return func(c *vrl.Call) (vrl.Run, error) {
		if level, ok := c.Const("compression_level"); ok && !goodLevel(level) {
			return nil, c.Invalid("compression_level", "compression level must be <= %d", maxLevel)
		}
		return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			if !goodLevel(args[1]) {
				return f.Fail("compression level must be <= %s", value.Int(maxLevel))
			}
			var b bytes.Buffer
			if err := encode(&b, min(int(args[1].Int()), 9), args[0].Str()); err != nil {
				return f.FailErr(err)
			}
			return f.Made(value.View(b.Bytes())), nil
		}, nil
	}
}

func encodeGzip(w io.Writer, level int, s string) error {
	z, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(z, s); err != nil {
		return err
	}
	return z.Close()
}

func encodeZlib(w io.Writer, level int, s string) error {
	z, err := zlib.NewWriterLevel(w, level)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(z, s); err != nil {
		return err
	}
	return z.Close()
}

// decompress makes a function that reads all that a reader gives, up to the largest string.
func decompress(format string, open func([]byte) (io.Reader, error)) vrl.Run {
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		r, err := open([]byte(args[0].Str()))
		if err != nil {
			return f.Fail("unable to decode value with %s decoder", value.String(format))
		}
		b, err := io.ReadAll(io.LimitReader(r, vrl.MaxStringBytes+1))
		if err != nil {
			return f.Fail("unable to decode value with %s decoder", value.String(format))
		}
		if fl := f.Room(len(b)); fl != nil {
			return value.Null, fl
		}
		return f.Made(value.View(b)), nil
	}
}

// zstdCoders are made when first needed; both are safe for concurrent use by EncodeAll and DecodeAll.
var zstdCoders = struct {
	sync.Mutex
	encoders map[zstd.EncoderLevel]*zstd.Encoder
	decoder  *zstd.Decoder
}{encoders: map[zstd.EncoderLevel]*zstd.Encoder{}}

func zstdEncoder(level zstd.EncoderLevel) (*zstd.Encoder, error) {
	zstdCoders.Lock()
	defer zstdCoders.Unlock()
	if e := zstdCoders.encoders[level]; e != nil {
		return e, nil
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
	if err == nil {
		zstdCoders.encoders[level] = e
	}
	return e, err
}

func zstdDecoder() (*zstd.Decoder, error) {
	zstdCoders.Lock()
	defer zstdCoders.Unlock()
	if zstdCoders.decoder != nil {
		return zstdCoders.decoder, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(vrl.MaxStringBytes), zstd.WithDecoderConcurrency(1))
	if err == nil {
		zstdCoders.decoder = d
	}
	return d, err
}

func encodeZstd(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	level := min(max(args[1].Int(), 1), 22)
	e, err := zstdEncoder(zstd.EncoderLevelFromZstd(int(level)))
	if err != nil {
		return f.FailErr(err)
	}
	return f.Made(value.View(e.EncodeAll([]byte(args[0].Str()), nil))), nil
}

func decodeZstd(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	d, err := zstdDecoder()
	if err != nil {
		return f.FailErr(err)
	}
	b, err := d.DecodeAll([]byte(args[0].Str()), nil)
	if err != nil {
		return f.Fail("unable to decode value with Zstd decoder")
	}
	return f.Made(value.View(b)), nil
}

func encodeSnappy(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if fl := f.Room(len(args[0].Str())); fl != nil {
		return value.Null, fl
	}
	return f.Made(value.View(s2.EncodeSnappy(nil, []byte(args[0].Str())))), nil
}

func decodeSnappy(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	b := []byte(args[0].Str())
	n, err := s2.DecodedLen(b)
	if err != nil || n > 64*(len(b)+1) { // a snappy block never grows by more
		return f.Fail("unable to decode value with Snappy decoder")
	}
	if fl := f.Room(n); fl != nil {
		return value.Null, fl
	}
	if b, err = s2.Decode(nil, b); err != nil {
		return f.Fail("unable to decode value with Snappy decoder")
	}
	return f.Made(value.View(b)), nil
}

func encodeLZ4(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	in := []byte(args[0].Str())
	if fl := f.Room(len(in)); fl != nil {
		return value.Null, fl
	}
	out := make([]byte, 4+lz4.CompressBlockBound(len(in)))
	var c lz4.Compressor
	n, err := c.CompressBlock(in, out[4:])
	if err != nil {
		return f.FailErr(err)
	}
	if len(in) == 0 { // a block has one token at least
		out[4], n = 0, 1
	}
	binary.LittleEndian.PutUint32(out, uint32(len(in)))
	if args[1].True() {
		return f.Made(value.View(out[:4+n])), nil
	}
	return f.Made(value.View(out[4 : 4+n])), nil
}

// maxLZ4Ratio is the largest number of bytes that one byte of a block expands to.
const maxLZ4Ratio = 255

func decodeLZ4(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	in, size := []byte(args[0].Str()), args[1].Int()
	if len(in) >= 4 && binary.LittleEndian.Uint32(in) == 0x184D2204 {
		return decompress("LZ4", func(b []byte) (io.Reader, error) { return lz4.NewReader(bytes.NewReader(b)), nil })(f,
			args)
	}
	if args[2].True() {
		if len(in) < 4 {
			return f.Fail("unable to decode value with LZ4 block decoder: the size is missing")
		}
		size = int64(binary.LittleEndian.Uint32(in))
		in = in[4:]
	}
	if size < 0 || size > vrl.MaxStringBytes {
		return value.Null, f.Room(vrl.MaxStringBytes + 1)
	}
	out := make([]byte, min(size, maxLZ4Ratio*int64(len(in)+1)))
	n, err := lz4.UncompressBlock(in, out)
	if err == nil && args[2].True() && int64(n) != size {
		err = errors.New("the stated size is wrong")
	}
	if err != nil {
		return f.Fail("unable to decode value with LZ4 block decoder")
	}
	return f.Made(value.View(out[:n])), nil
}
