package vrl

import (
	"context"
	"log/slog"
	"math"
	"math/big"
	"os"
	"strings"
	"sync/atomic"

	"github.com/rivo/uniseg"
	"golang.org/x/net/publicsuffix"

	"varve/pipeline/value"
)

// pathFunctions and surveyFunctions work on file paths and measure texts and places; hostFunctions look at the server.
var (
	pathFunctions = []Function{
		{Name: "basename", Params: stringParam, Fails: Always, Returns: Of(String, Null), Run: basename},
		{Name: "dirname", Params: stringParam, Fails: Always, Returns: Of(String), Run: dirname},
		{Name: "split_path", Params: stringParam, Returns: ArrayOf(Of(String)), Run: splitPath},
	}
	surveyFunctions = []Function{
		{Name: "shannon_entropy", Params: []Param{arg("value", String), word("segmentation", "byte", "byte", "codepoint", "grapheme")}, Returns: Of(Float), Run: entropy},
		{Name: "haversine", Params: []Param{arg("latitude1", Float), arg("longitude1", Float), arg("latitude2", Float), arg("longitude2", Float),
			word("measurement_unit", "kilometers", "kilometers", "miles")}, Returns: ObjectOf(Known{"distance", Of(Float)}, Known{"bearing", Of(Float)}), Run: haversine},
		{Name: "parse_etld", Params: []Param{arg("value", String), with("plus_parts", Integer, value.Int(0)), opt("psl", String)}, Fails: Always,
			Returns: ObjectOf(Known{"etld", Of(String)}, Known{"etld_plus", Of(String)}, Known{"known_suffix", Of(Boolean)}), Compile: compileETLD},
		{Name: "uuid_from_friendly_id", Params: stringParam, Fails: Always, Returns: Of(String), Run: fromFriendlyID},
	}
	hostFunctions = []Function{
		{Name: "log", Params: []Param{arg("value", AnyValue), word("level", "info", "trace", "debug", "info", "warn", "error"),
			with("rate_limit_secs", Integer, value.Int(1))}, Returns: Of(Null), Compile: compileLog},
		{Name: "get_hostname", Fails: Always, Returns: Of(String), Run: func(f *Frame, _ []value.Value) (value.Value, *Failure) {
			name, err := os.Hostname()
			if err != nil {
				return f.Fail("failed to get hostname: %s", value.String(err.Error()))
			}
			return value.String(name), nil
		}},
		{Name: "get_timezone_name", Fails: Always, Returns: Of(String), Run: func(f *Frame, _ []value.Value) (value.Value, *Failure) {
			return value.String(f.Zone().String()), nil
		}},
	}
)

// basename is the last name of a path, null when there is none.
func basename(_ *Frame, args []value.Value) (value.Value, *Failure) {
	s := strings.TrimRight(args[0].Str(), "/")
	name := s[strings.LastIndexByte(s, '/')+1:]
	if name == "" {
		return value.Null, nil
	}
	return value.String(name), nil
}

// dirname is a path without its last name.
func dirname(_ *Frame, args []value.Value) (value.Value, *Failure) {
	s := args[0].Str()
	trimmed := strings.TrimRight(s, "/")
	at := strings.LastIndexByte(trimmed, '/')
	switch {
	case trimmed == "" && s != "":
		return value.String("/"), nil
	case at < 0:
		return value.String("."), nil
	}
	if dir := strings.TrimRight(trimmed[:at], "/"); dir != "" {
		return value.String(dir), nil
	}
	return value.String("/"), nil
}

// splitPath gives the names of a path; the root is one.
func splitPath(f *Frame, args []value.Value) (value.Value, *Failure) {
	s := args[0].Str()
	list := f.Arena.Array(8)
	if strings.HasPrefix(s, "/") {
		list.Push(f.Arena, value.String("/"))
	}
	for name := range strings.SplitSeq(s, "/") {
		if name != "" {
			list.Push(f.Arena, value.String(name))
		}
	}
	return list.Of(), f.Spend(list.Len())
}

// entropy is the mean information of a segment of the text, in bits.
func entropy(_ *Frame, args []value.Value) (value.Value, *Failure) {
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

// haversine gives the distance on the sphere, to 7 places, and the bearing at the start in degrees, to 3.
func haversine(f *Frame, args []value.Value) (value.Value, *Failure) {
	radians := func(i int) float64 { return args[i].Float() * math.Pi / 180 }
	lat1, lon1, lat2, lon2 := radians(0), radians(1), radians(2), radians(3)
	a := math.Pow(math.Sin((lat2-lat1)/2), 2) + math.Cos(lat1)*math.Cos(lat2)*math.Pow(math.Sin((lon2-lon1)/2), 2)
	radius := earthKilometers
	if args[4].Str() == "miles" {
		radius /= kilometersPerMile
	}
	distance := 2 * radius * math.Asin(math.Sqrt(min(a, 1)))
	bearing := math.Atan2(math.Sin(lon2-lon1)*math.Cos(lat2), math.Cos(lat1)*math.Sin(lat2)-math.Sin(lat1)*math.Cos(lat2)*math.Cos(lon2-lon1))
	degrees := math.Mod(bearing*180/math.Pi+360, 360)
	if math.IsNaN(distance) || math.IsNaN(degrees) {
		return f.Fail("operation would produce NaN")
	}
	o := f.Arena.Object(2)
	o.Append(f.Arena, "bearing", value.Float(math.Round(degrees*1e3)/1e3))
	o.Append(f.Arena, "distance", value.Float(math.Round(distance*1e7)/1e7))
	return o.Of(), nil
}

func compileETLD(c *Call) (Run, error) {
	if c.Given("psl") {
		return nil, c.Refused("a list of suffixes cannot be read from a file of the server")
	}
	return parseETLD, nil
}

// parseETLD finds the public suffix of a domain, and the suffix with so many parts before it.
func parseETLD(f *Frame, args []value.Value) (value.Value, *Failure) {
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
func fromFriendlyID(f *Frame, args []value.Value) (value.Value, *Failure) {
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

var logLevels = map[string]slog.Level{"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// compileLog writes to the server's log, for each call in a script at most once in so many seconds.
func compileLog(c *Call) (Run, error) {
	level, _ := c.Const("level")
	at := logLevels[level.Str()]
	last := new(atomic.Int64) // nanoseconds of the last line; 0: none yet
	return func(f *Frame, args []value.Value) (value.Value, *Failure) {
		now, before := f.Now().UnixNano(), last.Load()
		seconds := min(max(args[2].Int(), 0), 1<<30)
		if before != 0 && now-before < seconds*1e9 || !last.CompareAndSwap(before, now) {
			return value.Null, nil
		}
		text := args[0]
		if text.Kind() != value.StringKind {
			text = value.Bytes(value.AppendJSON(nil, text))
		}
		slog.Log(context.Background(), at, text.Str(), "source", "vrl")
		return value.Null, nil
	}, nil
}
