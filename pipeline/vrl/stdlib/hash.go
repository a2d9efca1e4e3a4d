package stdlib

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"hash"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// hashFunctions compute digests.
var hashFunctions = []vrl.Function{
	{Name: "md5", Params: stringParam, Returns: vrl.Of(vrl.String), Run: hexDigest(md5.New)},
	{Name: "sha1", Params: stringParam, Returns: vrl.Of(vrl.String), Run: hexDigest(sha1.New)},
	{Name: "sha2", Params: []vrl.Param{arg("value", vrl.String), word("variant", "SHA-512/256", sha2Names...)},
		Returns: vrl.Of(vrl.String), Compile: variantDigest(sha2Variants)},
	{Name: "sha3", Params: []vrl.Param{arg("value", vrl.String), word("variant", "SHA3-512", sha3Names...)},
		Returns: vrl.Of(vrl.String), Compile: variantDigest(sha3Variants)},
	{Name: "hmac", Params: []vrl.Param{arg("value", vrl.String), arg("key", vrl.String), text("algorithm", "SHA-256")},
		Fails: vrl.UnlessConst("algorithm",
			func(v value.Value) bool { return v.Kind() == value.StringKind && hmacVariants[v.Str()] != nil }),
		Returns: vrl.Of(vrl.String), Compile: compileHMAC},
}

var sha2Names = []string{"SHA-224", "SHA-256", "SHA-384", "SHA-512", "SHA-512/224", "SHA-512/256"}

var sha2Variants = map[string]func() hash.Hash{"SHA-224": sha256.New224, "SHA-256": sha256.New,
	"SHA-384": sha512.New384, "SHA-512": sha512.New,
	"SHA-512/224": sha512.New512_224, "SHA-512/256": sha512.New512_256}

var sha3Names = []string{"SHA3-224", "SHA3-256", "SHA3-384", "SHA3-512"}

var sha3Variants = map[string]func() hash.Hash{"SHA3-224": func() hash.Hash { return sha3.New224() },
	"SHA3-256": func() hash.Hash { return sha3.New256() },
	"SHA3-384": func() hash.Hash { return sha3.New384() }, "SHA3-512": func() hash.Hash { return sha3.New512() }}

var hmacVariants = map[string]func() hash.Hash{"SHA1": sha1.New, "SHA-224": sha256.New224, "SHA-256": sha256.New,
	"SHA-384": sha512.New384, "SHA-512": sha512.New}

// hexDigest makes a function that gives the digest of a text in hexadecimal.
func hexDigest(newHash func() hash.Hash) vrl.Run {
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		h := newHash()
		h.Write([]byte(args[0].Str()))
		var sum [64]byte
		return f.Arena.End(hex.AppendEncode(f.Arena.Begin(), h.Sum(sum[:0]))), nil
	}
}

// variantDigest takes the digest from the constant variant of the call.
func variantDigest(variants map[string]func() hash.Hash) func(c *vrl.Call) (vrl.Run, error) {
	return func(c *vrl.Call) (vrl.Run, error) {
		name, _ := c.Const("variant")
		return hexDigest(variants[name.Str()]), nil
	}
}

func compileHMAC(c *vrl.Call) (vrl.Run, error) {
	var constant func() hash.Hash
	if name, ok := c.Const("algorithm"); ok && name.Kind() == value.StringKind {
		if constant = hmacVariants[name.Str()]; constant == nil {
			return nil, c.Invalid("algorithm", "invalid algorithm: %s", name.Str())
		}
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		newHash := constant
		if newHash == nil {
			if newHash = hmacVariants[args[2].Str()]; newHash == nil {
				return f.Fail("Invalid algorithm: %s", args[2])
			}
		}
		h := hmac.New(newHash, []byte(args[1].Str()))
		h.Write([]byte(args[0].Str()))
		return f.Arena.End(h.Sum(f.Arena.Begin())), nil
	}, nil
}
