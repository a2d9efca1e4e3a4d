package expr

import "varve/engine/vector"

// CommonType is the type that values of all expressions widen to: the branches of a CASE, the rows of VALUES, the sides
// of a UNION. PlanQuery when there is none.
func CommonType(list []Expr) (vector.Type, error) { return commonOf("values", list) }
