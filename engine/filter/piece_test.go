package filter

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestJudgePieces(t *testing.T) {
	digits, words := Chars("0123456789"), Chars("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	pieces := []Piece{{Text: []byte("user ")}, {Chars: digits}, {Text: []byte(" Failed in ")}, {Chars: words},
		{Text: []byte(".")}}
	for _, c := range []struct {
		op   Op
		arg  string
		want Verdict
	}{
		{Contains, "Failed", All},
		{Contains, "failed ", None},
		{ContainsFold, "FAILED", All},
		{ILike, "%user%failed%", Some},
		{Contains, "user 1", Some},
		{Contains, "user a", None},
		{Contains, "9 F", Some},
		{Contains, "in x1.", Some},
		{Contains, "in x.1", None},
		{Contains, "123", Some},
		{NotLike, "%Failed%", None},
		{NotLike, "%nothing like it%", All},
		{Prefix, "user", All},
		{Prefix, "user 1", Some},
		{Like, "user%", All},
		{ILike, "USER%", All},
		{Like, "user", Some},
		{Like, "user _%", Some},
		{Prefix, "use1", None},
		{Like, "ser%", None},
		{Like, "user %.", Some},
		{Regex, "user [0-9]+ F", Some},
		{Regex, "user [0-9]+ -", None},
		{Term, "Failed in", All},
		{Term, "user", All},
		{Term, "in", All},
		{Term, "in x", Some},
		{Term, "ailed", Some},
		{Contains, strings.Repeat("a", 100), Some},
		{Contains, strings.Repeat("-", 100), None},
	} {
		t.Run(fmt.Sprintf("%d %s", c.op, c.arg), func(t *testing.T) {
			p, err := Compile(And{{Column: 1, Op: c.op, Args: text(c.arg), NArgs: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Conds[0].Leaf.JudgePieces(pieces); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestJudgePiecesIsSound fills pieces at random: no text passes that was refuted, none fails that was certain.
func TestJudgePiecesIsSound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	sets := []*CharSet{Chars("01"), Chars("01ab"), AllChars(), Chars("01AB")}
	fill := []string{"01", "01ab", "01ab -", "01AB"}
	constant := []string{"a", "b", "ab", " ", "-", "A", "é", "K", "0"}
	draw := func(from string, n int) (s string) {
		for range n {
			s += string(from[r.IntN(len(from))])
		}
		return s
	}
	verdicts := map[Verdict]int{}
	for range 30000 {
		var pieces []Piece
		row := ""
		for range 1 + r.IntN(4) {
			if k := r.IntN(len(sets) + 2); k < len(sets) {
				pieces = append(pieces, Piece{Chars: sets[k]})
				row += draw(fill[k], 1+r.IntN(3))
			} else {
				s := constant[r.IntN(len(constant))]
				pieces = append(pieces, Piece{Text: []byte(s)})
				row += s
			}
		}
		arg := draw("01ab -K", 1+r.IntN(3))
		op := []Op{Prefix, Contains, ContainsFold, Term, Like, ILike, NotLike, Regex}[r.IntN(8)]
		switch op {
		case Like, ILike, NotLike:
			arg = []string{"%", ""}[r.IntN(2)] + arg + []string{"%", "_", ""}[r.IntN(3)] + draw("01ab", r.IntN(2)) +
				[]string{"%", ""}[r.IntN(2)]
		case Regex:
			arg = []string{"^", ""}[r.IntN(2)] + arg + []string{"$", ".*a", ""}[r.IntN(3)]
		}
		lower := r.IntN(3) == 0 && op != ContainsFold && op != ILike
		p, err := Compile(And{{Column: 1, Op: op, Args: text(arg), NArgs: 1, Lower: lower}})
		if err != nil {
			t.Fatal(err)
		}
		verdict := p.Conds[0].Leaf.JudgePieces(pieces)
		verdicts[verdict]++
		keep := [1]uint64{1}
		p.Conds[0].Leaf.Eval(1, text(row), keep[:])
		if passes := keep[0] == 1; passes && verdict == None || !passes && verdict == All {
			t.Fatalf("operator %d with %q: verdict %d, but on %q it is %t", op, arg, verdict, row, passes)
		}
	}
	if len(verdicts) < 3 {
		t.Errorf("verdicts %v", verdicts)
	}
}
