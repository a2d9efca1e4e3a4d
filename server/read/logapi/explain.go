package logapi

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/logql"
)

// explain answers with the statements of a query and their plans, as text.
func (r *request) explain(list []logql.Statement, metrics string) (answer, error) {
	var body []byte
	if metrics != "" {
		body = append(append(body, "metrics: "...), metrics...)
		body = append(body, '\n')
	}
	for _, s := range list {
		body = append(append(body, s.Text...), '\n')
		text, err := r.plan(s.Text, s.Function)
		if err != nil {
			return answer{}, err
		}
		body = append(append(body, text...), '\n')
	}
	return answer{contentType: "text/plain; charset=utf-8", body: body}, nil
}

// plan is the plan of a statement: the last column of what EXPLAIN answers.
func (r *request) plan(statement string, f *expr.Private) (text string, err error) {
	rows, err := r.Run(r.ctx, "EXPLAIN "+statement, f)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var b vector.Batch
	for {
		more, err := rows.Next(&b)
		if err != nil || !more {
			return text, err
		}
		last := b.Cols[len(b.Cols)-1]
		for i := range b.N {
			text += string(last.Bytes(i)) + "\n"
		}
	}
}
