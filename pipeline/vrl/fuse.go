package vrl

import "varve/pipeline/value"

// fused creates a special op of an operator for frequent kinds of operands; nil if there is no such op.
func fused(op string, left, right operand) op {
	if !right.isConst {
		return nil
	}
	run, k := left.run, right.constant.Freeze()
	switch {
	case op == "==" || op == "!=":
		return equalsConst(run, k, op == "==")
	case op != "|" && binaries[op] != nil:
		compute := binaries[op]
		return func(f *Frame) (value.Value, *Failure) {
			v, fl := run(f)
			if fl != nil {
				return value.Null, fl
			}
			return compute(f, v, k)
		}
	}
	return nil
}

// equalsConst compares with a constant; want is the answer when both are equal.
func equalsConst(run op, k value.Value, want bool) op {
	if k.Kind() == value.StringKind {
		text := k.Str()
		return func(f *Frame) (value.Value, *Failure) {
			v, fl := run(f)
			if fl != nil {
				return value.Null, fl
			}
			return value.Bool((v.Kind() == value.StringKind && v.Str() == text) == want), nil
		}
	}
	return func(f *Frame) (value.Value, *Failure) {
		v, fl := run(f)
		if fl != nil {
			return value.Null, fl
		}
		return value.Bool(equal(v, k) == want), f.spendOn(v)
	}
}

// maxParts is the largest number of terms of a sum of strings that is built in one step.
const maxParts = 16

// concatenated returns the terms of a sum that is known to be one of strings, nil if it is not or has too many.
func concatenated(n *opNode, left, right operand) []op {
	if n.op != "+" {
		return nil
	}
	l, r := left.typ.settled(), right.typ.settled()
	if !l.exactly(String) && !r.exactly(String) || !l.Within(String|Null) || !r.Within(String|Null) {
		return nil
	}
	// Only the left side is taken apart: a sum in parentheses on the right is computed after the left, as it stands.
	parts := left.parts
	if parts == nil {
		parts = []op{left.run}
	}
	if len(parts) >= maxParts {
		return nil
	}
	return append(parts[:len(parts):len(parts)], right.run)
}

// concat makes one string of all terms. A term that is neither a string nor null after all makes it a plain sum.
func concat(parts []op) op {
	if len(parts) == 2 {
		return both(add, parts[0], parts[1])
	}
	return func(f *Frame) (value.Value, *Failure) {
		var terms [maxParts]value.Value
		size, plain := 0, true
		for i, run := range parts {
			v, fl := run(f)
			if fl != nil {
				return value.Null, fl
			}
			terms[i] = v
			switch v.Kind() {
			case value.StringKind:
				size += len(v.Str())
			case value.NullKind:
			default:
				plain = false
			}
		}
		if !plain {
			return sum(f, terms[:len(parts)])
		}
		if fl := f.Room(size); fl != nil {
			return value.Null, fl
		}
		b := f.Arena.Alloc(size)
		at := 0
		for i := range parts {
			if terms[i].Kind() == value.StringKind {
				at += copy(b[at:], terms[i].Str())
			}
		}
		return value.Bytes(b), nil
	}
}

// sum adds values from left to right.
func sum(f *Frame, terms []value.Value) (value.Value, *Failure) {
	total := terms[0]
	for _, v := range terms[1:] {
		var fl *Failure
		if total, fl = add(f, total, v); fl != nil {
			return value.Null, fl
		}
	}
	return total, nil
}
