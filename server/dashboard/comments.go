package dashboard

import (
	"bytes"
	"regexp"
)

// comments finds the comments of a module: types and explanations between /** and */, lines of // alone, and // at the
// end of a line without a quote behind it, so that an address in a text is no comment. TestCommentsAreNoCode checks
// that it finds nothing else in the modules of the tree.
var comments = regexp.MustCompile("(?s:/\\*\\*.*?\\*/ ?)|(?m:^[ \t]*//.*$)|(?m: +// [^'\"`]*?$)")

// withoutComments is a module as it is sent: comments are a quarter of what goes over the wire. Its lines keep their
// numbers, so that an error's place is the one in the tree.
func withoutComments(module []byte) []byte {
	return comments.ReplaceAllFunc(module, func(comment []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(comment, []byte("\n")))
	})
}
