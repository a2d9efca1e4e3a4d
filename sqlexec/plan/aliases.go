package plan

import (
	"slices"

	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// aliased enters the aliases of some items in eb: the items after them, WHERE and the keys of GROUP BY may use an alias
// where nothing else has its name, here or in the queries around. An alias stands for its expression, which sees the
// aliases before it.
func aliased(eb *exprBinder, sc *scope, items []item) *exprBinder {
	own := *eb
	own.special = func(x parse.Expr) (expr.Expr, bool, error) {
		if i := aliasIn(x, sc, items); i >= 0 {
			e, err := aliased(eb, sc, items[:i]).bind(items[i].x)
			return e, true, err
		}
		if eb.special == nil {
			return nil, false, nil
		}
		return eb.special(x)
	}
	return &own
}

// aliasIn returns the item whose alias x is; -1 if x is no alias or has another meaning.
func aliasIn(x parse.Expr, sc *scope, items []item) int {
	c, ok := x.(*parse.Column)
	if !ok || len(c.Parts) != 1 || len(sc.find(c.Parts)) > 0 {
		return -1
	}
	for o := sc.outer; o != nil; o = o.scope.outer {
		if len(o.scope.find(c.Parts)) > 0 {
			return -1
		}
	}
	return slices.IndexFunc(items, func(it item) bool { return it.alias && it.name == c.Parts[0].Name })
}
