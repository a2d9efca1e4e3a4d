package stdlib

import (
	"math"
	"math/big"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/net/publicsuffix"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// surveyFunctions measure texts and places, and read names.
var surveyFunctions = []vrl.Function{
	{Name: "shannon_entropy", Params: []vrl.Param{arg("value", vrl.String),
		word("segmentation", "byte", "byte", "codepoint", "grapheme")}, Returns: vrl.Of(vrl.Float), Run: entropy},
	{Name: "haversine", Params: []vrl.Param{arg("latitude1", vrl.Float), arg("longitude1", vrl.Float),
		arg("latitude2", vrl.Float), arg("longitude2", vrl.Float),
		word("measurement_unit", "kilometers", "kilometers", "miles")}, Returns: vrl.ObjectOf(
		knownField("distance", vrl.Of(vrl.Float)), knownField("bearing", vrl.Of(vrl.Float))), Run: haversine},
	{Name: "parse_etld", Params: []vrl.Param{arg("value", vrl.String),
		with("plus_parts", vrl.Integer, value.Int(0)), opt("psl", vrl.String)}, Fails: vrl.Always,
		Returns: vrl.ObjectOf(knownField("etld", vrl.Of(vrl.String)), knownField("etld_plus", vrl.Of(vrl.String)),
			knownField("known_suffix", vrl.Of(vrl.Boolean))), Compile: compileETLD},
	{Name: "uuid_from_friendly_id", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: fromFriendlyID},
}

// entropy is the mean information of a segment of the text, in bits.
func entropy(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	if s == "" {
		return value.Float(0), nil
	}
	total, sum := 0, 0.0
	add := func(n int) { // entropy = log2(total) - sum(n*log2(n))/total
		if n > 0 {
			total += n
			sum += float64(n) * math.Log2(float64(n))
		}
	}
	switch args[1].Str() {
	case "byte":
		var counts [256]int
		for i := range len(s) {
			counts[s[i]]++
		}
		for _, n := range counts {
			add(n)
		}
	case "codepoint":
		counts := map[rune]int{}
		for _, r := range s {
			counts[r]++
		}
		for _, n := range counts {
			add(n)
		}
	default:
		counts := map[string]int{}
		for g := uniseg.NewGraphemes(validText(s)); g.Next(); {
			counts[g.Str()]++
		}
		for _, n := range counts {
			add(n)
		}
	}
	return value.Float(max(0, math.Log2(float64(total))-sum/float64(total))), nil
}

// The mean radius of the earth.
const (
	earthKilometers   = 6371.0088
	kilometersPerMile = 1.609344
)

// haversine returns the distance on the sphere, to 7 places, and the bearing at the start in degrees, to 3.
func haversine(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	radians := func(i int) float64 { return args[i].Float() * math.Pi / 180 }
	lat1, lon1, lat2, lon2 := radians(0), radians(1), radians(2), radians(3)
	a := math.Pow(math.Sin((lat2-lat1)/2), 2) + math.Cos(lat1)*math.Cos(lat2)*math.Pow(math.Sin((lon2-lon1)/2), 2)
	radius := earthKilometers
	if args[4].Str() == "miles" {
		radius /= kilometersPerMile
	}
	distance := 2 * radius * math.Asin(math.Sqrt(min(a, 1)))
	bearing := math.Atan2(math.Sin(lon2-lon1)*math.Cos(lat2),
		math.Cos(lat1)*math.Sin(lat2)-math.Sin(lat1)*math.Cos(lat2)*math.Cos(lon2-lon1))
	degrees := math.Mod(bearing*180/math.Pi+360, 360)
	if math.IsNaN(distance) || math.IsNaN(degrees) {
		return f.Fail("operation would produce NaN")
	}
	o := f.Arena.Object(2)
	o.Append(f.Arena, "bearing", value.Float(math.Round(degrees*1e3)/1e3))
	o.Append(f.Arena, "distance", value.Float(math.Round(distance*1e7)/1e7))
	return o.Of(), nil
}

func compileETLD(c *vrl.Call) (vrl.Run, error) {
	if c.Given("psl") {
		return nil, c.Refused("a list of suffixes cannot be read from a file of the server")
	}
	return parseETLD, nil
}

// parseETLD finds the public suffix of a domain, and the suffix with so many parts before it.
func parseETLD(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	domain := strings.TrimSuffix(strings.ToLower(args[0].Str()), ".")
	if domain == "" || strings.HasPrefix(domain, ".") || strings.Contains(domain, "..") {
		return f.Fail("unable to determine eTLD for %s", args[0])
	}
	suffix, managed := publicsuffix.PublicSuffix(domain)
	from := len(domain) - len(suffix) // where the suffix with the parts before it begins
	for n := args[1].Int(); n > 0 && from > 0; n-- {
		from = strings.LastIndexByte(domain[:from-1], '.') + 1
	}
	plus := domain[from:]
	f.Arena.Made(len(domain))
	o := f.Arena.Object(3)
	o.Append(f.Arena, "etld", value.String(suffix))
	o.Append(f.Arena, "etld_plus", value.String(plus))
	o.Append(f.Arena, "known_suffix", value.Bool(managed || strings.Contains(suffix, ".")))
	return o.Of(), nil
}

const friendlyDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// fromFriendlyID reads 128 bits in base 62 and writes them as a UUID.
func fromFriendlyID(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	n, base := new(big.Int), big.NewInt(int64(len(friendlyDigits)))
	for i := range len(s) {
		d := strings.IndexByte(friendlyDigits, s[i])
		if d < 0 || len(s) > 22 { // 22 digits hold 128 bits
			return f.Fail("failed to decode friendly id: %q", args[0])
		}
		n.Mul(n, base).Add(n, big.NewInt(int64(d)))
	}
	if s == "" || n.BitLen() > 128 {
		return f.Fail("failed to decode friendly id: %q", args[0])
	}
	var u [16]byte
	n.FillBytes(u[:])
	return f.Arena.End(appendUUID(f.Arena.Begin(), u)), nil
}
