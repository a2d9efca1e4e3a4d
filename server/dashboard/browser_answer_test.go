//go:build dashboard && browser

package dashboard

import "testing"

// TestAnswersInPieces: an answer that is read in pieces has the rows it has when read at once, whatever is in them and
// however it comes.
func TestAnswersInPieces(t *testing.T) {
	t.Parallel()
	p := open(t, start(t), "/dashboard/")
	p.wait("the application", `document.querySelector('#rail')`)
	wrong := eval[[]string](p, `(async () => {
		const at = document.querySelector('script[type=module]').src;
		const { AnswerReader } = await import(at.replace('app.js', 'core/answer.js'));
		const { parse } = await import(at.replace('app.js', 'core/lossless.js'));
		let seed = 7;
		const random = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % n; };
		const read = (text, largest) => {
			const bytes = new TextEncoder().encode(text), reader = new AnswerReader();
			for (let i = 0; i < bytes.length;) { const n = 1 + random(largest); reader.add(bytes.slice(i, i + n)); i += n; }
			return reader.end();
		};
		const texts = ['plain', '],[', '\\', '"', '\\"],[', '"rows":[', '{"rows":[[1]]}', '\u0000', 'ä€😀', '', '\\\\', '1234567890123456789'];
		const values = ['null', 'true', '1.5', '[[1],[2,[3]]]', '{"a":[[1],[2]],"b],[":"],["}', '[]', '{"rows":[[1]]}', '-1234567890123456789', '[1234567890123456,12345678901234567890]',
			'123456789012345', '1.1234567890123456789', '12345678901234567890.5', '1e1234567890123456', '1E+0000000000000000001', '-1e-1234567890123456', '1234567890123456789e3', '{"a":18446744073709551615}'];
		const wrong = [], schema = JSON.stringify({ column_schemas: [{ name: 'ts', data_type: 'Int64' }, { name: '"rows":[', data_type: 'String' }, { name: 'rows', data_type: 'Json' }] });
		for (const [repeat, largest] of [[0, 3], [1, 1], [300, 5], [300, 100], [40_000, 100_000], [40_000, 1e9], [90_000, 3e6]]) {
			const rows = [];
			for (let i = 0; i < repeat; i++) rows.push('[' + ['17637000001234567' + String(i % 100).padStart(2, '0'), JSON.stringify(texts[i % texts.length] + 'x'.repeat(i % 50)), values[i % values.length]].join(',') + ']');
			for (const before of ['', '{"affectedrows":0},']) {
				const text = '{"output":[' + before + '{"records":{"schema":' + schema + ',"rows":[' + rows.join(',') + '],"total_rows":' + repeat + '}}],"execution_time_ms":7}';
				const whole = parse(text), got = read(text, largest);
				if (JSON.stringify(got.rows) !== JSON.stringify(whole.output.at(-1).records.rows)) wrong.push(repeat + ' rows differ' + before);
				if (got.columns.length !== 3 || got.columns[1].name !== '"rows":[' || got.elapsedMS !== 7) wrong.push(repeat + ': ' + JSON.stringify([got.columns, got.elapsedMS]));
			}
			const two = '{"output":[{"records":{"schema":' + schema + ',"rows":[' + rows.join(',') + ']}},{"records":{"schema":' + schema + ',"rows":[[1,"last",null]]}}],"execution_time_ms":1}';
			const last = read(two, largest);
			if (last.rows.length !== 1 || last.rows[0][1] !== 'last') wrong.push('of two answers ' + last.rows.length + ' rows');
			for (const cut of [20, 300, two.length - 3]) {
				try { read(two.slice(0, cut), largest); wrong.push('an answer cut at ' + cut + ' was read'); } catch {}
			}
		}
		const changed = read('{"output":[{"affectedrows":3}],"execution_time_ms":1}', 2);
		if (changed.affected !== 3 || changed.rows) wrong.push('changed: ' + JSON.stringify(changed));
		return wrong;
	})()`)
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestAnswersOfAnySize: rows are the same whether the page reads them, the common worker, or one of their own while
// they arrive.
func TestAnswersOfAnySize(t *testing.T) {
	t.Parallel()
	p := open(t, start(t), "/dashboard/")
	p.wait("the application", `document.querySelector('#rail')`)
	wrong := eval[[]string](p, `(async () => {
		const { Incoming, openRows } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'core/rows.js'));
		const wrong = [];
		for (const n of [3, 3000, 120_000]) {
			const rows = Array.from({ length: n }, (_, i) => '[' + i + ',"row ' + i + '"]').join(',');
			const text = '{"output":[{"records":{"schema":{"column_schemas":[{"name":"i","data_type":"Int64"},{"name":"s","data_type":"String"}]},"rows":[' + rows + ']}}],"execution_time_ms":5}';
			const bytes = new TextEncoder().encode(text), arriving = new Incoming();
			for (let i = 0; i < bytes.length; i += 50_000) arriving.add(bytes.slice(i, i + 50_000));
			for (const got of [await arriving.rows(), await openRows(bytes.slice().buffer)]) {
				const last = await got.last();
				if (got.count !== n || got.columns[1].name !== 's' || last[1] !== 'row ' + (n - 1) || got.elapsedMS !== 5) wrong.push(n + ' rows: ' + JSON.stringify([got.count, got.columns, last, got.elapsedMS]));
				got.free();
			}
			const damaged = new TextEncoder().encode(text.replace('"row 2"', 'row 2')), bad = new Incoming();
			for (let i = 0; i < damaged.length; i += 50_000) bad.add(damaged.slice(i, i + 50_000));
			try { await bad.rows(); wrong.push(n + ' rows with a damaged one were read'); } catch {}
		}
		return wrong;
	})()`)
	for _, w := range wrong {
		t.Error(w)
	}
}
