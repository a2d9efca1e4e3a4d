package stdlib

import (
	"math/big"
	"math/bits"
	"strings"
	"sync"
)

// crcAlgorithm is a cyclic redundancy check, as the catalogue of parametrised CRC algorithms describes them.
type crcAlgorithm struct {
	width              uint
	poly, init, xorOut crcWord
	reflected, refOut  bool
	once               sync.Once
	start              crcWord      // init as the register holds it
	table              [256]crcWord // what each byte does to the register
	check              string       // of the text 123456789, in hexadecimal
}

// crcWord holds up to 128 bits.
type crcWord struct{ hi, lo uint64 }

func (a crcWord) xor(b crcWord) crcWord { return crcWord{a.hi ^ b.hi, a.lo ^ b.lo} }

func (a crcWord) left(n uint) crcWord {
	if n >= 64 {
		return crcWord{a.lo << (n - 64), 0}
	}
	return crcWord{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

func (a crcWord) right(n uint) crcWord {
	if n >= 64 {
		return crcWord{0, a.hi >> (n - 64)}
	}
	return crcWord{a.hi >> n, a.lo>>n | a.hi<<(64-n)}
}

// reverse turns the lowest width bits around.
func (a crcWord) reverse(width uint) crcWord {
	return crcWord{bits.Reverse64(a.lo), bits.Reverse64(a.hi)}.right(128 - width)
}

// prepare makes the table. The register of checks that are not reflected stands at the top of 128 bits, so that widths
// below eight are no case of their own.
func (t *crcAlgorithm) prepare() {
	if t.reflected {
		t.start = t.init.reverse(t.width)
		poly := t.poly.reverse(t.width)
		for i := range t.table {
			r := crcWord{0, uint64(i)}
			for range 8 {
				low := r.lo & 1
				if r = r.right(1); low != 0 {
					r = r.xor(poly)
				}
			}
			t.table[i] = r
		}
		return
	}
	t.start = t.init.left(128 - t.width)
	poly := t.poly.left(128 - t.width)
	for i := range t.table {
		r := crcWord{uint64(i) << 56, 0}
		for range 8 {
			high := r.hi >> 63
			if r = r.left(1); high != 0 {
				r = r.xor(poly)
			}
		}
		t.table[i] = r
	}
}

// sum is the check of a text, in decimal.
func (t *crcAlgorithm) sum(s string) string {
	t.once.Do(t.prepare)
	r := t.start
	if t.reflected {
		for i := range len(s) {
			r = r.right(8).xor(t.table[byte(r.lo)^s[i]])
		}
	} else {
		for i := range len(s) {
			r = r.left(8).xor(t.table[byte(r.hi>>56)^s[i]])
		}
		r = r.right(128 - t.width)
	}
	if t.reflected != t.refOut {
		r = r.reverse(t.width)
	}
	r = r.xor(t.xorOut)
	n := new(big.Int).SetUint64(r.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.lo)).String()
}

// crcAlgorithms are the algorithms by name.
var crcAlgorithms = func() map[string]*crcAlgorithm {
	all := map[string]*crcAlgorithm{}
	for line := range strings.Lines(crcCatalogue) {
		p := strings.Fields(line)
		if len(p) != 7 {
			continue
		}
		width, _ := decimal(p[1])
		t := &crcAlgorithm{width: uint(width), poly: hexWord(p[2]), init: hexWord(p[3]), reflected: p[4][0] == 'r',
			refOut: p[4][1] == 'r', xorOut: hexWord(p[5]), check: p[6]}
		all["CRC_"+p[0]] = t
	}
	return all
}()

// hexWord reads up to 128 bits.
func hexWord(s string) crcWord {
	n, ok := new(big.Int).SetString(s, 16)
	if !ok {
		panic("vrl: the CRC catalogue has a bad number " + s)
	}
	hi := new(big.Int).Rsh(n, 64)
	lo := new(big.Int).Sub(n, new(big.Int).Lsh(hi, 64))
	return crcWord{hi.Uint64(), lo.Uint64()}
}

// crcCatalogue has, for each algorithm: name, width, polynomial, initial register, reflected in and out (r or -), what
// is xored at the end, and the check of the text 123456789. Source: the catalogue of parametrised CRC algorithms
// (reveng).
const crcCatalogue = `
3_GSM 3 3 0 -- 7 4
3_ROHC 3 3 7 rr 0 6
4_G_704 4 3 0 rr 0 7
4_INTERLAKEN 4 3 f -- f b
5_EPC_C1G2 5 9 9 -- 0 0
5_G_704 5 15 0 rr 0 7
5_USB 5 5 1f rr 1f 19
6_CDMA2000_A 6 27 3f -- 0 d
6_CDMA2000_B 6 7 3f -- 0 3b
6_DARC 6 19 0 rr 0 26
6_G_704 6 3 0 rr 0 6
6_GSM 6 2f 0 -- 3f 13
7_MMC 7 9 0 -- 0 75
7_ROHC 7 4f 7f rr 0 53
7_UMTS 7 45 0 -- 0 61
8_AUTOSAR 8 2f ff -- ff df
8_BLUETOOTH 8 a7 0 rr 0 26
8_CDMA2000 8 9b ff -- 0 da
8_DARC 8 39 0 rr 0 15
8_DVB_S2 8 d5 0 -- 0 bc
8_GSM_A 8 1d 0 -- 0 37
8_GSM_B 8 49 0 -- ff 94
8_HITAG 8 1d ff -- 0 b4
8_I_432_1 8 7 0 -- 55 a1
8_I_CODE 8 1d fd -- 0 7e
8_LTE 8 9b 0 -- 0 ea
8_MAXIM_DOW 8 31 0 rr 0 a1
8_MIFARE_MAD 8 1d c7 -- 0 99
8_NRSC_5 8 31 ff -- 0 f7
8_OPENSAFETY 8 2f 0 -- 0 3e
8_ROHC 8 7 ff rr 0 d0
8_SAE_J1850 8 1d ff -- ff 4b
8_SMBUS 8 7 0 -- 0 f4
8_TECH_3250 8 1d ff rr 0 97
8_WCDMA 8 9b 0 rr 0 25
10_ATM 10 233 0 -- 0 199
10_CDMA2000 10 3d9 3ff -- 0 233
10_GSM 10 175 0 -- 3ff 12a
11_FLEXRAY 11 385 1a -- 0 5a3
11_UMTS 11 307 0 -- 0 61
12_CDMA2000 12 f13 fff -- 0 d4d
12_DECT 12 80f 0 -- 0 f5b
12_GSM 12 d31 0 -- fff b34
12_UMTS 12 80f 0 -r 0 daf
13_BBC 13 1cf5 0 -- 0 4fa
14_DARC 14 805 0 rr 0 82d
14_GSM 14 202d 0 -- 3fff 30ae
15_CAN 15 4599 0 -- 0 59e
15_MPT1327 15 6815 0 -- 1 2566
16_ARC 16 8005 0 rr 0 bb3d
16_CDMA2000 16 c867 ffff -- 0 4c06
16_CMS 16 8005 ffff -- 0 aee7
16_DDS_110 16 8005 800d -- 0 9ecf
16_DECT_R 16 589 0 -- 1 7e
16_DECT_X 16 589 0 -- 0 7f
16_DNP 16 3d65 0 rr ffff ea82
16_EN_13757 16 3d65 0 -- ffff c2b7
16_GENIBUS 16 1021 ffff -- ffff d64e
16_GSM 16 1021 0 -- ffff ce3c
16_IBM_3740 16 1021 ffff -- 0 29b1
16_IBM_SDLC 16 1021 ffff rr ffff 906e
16_ISO_IEC_14443_3_A 16 1021 c6c6 rr 0 bf05
16_KERMIT 16 1021 0 rr 0 2189
16_LJ1200 16 6f63 0 -- 0 bdf4
16_M17 16 5935 ffff -- 0 772b
16_MAXIM_DOW 16 8005 0 rr ffff 44c2
16_MCRF4XX 16 1021 ffff rr 0 6f91
16_MODBUS 16 8005 ffff rr 0 4b37
16_NRSC_5 16 80b ffff rr 0 a066
16_OPENSAFETY_A 16 5935 0 -- 0 5d38
16_OPENSAFETY_B 16 755b 0 -- 0 20fe
16_PROFIBUS 16 1dcf ffff -- ffff a819
16_RIELLO 16 1021 b2aa rr 0 63d0
16_SPI_FUJITSU 16 1021 1d0f -- 0 e5cc
16_T10_DIF 16 8bb7 0 -- 0 d0db
16_TELEDISK 16 a097 0 -- 0 fb3
16_TMS37157 16 1021 89ec rr 0 26b1
16_UMTS 16 8005 0 -- 0 fee8
16_USB 16 8005 ffff rr ffff b4c8
16_XMODEM 16 1021 0 -- 0 31c3
17_CAN_FD 17 1685b 0 -- 0 4f03
21_CAN_FD 21 102899 0 -- 0 ed841
24_BLE 24 65b 555555 rr 0 c25a56
24_FLEXRAY_A 24 5d6dcb fedcba -- 0 7979bd
24_FLEXRAY_B 24 5d6dcb abcdef -- 0 1f23b8
24_INTERLAKEN 24 328b63 ffffff -- ffffff b4f3e6
24_LTE_A 24 864cfb 0 -- 0 cde703
24_LTE_B 24 800063 0 -- 0 23ef52
24_OPENPGP 24 864cfb b704ce -- 0 21cf02
24_OS_9 24 800063 ffffff -- ffffff 200fa5
30_CDMA 30 2030b9c7 3fffffff -- 3fffffff 4c34abf
31_PHILIPS 31 4c11db7 7fffffff -- 7fffffff ce9e46c
32_AIXM 32 814141ab 0 -- 0 3010bf7f
32_AUTOSAR 32 f4acfb13 ffffffff rr ffffffff 1697d06a
32_BASE91_D 32 a833982b ffffffff rr ffffffff 87315576
32_BZIP2 32 4c11db7 ffffffff -- ffffffff fc891918
32_CD_ROM_EDC 32 8001801b 0 rr 0 6ec2edc4
32_CKSUM 32 4c11db7 0 -- ffffffff 765e7680
32_ISCSI 32 1edc6f41 ffffffff rr ffffffff e3069283
32_ISO_HDLC 32 4c11db7 ffffffff rr ffffffff cbf43926
32_JAMCRC 32 4c11db7 ffffffff rr 0 340bc6d9
32_MEF 32 741b8cd7 ffffffff rr 0 d2c22f51
32_MPEG_2 32 4c11db7 ffffffff -- 0 376e6e7
32_XFER 32 af 0 -- 0 bd0be338
40_GSM 40 4820009 0 -- ffffffffff d4164fc646
64_ECMA_182 64 42f0e1eba9ea3693 0 -- 0 6c40df5f0b497347
64_GO_ISO 64 1b ffffffffffffffff rr ffffffffffffffff b90956c775a41001
64_MS 64 259c84cba6426349 ffffffffffffffff rr 0 75d4b74f024eceea
64_REDIS 64 ad93d23594c935a9 0 rr 0 e9c6d914c4b8d9ca
64_WE 64 42f0e1eba9ea3693 ffffffffffffffff -- ffffffffffffffff 62ec59e3f1a4f00a
64_XZ 64 42f0e1eba9ea3693 ffffffffffffffff rr ffffffffffffffff 995dc9bbdf1939fa
82_DARC 82 308c0111011401440411 0 rr 0 9ea83f625023801fd612
`
