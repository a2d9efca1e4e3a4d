package logapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// jsonText is a text as a value of JSON.
func jsonText(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestNeedlesInWords: line filters find texts within words, at their edges and across them, whatever stands beside the
// words, in every state of the tables.
func TestNeedlesInWords(t *testing.T) {
	const letters = "abcdefghijkskSKLMNOPQRSTUVWXYZ0123456789"
	for n, in := range states {
		r := rand.New(rand.NewPCG(uint64(n), 75))
		word := func(length int) string {
			w := make([]byte, length)
			for i := range w {
				w[i] = letters[r.IntN(len(letters))]
			}
			return string(w)
		}
		var s script
		var lines []string
		for i := range 60 {
			w := word([]int{11, 12, 13, 23, 24, 25, 26, 48, 64, 90}[i%10])
			beside := []string{"", " ", "é", "ſ", "\u212a", "漢", "_", "-", `\n`, "\\\"", "\xc2\xa0", "\u0130", "%", "5"}
			left, right := beside[r.IntN(len(beside))], beside[r.IntN(len(beside))]
			text := left + w + right
			switch i % 4 {
			case 1:
				text = fmt.Sprintf("request %d of user took %d ms id=%s", i, r.IntN(1000), text)
			case 2:
				text = fmt.Sprintf(`{"at":"%d","id":%q,"ok":true}`, i, text)
			case 3: // letters that fold to ASCII
				text = strings.NewReplacer("k", "\u212a", "s", "ſ").Replace(text) + " " + text
			}
			lines = append(lines, text)
			s.pushes = append(s.pushes, fmt.Sprintf(`{"streams":[{"stream":{"app":"a"},"values":[["%d",%s]]}]}`,
				base*int64(1e9)+int64(i), jsonText(text)))
		}
		h := pushed(t, s, in)
		for range 300 {
			line := []rune(lines[r.IntN(len(lines))])
			length := min([]int{11, 12, 13, 14, 23, 24, 25, 26, 40}[r.IntN(9)], len(line))
			at := r.IntN(len(line) - length + 1)
			needle := string(line[at : at+length])
			switch r.IntN(4) {
			case 0:
				needle = strings.ToUpper(needle)
			case 1:
				needle = strings.ToLower(needle)
			}
			op, pattern, passes := "|=", needle, func(text string) bool { return strings.Contains(text, needle) }
			switch r.IntN(3) {
			case 0:
				op, pattern = "|~", "(?i)"+regexp.QuoteMeta(needle)
				passes = regexp.MustCompile("(?s)" + pattern).MatchString
			case 1:
				op, pattern = "|~", regexp.QuoteMeta(needle)+".*"
			}
			var want []string
			for i, text := range lines {
				if passes(text) {
					want = append(want, fmt.Sprintf(`%s {app="a"} %s`, seconds(float64(i)/1e9), text))
				}
			}
			slices.Sort(want)
			compareRows(t, string(in), h, fmt.Sprintf("query_range?limit=100&start=%d&end=%d&query=%s", base*int64(1e9),
				base*int64(1e9)+1000, url.QueryEscape(`{app="a"} `+op+` `+strconv.Quote(pattern))), want, false)
		}
	}
}
