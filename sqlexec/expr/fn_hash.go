package expr

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"varve/engine/vector"
)

// digests are the hash functions by name.
var digests = map[string]func(b []byte) []byte{
	"md5":    func(b []byte) []byte { s := md5.Sum(b); return s[:] },
	"sha1":   func(b []byte) []byte { s := sha1.Sum(b); return s[:] },
	"sha224": func(b []byte) []byte { s := sha256.Sum224(b); return s[:] },
	"sha256": func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
	"sha384": func(b []byte) []byte { s := sha512.Sum384(b); return s[:] },
	"sha512": func(b []byte) []byte { s := sha512.Sum512(b); return s[:] },
}

func registerHashes() {
	for _, name := range []string{"md5", "sha1", "sha224", "sha256", "sha384", "sha512"} {
		sum := digests[name]
		ofBytes(str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
			return hex.AppendEncode(dst, sum(a[0].Bytes(i)))
		}), name)
	}
	simple(2, sig{vector.BinaryType, str}, vector.BinaryType,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				var b []byte
				if valid == nil || valid.Get(i) {
					sum := digests[strings.ToLower(a[1].Str(i))]
					if sum == nil {
						return execError(
							"digest: unknown algorithm '%s', there are md5, sha1, sha224, sha256, sha384 and sha512",
							a[1].Bytes(i))
					}
					b = sum(a[0].Bytes(i))
				}
				out.PushBytes(b)
			}
			return nil
		}, "digest")
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		b, err := c.Cast(args[0], vector.BinaryType, false)
		if err != nil {
			return nil, str, nil, err
		}
		encoding, err := c.Cast(args[1], str, false)
		if err != nil {
			return nil, str, nil, err
		}
		return []Expr{b, encoding}, str,
			func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
				for i := range n {
					if err := makeRoom(out, int64(hex.EncodedLen(len(a[0].Bytes(i))))); err != nil {
						return err
					}
					at := len(out.Heap)
					if valid == nil || valid.Get(i) {
						switch strings.ToLower(a[1].Str(i)) {
						case "hex":
							out.Heap = hex.AppendEncode(out.Heap, a[0].Bytes(i))
						case "base64":
							out.Heap = base64.RawStdEncoding.AppendEncode(out.Heap, a[0].Bytes(i))
						default:
							return execError("encode: unknown encoding '%s', there are hex and base64", a[1].Str(i))
						}
					}
					if err := endText(out, at); err != nil {
						return err
					}
				}
				return nil
			}, nil
	}}, "encode")
	simple(2, sig{str, str}, vector.BinaryType,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				var b []byte
				var err error
				if valid == nil || valid.Get(i) {
					switch strings.ToLower(a[1].Str(i)) {
					case "hex":
						b, err = hex.DecodeString(a[0].Str(i))
					case "base64":
						b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(a[0].Str(i), "="))
					default:
						return execError("decode: unknown encoding '%s', there are hex and base64", a[1].Str(i))
					}
				}
				if err != nil {
					return execError("decode: %v", err)
				}
				if err := pushText(out, b); err != nil {
					return err
				}
			}
			return nil
		}, "decode")
	register(&Function{volatile: true, max: 0,
		bind: func(_ *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			return args, str, func(n int, _ []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				for range n {
					var b [16]byte
					rand.Read(b[:])
					b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
					h := hex.EncodeToString(b[:])
					out.PushBytes([]byte(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]))
				}
				return nil
			}, nil
		}}, "uuid")
}
