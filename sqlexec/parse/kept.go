package parse

import "varve/engine/status"

// maxAdvice bounds the bytes of a query that an error advises to write.
const maxAdvice = 2000

// checkKept refuses a view whose query means something else without the dialect: the view keeps the text, which is read
// again without it.
func checkKept(v *CreateView, memory Memory) error {
	if v.Query == nil {
		return nil
	}
	refuse := func(why string) error {
		return status.New(status.Unsupported,
			"a view keeps its text, which must mean the same without this connection: %s", why)
	}
	list, err := ParseWithin(v.Definition, memory)
	if err != nil {
		switch status.Of(err) {
		case status.InvalidSyntax, status.InvalidArguments, status.Unsupported, status.PlanQuery:
			return refuse(err.Error())
		}
		return err // of memory or time
	}
	here := printQuery(v.Query)
	if len(list) == 1 {
		if s, ok := list[0].(*SelectStmt); ok && printQuery(s.Query) == here {
			return nil
		}
	}
	if len(here) <= maxAdvice {
		if again, err := ParseQuery(here); err == nil && printQuery(again) == here {
			return refuse("write " + here)
		}
	}
	return refuse("write values and types as SQL without a dialect has them")
}

func printQuery(q *Query) string {
	w := &printer{}
	w.query(q)
	return w.String()
}

// Rewrite makes the text of a view what its query means, which was changed after it was read.
func (v *CreateView) Rewrite() error {
	text := printQuery(v.Query)
	again, err := ParseQuery(text)
	if err != nil || printQuery(again) != text {
		return status.New(status.Unsupported,
			"a view keeps its text, which must mean the same without this connection: write bytes as x'00ff'")
	}
	v.Definition = text
	return nil
}
