package vrl

import (
	"math/bits"
	"strings"
)

// tokenKind is the kind of a token in the grammar. The kinds that error texts list are in the order of their names,
// which is the order of these lists.
type tokenKind uint8

const (
	endToken      tokenKind = iota
	badToken                // a character of no lexeme
	operatorToken           // a run of operator characters that is no operator
	newlineToken            // one or more line ends
	bangToken
	notEqualToken
	percentToken
	andToken
	leftParenToken
	rightParenToken
	timesToken
	plusToken
	commaToken
	minusToken
	arrowToken
	dotToken
	divideToken
	colonToken
	semicolonToken
	lessToken
	atMostToken
	assignToken
	equalToken
	greaterToken
	atLeastToken
	coalesceToken
	leftBracketToken
	rightBracketToken
	underscoreToken
	abortToken
	elseToken
	falseToken
	floatToken
	functionToken // a name directly followed by ( or !
	identToken    // a name
	ifToken
	integerToken
	nullToken
	fieldToken // a word with @ in it or a digit at its begin: good as a field of a path only
	rawToken
	regexToken
	reservedToken // words kept for later: good as fields only
	returnToken
	stringToken
	timeToken
	trueToken
	leftBraceToken
	mergeToken
	mergeAssignToken
	orToken
	rightBraceToken
	pathToken // the beginning of a path, in sets of expected tokens; no token has this kind
	tokenKinds
)

// tokenNames are the names in error texts for an unexpected token and for an expected one.
var tokenNames = [tokenKinds]struct{ got, want string }{
	endToken: {}, badToken: {got: "InvalidToken"}, operatorToken: {got: "Operator"},
	newlineToken: {"Newline", `\n`}, bangToken: {"Bang", "!"}, notEqualToken: {"Operator", "!="},
	percentToken: {"Percent", "%"}, andToken: {"Operator", "&&"},
	leftParenToken: {"LParen", "("}, rightParenToken: {"RParen", ")"}, timesToken: {"Operator", "*"},
	plusToken: {"Operator", "+"}, commaToken: {"Comma", ","},
	minusToken: {"Operator", "-"}, arrowToken: {"Arrow", "->"}, dotToken: {"Dot", "."}, divideToken: {"Operator", "/"},
	colonToken:     {"Colon", ":"},
	semicolonToken: {"SemiColon", ";"}, lessToken: {"Operator", "<"}, atMostToken: {"Operator", "<="},
	assignToken: {"Equals", "="}, equalToken: {"Operator", "=="},
	greaterToken: {"Operator", ">"}, atLeastToken: {"Operator", ">="}, coalesceToken: {"Operator", "??"},
	leftBracketToken:  {"LBracket", "["},
	rightBracketToken: {"RBracket", "]"}, underscoreToken: {"Underscore", "_"}, abortToken: {"Abort", "abort"},
	elseToken:  {"Else", "else"},
	falseToken: {"False", "false"}, floatToken: {"FloatLiteral", "float literal"},
	functionToken: {"FunctionCall", "function call"},
	identToken:    {"Identifier", "identifier"}, ifToken: {"If", "if"},
	integerToken: {"IntegerLiteral", "integer literal"}, nullToken: {"Null", "null"},
	fieldToken: {"PathField", "path field"}, rawToken: {"RawStringLiteral", "raw string literal"},
	regexToken:    {"RegexLiteral", "regex literal"},
	reservedToken: {"ReservedIdentifier", "reserved identifier"}, returnToken: {"Return", "return"},
	stringToken: {"StringLiteral", "string literal"},
	timeToken:   {"TimestampLiteral", "timestamp literal"}, trueToken: {"True", "true"},
	leftBraceToken:   {"LBrace", "{"},
	mergeToken:       {"Operator", "|"},
	mergeAssignToken: {"MergeEquals", "|="}, orToken: {"Operator", "||"}, rightBraceToken: {"RBrace", "}"},
	pathToken: {want: "path literal"},
}

var keywords = map[string]tokenKind{
	"if": ifToken, "else": elseToken, "true": trueToken, "false": falseToken, "null": nullToken, "abort": abortToken,
	"return": returnToken,
}

var operators = map[string]tokenKind{
	"!": bangToken, "!=": notEqualToken, "&&": andToken, "*": timesToken, "+": plusToken, "-": minusToken,
	"->": arrowToken, "/": divideToken, "<": lessToken,
	"<=": atMostToken, "=": assignToken, "==": equalToken, ">": greaterToken, ">=": atLeastToken, "??": coalesceToken,
	"|": mergeToken, "|=": mergeAssignToken,
	"||": orToken,
}

var punctuation = map[byte]tokenKind{
	'(': leftParenToken, ')': rightParenToken, '[': leftBracketToken, ']': rightBracketToken, '{': leftBraceToken,
	'}': rightBraceToken, ',': commaToken,
	':': colonToken, ';': semicolonToken, '.': dotToken, '%': percentToken,
}

// tokenSet is a set of kinds.
type tokenSet uint64

func kindSet(kinds ...tokenKind) (set tokenSet) {
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

func (s tokenSet) has(k tokenKind) bool { return s>>k&1 != 0 }

// The tokens that begin an expression, and the tokens that end one.
var (
	rootSet = kindSet(dotToken, percentToken)
	termSet = rootSet | kindSet(leftParenToken, leftBracketToken, leftBraceToken, falseToken, trueToken, nullToken,
		integerToken, floatToken, stringToken,
		rawToken, regexToken, timeToken, functionToken, identToken)
	exprSet = termSet | kindSet(bangToken, underscoreToken, ifToken, abortToken, returnToken)
	endSet  = kindSet(newlineToken, semicolonToken)
)

// Any word is good as the field of a path. Of the words error texts name the common ones.
var (
	fieldSet      = kindSet(identToken, fieldToken, stringToken)
	otherWordsSet = kindSet(reservedToken, underscoreToken, ifToken, elseToken, trueToken, falseToken, nullToken,
		abortToken, returnToken)
)

// list is the names of a set as an error text lists them.
func (s tokenSet) list() string {
	if s&rootSet == rootSet { // where both may stand they begin a path
		s = s&^rootSet | 1<<pathToken
	}
	names := make([]string, 0, bits.OnesCount64(uint64(s)))
	for k := range tokenKinds {
		if s.has(k) {
			names = append(names, tokenNames[k].want)
		}
	}
	return `"` + strings.Join(names, `", "`) + `"`
}

// levels are the binary operators by precedence.
var levels = [tokenKinds]int{
	coalesceToken: 1, andToken: 2, orToken: 2, equalToken: 3, notEqualToken: 3, atLeastToken: 4, greaterToken: 4,
	atMostToken: 4, lessToken: 4,
	mergeToken: 5, plusToken: 6, minusToken: 6, timesToken: 7, divideToken: 7,
}

// levelSets are the binary operators of at least a level.
var levelSets = func() (sets [9]tokenSet) {
	for k, level := range levels {
		for l := 1; l <= level; l++ {
			sets[l] |= 1 << k
		}
	}
	return sets
}()
