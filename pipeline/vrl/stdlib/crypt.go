package stdlib

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	byteorder "encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/nacl/secretbox"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// cryptFunctions encrypt with keys of the script.
var cryptFunctions = []vrl.Function{
	{Name: "encrypt", Params: cryptParams("plaintext"), Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: crypt(func(c ciphered) cipherRun { return c.encrypt })},
	{Name: "decrypt", Params: cryptParams("ciphertext"), Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: crypt(func(c ciphered) cipherRun { return c.decrypt })},
	{Name: "encrypt_ip", Params: ipCryptParams, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: ipCrypt(true)},
	{Name: "decrypt_ip", Params: ipCryptParams, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: ipCrypt(false)},
}

func cryptParams(text string) []vrl.Param {
	return []vrl.Param{arg(text, vrl.String), arg("algorithm", vrl.String), arg("key", vrl.String),
		arg("iv", vrl.String)}
}

// ciphered is an algorithm by its name: how long keys and initial values are, in bytes, and what it does.
type ciphered struct {
	keySize, ivSize  int
	encrypt, decrypt cipherRun
}

// cipherRun turns a text into another. It may change iv.
type cipherRun func(text, key, iv []byte) ([]byte, error)

// ciphers are the algorithms by name.
var ciphers = func() map[string]ciphered {
	all := map[string]ciphered{
		"CHACHA20-POLY1305":  sealed(chacha20poly1305.KeySize, chacha20poly1305.NonceSize, chacha20poly1305.New),
		"XCHACHA20-POLY1305": sealed(chacha20poly1305.KeySize, chacha20poly1305.NonceSizeX, chacha20poly1305.NewX),
		"XSALSA20-POLY1305":  {32, 24, sealSalsa, openSalsa},
		"AES-128-SIV":        {32, 16, sealSIV, openSIV},
		"AES-256-SIV":        {64, 16, sealSIV, openSIV},
	}
	for _, bits := range []int{128, 192, 256} {
		name, key := fmt.Sprintf("AES-%d-", bits), bits/8
		all[name+"CFB"] = ciphered{key, aes.BlockSize, cfb(true), cfb(false)}
		all[name+"OFB"] = ciphered{key, aes.BlockSize, ofb, ofb}
		all[name+"CTR"] = ciphered{key, aes.BlockSize, ctr64(byteorder.LittleEndian), ctr64(byteorder.LittleEndian)}
		all[name+"CTR-LE"] = all[name+"CTR"]
		all[name+"CTR-BE"] = ciphered{key, aes.BlockSize, ctr64(byteorder.BigEndian), ctr64(byteorder.BigEndian)}
		for padding, p := range paddings {
			all[name+"CBC-"+padding] = ciphered{key, aes.BlockSize, cbcEncrypt(p), cbcDecrypt(p)}
		}
	}
	return all
}()

// crypt makes the function of one direction.
func crypt(direction func(c ciphered) cipherRun) vrl.Run {
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		c, ok := ciphers[strings.ToUpper(args[1].Str())]
		switch {
		case !ok:
			return f.Fail("Invalid algorithm: %s", args[1])
		case len(args[2].Str()) != c.keySize:
			return f.Fail("Invalid key size. Expected %s bytes, got %s bytes", value.Int(int64(c.keySize)),
				value.Int(int64(len(args[2].Str()))))
		case len(args[3].Str()) != c.ivSize:
			return f.Fail("Invalid iv size. Expected %s bytes, got %s bytes", value.Int(int64(c.ivSize)),
				value.Int(int64(len(args[3].Str()))))
		}
		out, err := direction(c)([]byte(args[0].Str()), []byte(args[2].Str()), []byte(args[3].Str()))
		if err != nil {
			return f.FailErr(err)
		}
		return f.Made(value.View(out)), nil
	}
}

// streamed is AES that makes a stream of blocks, which the text is added to. next makes the block of iv; used sees
// text, in and out, of that block, and may set iv for the next one.
func streamed(next func(block cipher.Block, stream, iv []byte), used func(iv, in, out []byte)) cipherRun {
	return func(text, key, iv []byte) ([]byte, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		var stream [aes.BlockSize]byte
		out := make([]byte, len(text))
		for i := 0; i < len(text); i += aes.BlockSize {
			next(block, stream[:], iv)
			n := subtle.XORBytes(out[i:], text[i:], stream[:])
			used(iv, text[i:i+n], out[i:i+n])
		}
		return out, nil
	}
}

func encrypted(block cipher.Block, stream, iv []byte) { block.Encrypt(stream, iv) }

// cfb is cipher feedback by whole blocks.
func cfb(encrypt bool) cipherRun {
	return streamed(encrypted, func(iv, in, out []byte) {
		if encrypt {
			in = out
		}
		copy(iv, in)
	})
}

// ofb is output feedback.
var ofb = streamed(func(block cipher.Block, stream, iv []byte) {
	block.Encrypt(iv, iv)
	copy(stream, iv)
}, func(_, _, _ []byte) {})

// ctr64 is counter mode with the counter in the last eight bytes.
func ctr64(order byteorder.ByteOrder) cipherRun {
	return streamed(encrypted, func(iv, _, _ []byte) {
		order.PutUint64(iv[8:], order.Uint64(iv[8:])+1)
	})
}

// padding fills a last block and finds how much of it was filled.
type padding struct {
	fill   func(rest []byte) error
	filled func(block []byte) (n int, ok bool)
}

var errPadding = errors.New("invalid input: the padding is wrong")

// lastByte is the number of bytes filled as the last byte says; good checks those before it.
func lastByte(good func(b, n byte) bool) func([]byte) (int, bool) {
	return func(block []byte) (int, bool) {
		n := block[len(block)-1]
		if n == 0 || int(n) > len(block) {
			return 0, false
		}
		for _, b := range block[len(block)-int(n) : len(block)-1] {
			if !good(b, n) {
				return 0, false
			}
		}
		return int(n), true
	}
}

var paddings = map[string]padding{
	"PKCS7": {func(rest []byte) error {
		for i := range rest {
			rest[i] = byte(len(rest))
		}
		return nil
	}, lastByte(func(b, n byte) bool { return b == n })},
	"ANSIX923": {func(rest []byte) error { rest[len(rest)-1] = byte(len(rest)); return nil },
		lastByte(func(b, _ byte) bool { return b == 0 })},
	"ISO10126": {func(rest []byte) error {
		_, err := rand.Read(rest)
		rest[len(rest)-1] = byte(len(rest))
		return err
	}, lastByte(func(byte, byte) bool { return true })},
	"ISO7816": {func(rest []byte) error { rest[0] = 0x80; return nil }, func(block []byte) (int, bool) {
		for i := len(block) - 1; i >= 0; i-- {
			if block[i] != 0 {
				return len(block) - i, block[i] == 0x80
			}
		}
		return 0, false
	}},
}

func cbcEncrypt(p padding) func(text, key, iv []byte) ([]byte, error) {
	return func(text, key, iv []byte) ([]byte, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		out := make([]byte, len(text)/aes.BlockSize*aes.BlockSize+aes.BlockSize)
		if err := p.fill(out[copy(out, text):]); err != nil {
			return nil, err
		}
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
		return out, nil
	}
}

func cbcDecrypt(p padding) func(text, key, iv []byte) ([]byte, error) {
	return func(text, key, iv []byte) ([]byte, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if len(text) == 0 || len(text)%aes.BlockSize != 0 {
			return nil, errPadding
		}
		out := make([]byte, len(text))
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, text)
		n, ok := p.filled(out[len(out)-aes.BlockSize:])
		if !ok {
			return nil, errPadding
		}
		return out[:len(out)-n], nil
	}
}

var errSeal = errors.New("invalid input: the text was not made with this key and iv")

// sealed is an algorithm that also authenticates.
func sealed(keySize, ivSize int, open func(key []byte) (cipher.AEAD, error)) ciphered {
	return ciphered{keySize, ivSize, func(text, key, iv []byte) ([]byte, error) {
		c, err := open(key)
		if err != nil {
			return nil, err
		}
		return c.Seal(nil, iv, text, nil), nil
	}, func(text, key, iv []byte) ([]byte, error) {
		c, err := open(key)
		if err != nil {
			return nil, err
		}
		out, err := c.Open(nil, iv, text, nil)
		if err != nil {
			return nil, errSeal
		}
		return out, nil
	}}
}

func sealSalsa(text, key, iv []byte) ([]byte, error) {
	return secretbox.Seal(nil, text, (*[24]byte)(iv), (*[32]byte)(key)), nil
}

func openSalsa(text, key, iv []byte) ([]byte, error) {
	out, ok := secretbox.Open(nil, text, (*[24]byte)(iv), (*[32]byte)(key))
	if !ok {
		return nil, errSeal
	}
	return out, nil
}

// doubled is a block doubled in the field of CMAC.
func doubled(b [16]byte) (d [16]byte) {
	carry := byte(0)
	for i := 15; i >= 0; i-- {
		d[i] = b[i]<<1 | carry
		carry = b[i] >> 7
	}
	d[15] ^= carry * 0x87
	return d
}

// cmac is the AES-CMAC of a text. Source: RFC 4493.
func cmac(block cipher.Block, text []byte) (mac [16]byte) {
	var zero, key [16]byte
	block.Encrypt(key[:], zero[:])
	key = doubled(key)
	for len(text) > 16 {
		subtle.XORBytes(mac[:], mac[:], text[:16])
		block.Encrypt(mac[:], mac[:])
		text = text[16:]
	}
	var last [16]byte
	if n := copy(last[:], text); n < 16 {
		last[n] = 0x80
		key = doubled(key)
	}
	subtle.XORBytes(last[:], last[:], key[:])
	subtle.XORBytes(mac[:], mac[:], last[:])
	block.Encrypt(mac[:], mac[:])
	return mac
}

// siv makes the ciphers of the two halves of a key: for the code that stands for the text, and for the text. Source:
// RFC 5297.
func siv(key []byte) (mac, stream cipher.Block, err error) {
	if mac, err = aes.NewCipher(key[:len(key)/2]); err != nil {
		return nil, nil, err
	}
	stream, err = aes.NewCipher(key[len(key)/2:])
	return mac, stream, err
}

// synthetic is the initial value that stands for a text and its nonce.
func synthetic(mac cipher.Block, text, nonce []byte) [16]byte {
	d := cmac(mac, make([]byte, 16))
	n := cmac(mac, nonce)
	d = doubled(d)
	subtle.XORBytes(d[:], d[:], n[:])
	if len(text) >= 16 {
		t := append([]byte(nil), text...)
		end := t[len(t)-16:]
		subtle.XORBytes(end, end, d[:])
		return cmac(mac, t)
	}
	d = doubled(d)
	var padded [16]byte
	padded[copy(padded[:], text)] = 0x80
	subtle.XORBytes(padded[:], padded[:], d[:])
	return cmac(mac, padded[:])
}

// sivStream is the counter stream of a synthetic initial value.
func sivStream(block cipher.Block, v [16]byte) cipher.Stream {
	v[8] &= 0x7f
	v[12] &= 0x7f
	return cipher.NewCTR(block, v[:])
}

func sealSIV(text, key, iv []byte) ([]byte, error) {
	mac, block, err := siv(key)
	if err != nil {
		return nil, err
	}
	v := synthetic(mac, text, iv)
	out := append(v[:], text...)
	sivStream(block, v).XORKeyStream(out[16:], out[16:])
	return out, nil
}

func openSIV(text, key, iv []byte) ([]byte, error) {
	mac, block, err := siv(key)
	if err != nil {
		return nil, err
	}
	if len(text) < 16 {
		return nil, errSeal
	}
	v := [16]byte(text)
	out := make([]byte, len(text)-16)
	sivStream(block, v).XORKeyStream(out, text[16:])
	want := synthetic(mac, out, iv)
	if subtle.ConstantTimeCompare(v[:], want[:]) != 1 {
		return nil, errSeal
	}
	return out, nil
}

var ipCryptParams = []vrl.Param{arg("ip", vrl.String), arg("key", vrl.String), word("mode", "", "aes128", "pfx")}

// ipCrypt encrypts an address to an address: as one block of AES, or bit by bit so that common prefixes stay common.
// Source: the IPCrypt specification, its deterministic and prefix-preserving modes.
func ipCrypt(encrypt bool) vrl.Run {
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		ip, ok := address(args[0].Str())
		if !ok {
			return f.Fail("unable to parse IP address: invalid IP address syntax")
		}
		key, mode := []byte(args[1].Str()), args[2].Str()
		want := map[string]int{"aes128": 16, "pfx": 32}[mode]
		if len(key) != want {
			return f.Fail("%s mode requires a %s-byte key", args[2], value.Int(int64(want)))
		}
		if mode == "pfx" && subtle.ConstantTimeCompare(key[:16], key[16:]) == 1 {
			return f.Fail("the two halves of the key must be different")
		}
		first, err := aes.NewCipher(key[:16])
		if err != nil {
			return f.FailErr(err)
		}
		b := ip.As16()
		if mode == "aes128" {
			if encrypt {
				first.Encrypt(b[:], b[:])
			} else {
				first.Decrypt(b[:], b[:])
			}
			return addressText(f, netip.AddrFrom16(b).Unmap()), nil
		}
		second, err := aes.NewCipher(key[16:])
		if err != nil {
			return f.FailErr(err)
		}
		return addressText(f, netip.AddrFrom16(prefixCrypt(first, second, b, ip.Is4(), encrypt)).Unmap()), nil
	}
}

// prefixCrypt turns each bit by a bit that depends on those before it.
func prefixCrypt(first, second cipher.Block, in [16]byte, four, encrypt bool) [16]byte {
	out, start := [16]byte{}, 0
	padded := [16]byte{15: 1}
	if four {
		copy(out[:12], in[:12])
		start = 96
		padded = [16]byte{3: 1, 14: 0xff, 15: 0xff}
	}
	var a, b [16]byte
	for i := start; i < 128; i++ {
		first.Encrypt(a[:], padded[:])
		second.Encrypt(b[:], padded[:])
		bit := in[i/8] >> (7 - i%8) & 1
		turned := bit ^ (a[15]^b[15])&1
		out[i/8] |= turned << (7 - i%8)
		if !encrypt {
			bit = turned
		}
		carry := bit
		for k := 15; k >= 0; k-- {
			padded[k], carry = padded[k]<<1|carry, padded[k]>>7
		}
	}
	return out
}
