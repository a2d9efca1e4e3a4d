package filter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/vector"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		left, right Edge
		want        string
	}{
		{"folded words", "GET /api/v1 Ok", ClosedEdge, ClosedEdge, "get api v1 ok"},
		{"underscores part words", "critical_error", ClosedEdge, ClosedEdge, "critical error"},
		{"open edges keep inner words", "onnection reset by pee", OpenEdge, OpenEdge, "reset by"},
		{"nothing between open edges", "timeout", OpenEdge, OpenEdge, ""},
		{"a term between its boundaries", "timeout", ASCIIEdge, ASCIIEdge, "timeout"},
		{"other letters are words of their own", "café", ClosedEdge, ClosedEdge, "caf é"},
		{"ASCII edges do not bound other letters", "русский", ASCIIEdge, ASCIIEdge, ""},
		{"folding beyond ASCII", "ГОРОД", ClosedEdge, ClosedEdge, "город"},
		{"Han in pairs", "错误日志", OpenEdge, OpenEdge, "错误 误日 日志"},
		{"Han beside ASCII", "错误error", OpenEdge, ClosedEdge, "错误 error"},
		{"an address", "from 10.0.0.12 port 22", ClosedEdge, ClosedEdge, "from 10 0 0 12 10.0.0.12 port 22"},
		{"part of an address", "10.0.0.12", OpenEdge, OpenEdge, "0 0"},
		{"five numbers are two addresses", "1.2.3.4.5", ClosedEdge, ClosedEdge, "1 2 3 4 1.2.3.4 5 2.3.4.5"},
		{"numbers of four digits are no address", "1.2.3.4000", ClosedEdge, ClosedEdge, "1 2 3 4000"},
		{"half a character at the edge", "\x81 word \xd0", OpenEdge, OpenEdge, "word"},
		{"nothing", "", ClosedEdge, ClosedEdge, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(bytes.Join(AppendWords(nil, []byte(c.text), c.left, c.right), []byte(" ")))
			want := string(AppendFold(nil, []byte(c.want)))
			if got != want {
				t.Errorf("words of %q: got %q, want %q", c.text, got, want)
			}
		})
	}
}

func text(s string) *vector.Vector {
	return &vector.Vector{Type: vector.StringType, Heap: []byte(s), Views: []vector.View{{Len: uint32(len(s))}}}
}

func TestNeedles(t *testing.T) {
	for _, c := range []struct {
		name string
		op   Op
		arg  string
		want string // alternatives parted by |; "none": filters cannot help
	}{
		{"equality", Equal, "a b", "a b"},
		{"term", Term, "connection reset", "connection reset"},
		{"term that begins with a sign", Term, "/start", "start"},
		{"contains", Contains, "x=12 y=3", "12 y"},
		{"contains in any case", ContainsFold, " Reset ", "reset"},
		{"prefix", Prefix, "GET /api", "get"},
		{"like", Like, "%connection reset by%", "reset"},
		{"like to the end", Like, "a b%peer_to now", "a now"},
		{"like with a character between", Like, "% a_b %", ""},
		{"escaped percent sign", Like, `100\% of`, "100 of"},
		{"ilike", ILike, "%the ERROR is%", "error"},
		{"regular expression", Regex, `user \d+ logged in$`, "logged in"},
		{"word boundaries", Regex, `\btimeout\b`, "timeout"},
		{"blanks around", Regex, `\s+error\s+`, "error"},
		{"alternatives", Regex, ` (cart|order) `, "cart|order"},
		{"an alternative that says nothing", Regex, ` (cart|.*) `, "none"},
		{"in any case", Regex, `(?i) Failed `, "failed"},
		{"in any case at a boundary", Regex, `(?i)\bkelvin `, "none"},
		{"nothing required", Regex, `(error)?`, "none"},
		{"negation", NotLike, "% a %", "none"},
		{"order", Less, "a", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Compile(And{{Column: 1, Op: c.op, Args: text(c.arg), NArgs: 1}})
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			if needles, ok := p.Conds[0].Leaf.Needles(); ok {
				var all []string
				for _, n := range needles {
					all = append(all, string(bytes.Join(n.Words, []byte(" "))))
				}
				got = strings.Join(all, "|")
			}
			if c.want == "" {
				c.want = "none"
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNeedlesAreSound: whatever text passes a condition holds the words of one of its alternatives, or has them in its
// folded form.
func TestNeedlesAreSound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	pieces := []string{"error", "Err", "k", "ſ", "K", "s", " ", "/", ".", "_", "10", "1.2.3.4", ".5", "é", "É",
		"русский", "ий", "错", "误", "日", "\xd0", "\xb8", "\xff", "ι", "\u0345", "%", "«", "A1", "b"}
	draw := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		return s.String()
	}
	tried := 0
	for range 60000 {
		row := draw(r.IntN(8))
		arg := draw(1 + r.IntN(3))
		if len(row) > 0 && r.IntN(3) > 0 { // a part of the row, so that many pass
			from := r.IntN(len(row))
			arg = row[from : from+1+r.IntN(len(row)-from)]
			if r.IntN(3) == 0 {
				arg = string(AppendFold(nil, []byte(arg)))
			}
		}
		op := []Op{Equal, Prefix, Contains, ContainsFold, Term, Like, ILike, Regex}[r.IntN(8)]
		switch op {
		case Like, ILike:
			arg = []string{"%", "", "_"}[r.IntN(3)] + arg + []string{"%", "", "_"}[r.IntN(3)]
		case Regex:
			quoted := strings.NewReplacer(".", `\.`, "\xff", ".", "\xd0", ".", "\xb8", ".").Replace(arg)
			arg = []string{"", "(?i)"}[r.IntN(2)] + []string{`\b`, "^", "", `\s*`, "[ /.]"}[r.IntN(5)] + "(?:" +
				quoted + ")" + []string{"", `\b`, "$", "|x"}[r.IntN(4)]
		}
		lower := r.IntN(3) == 0 && op != ContainsFold && op != ILike
		if lower {
			row += []string{"", "İ", "İx", "ΣA"}[r.IntN(4)]
		}
		p, err := Compile(And{{Column: 1, Op: op, Args: text(arg), NArgs: 1, Lower: lower}})
		if err != nil {
			continue
		}
		keep := [1]uint64{1}
		p.Conds[0].Leaf.Eval(1, text(row), keep[:])
		if lower {
			plain, _ := Compile(And{{Column: 1, Op: op, Args: text(arg), NArgs: 1}})
			same := [1]uint64{1}
			plain.Conds[0].Leaf.Eval(1, text(string(bytes.ToLower([]byte(row)))), same[:])
			if keep != same {
				t.Fatalf("operator %d with %q on %q in lower case: %d", op, arg, row, keep[0])
			}
		}
		needles, ok := p.Conds[0].Leaf.Needles()
		if keep[0] == 0 || !ok {
			continue
		}
		tried++
		words := AppendWords(nil, []byte(row), ClosedEdge, ClosedEdge)
		words = AppendWords(words, AppendFold(nil, []byte(row)), ClosedEdge, ClosedEdge)
		words = AppendWords(words, bytes.ToLower([]byte(row)), ClosedEdge, ClosedEdge)
		holds := func(n Needle) bool {
			for _, w := range n.Words {
				if !slices.ContainsFunc(words, func(x []byte) bool { return bytes.Equal(x, w) }) {
					return false
				}
			}
			return true
		}
		if !slices.ContainsFunc(needles, holds) {
			t.Fatalf("operator %d with %q passes %q, but its words %q are not among %q", op, arg, row,
				fmt.Sprint(needles), words)
		}
	}
	if tried < 2000 {
		t.Fatalf("only %d texts passed", tried)
	}
}
