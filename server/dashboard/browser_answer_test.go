//go:build dashboard && browser

package dashboard

import "testing"

// TestAnswersInPieces: an answer that is read in pieces has the rows it has when read at once, whatever is in them.
func TestAnswersInPieces(t *testing.T) {
	p := open(t, start(t), "/dashboard/")
	p.wait("the application", `document.querySelector('#rail')`)
	wrong := eval[[]string](p, `(async () => {
		const at = document.querySelector('script[type=module]').src;
		const { readAnswer } = await import(at.replace('app.js', 'core/answer.js'));
		const { parse } = await import(at.replace('app.js', 'core/lossless.js'));
		const texts = ['plain', '],[', '\\', '"', '\\"],[', '"rows":[', '{"rows":[[1]]}', '\u0000', 'ä€😀', '', '\\\\'];
		const values = [null, true, 1.5, [[1], [2, [3]]], { a: [[1], [2]], 'b],[': '],[' }, []];
		const wrong = [];
		for (const repeat of [1, 40_000, 90_000]) {
			const rows = [];
			for (let i = 0; i < repeat; i++) rows.push('[' + ['17637000001234567' + String(i % 100).padStart(2, '0'), JSON.stringify(texts[i % texts.length] + 'x'.repeat(i % 50)), JSON.stringify(values[i % values.length])].join(',') + ']');
			const schema = { column_schemas: [{ name: 'ts', data_type: 'Int64' }, { name: '"rows":[', data_type: 'String' }, { name: 'j', data_type: 'Json' }] };
			for (const before of ['', '{"affectedrows":0},']) {
				const text = '{"output":[' + before + '{"records":{"schema":' + JSON.stringify(schema) + ',"rows":[' + rows.join(',') + '],"total_rows":' + repeat + '}}],"execution_time_ms":7}';
				const whole = parse(text), got = readAnswer(new TextEncoder().encode(text).buffer);
				if (JSON.stringify(got.rows) !== JSON.stringify(whole.output.at(-1).records.rows)) wrong.push(repeat + ' rows differ' + before);
				if (got.columns.length !== 3 || got.columns[1].name !== '"rows":[' || got.elapsedMS !== 7) wrong.push(repeat + ': ' + JSON.stringify([got.columns, got.elapsedMS]));
			}
			const two = '{"output":[{"records":{"schema":' + JSON.stringify(schema) + ',"rows":[' + rows.join(',') + ']}},{"records":{"schema":' + JSON.stringify(schema) + ',"rows":[[1,"last",null]]}}],"execution_time_ms":1}';
			const last = readAnswer(new TextEncoder().encode(two).buffer);
			if (last.rows.length !== 1 || last.rows[0][1] !== 'last') wrong.push('of two answers ' + last.rows.length + ' rows');
		}
		return wrong;
	})()`)
	for _, w := range wrong {
		t.Error(w)
	}
}
