package expr

import "varve/engine/vector"

// CommonType returns the type to which the values of all expressions widen: the branches of a CASE, the rows of VALUES,
// the sides of a UNION. It fails with PlanQuery if there is none.
func CommonType(list []Expr) (vector.Type, error) { return commonOf("values", list) }
