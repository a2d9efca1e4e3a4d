package parse

// Limits of a statement. The parser checks them as it reads, so that text past a limit costs nothing.
const (
	// MaxStatement is the most bytes of a statement. INSERT may be as long as the text.
	MaxStatement = 1 << 20
	// MaxExprs is the most operands of a statement. Literals of an IN list and the values of INSERT do not count.
	MaxExprs = 10_000
	// MaxColumns is the most columns of a table, of a SELECT's output, and the most keys of ORDER BY, GROUP BY and
	// DISTINCT ON.
	MaxColumns = 4096
	// cancelTokens is the number of tokens after which the reader asks whether the statement was cancelled: a fraction
	// of a millisecond.
	cancelTokens = 1 << 10
	// askBytes is the step in which the parser reserves memory for a text.
	askBytes = 2 << 20
	// cellBytes, operandBytes and statementBytes are about the memory of a value of INSERT, an operand and a statement.
	// A value takes its literal, its place in the row and a share of the row's place in the list.
	cellBytes, operandBytes, statementBytes = 128, 256, 512
)

// begin starts the counts of a statement at the current token.
func (p *parser) begin() error {
	p.start, p.operands = p.tok.pos, 0
	p.long = p.is("insert") || p.is("replace")
	return p.hold(statementBytes)
}

// checkLength checks that the statement up to the current token is within MaxStatement.
func (p *parser) checkLength() error {
	if int(p.tok.end-p.start) <= MaxStatement || p.long || p.tok.kind == tokEOF {
		return nil
	}
	return p.fail(p.start, "a statement other than INSERT has at most %d bytes, the one", MaxStatement)
}

// countOperand counts an operand of an expression.
func (p *parser) countOperand() error {
	if p.inValues {
		return nil
	}
	if p.operands++; p.operands > MaxExprs {
		return p.fail(p.tok.pos, "a statement has at most %d expressions, there is one more", MaxExprs)
	}
	return p.hold(operandBytes)
}

// hold counts the memory, in bytes, of the tree read so far; there must be room for it.
func (p *parser) hold(bytes int64) error {
	if p.unasked += bytes; p.unasked < askBytes || p.memory == nil {
		return nil
	}
	bytes, p.unasked = p.unasked, 0
	return p.memory.Reserve(bytes)
}

// checkColumns checks that a list of columns or keys is not longer than MaxColumns.
func (p *parser) checkColumns(what string, n int) error {
	if n <= MaxColumns {
		return nil
	}
	return p.fail(p.tok.pos, "%s has at most %d columns, there is one more", what, MaxColumns)
}
