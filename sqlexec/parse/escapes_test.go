package parse

import (
	"strings"
	"testing"
)

// textOf is the value of a text that is one literal.
func textOf(text string) (string, error) {
	x, err := ParseExpr(text)
	if err != nil {
		return "", err
	}
	return x.(*Literal).Text, nil
}

func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`E'\x41\u00e9\101'`: "AéA", `E'\n\t\r\b\f'`: "\n\t\r\b\f", `E'\\\''''`: `\''`, `E'\q\xg'`: "qxg",
		`E'\x4g'`: "\x04g", `E'\xc3\xa9'`: "é", `E'\303\251'`: "é", `E'\1011'`: "A1", `E'\7'`: "\a",
		`E'\U0001F600'`: "😀", `E'\ud83d\ude00'`: "😀", `e'\u0041'`: "A",
	} {
		if got, err := textOf(text); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, bad := range []string{`E'\u00e'`, `E'\U0000004'`, `E'\uzzzz'`, `E'\ud83d'`, `E'\ud83dx'`, `E'\ude00\ud83d'`,
		`E'\UFFFFFFFF'`, `E'\U00110000'`, `E'\000'`, `E'\x00'`, `E'\u0000'`, `E'\xff'`, `E'\400'`, `E'\`, `E'\x4`,
		`E'\u004`} {
		if got, err := textOf(bad); err == nil {
			t.Errorf("%s is taken as %q", bad, got)
		}
	}
}

func TestDialectNestsComments(t *testing.T) {
	const text = "SELECT 1 /* a /* b */ c /**/ ' */ + 2 /*/**/*/"
	list, err := ParseDialect(text, nil, shouting)
	if err != nil {
		t.Fatal(err)
	}
	if got := PrintAll(list); !same(got, "SELECT 1 + 2") {
		t.Errorf("got %s", got)
	}
	if _, err := Parse("SELECT 1 /* a /* b */ + 2"); err != nil {
		t.Errorf("without a dialect comments do not nest: %v", err)
	}
	if _, err := ParseDialect("SELECT 1 /* a /* b */ + 2", nil, shouting); err == nil {
		t.Error("a comment without its end is taken")
	}
	pieces, err := Pieces("SELECT 1 /* ; /* ; */ ; */; SELECT 2")
	if err != nil || len(pieces) != 2 {
		t.Errorf("got %v, %v", pieces, err)
	}
	if _, err := Pieces(strings.Repeat("/*", 1<<20)); err == nil {
		t.Error("comments without their ends are taken")
	}
	deep := strings.Repeat("/*", 1<<20) + strings.Repeat("*/", 1<<20)
	if pieces, err := Pieces(deep + "a"); err != nil || len(pieces) != 1 {
		t.Errorf("nested deeply: %d, %v", len(pieces), err)
	}
}
