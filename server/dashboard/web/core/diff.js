// The differences of two texts, line by line, and of two objects, key by key.

/** More lines than this are compared as a whole: the table of the comparison grows with their product. */
const mostLines = 2000;

/**
 * lines gives the lines of both texts in order: '=' in both, '-' only in the first, '+' only in the second.
 * @param {string} a @param {string} b
 * @returns {{kind: '='|'-'|'+', text: string}[]}
 */
export function lines(a, b) {
  let x = a.split('\n'), y = b.split('\n');
  const out = /** @type {{kind: '='|'-'|'+', text: string}[]} */ ([]);
  const same = [];
  while (x.length > 0 && y.length > 0 && x[0] === y[0]) {
    out.push({ kind: '=', text: x[0] });
    x = x.slice(1);
    y = y.slice(1);
  }
  while (x.length > 0 && y.length > 0 && x[x.length - 1] === y[y.length - 1]) {
    same.unshift({ kind: /** @type {'='} */ ('='), text: x[x.length - 1] });
    x = x.slice(0, -1);
    y = y.slice(0, -1);
  }
  if (x.length > mostLines || y.length > mostLines) {
    out.push(...x.map((text) => ({ kind: /** @type {'-'} */ ('-'), text })),
      ...y.map((text) => ({ kind: /** @type {'+'} */ ('+'), text })));
    return [...out, ...same];
  }
  // longest[i][j] is the length of the longest common sequence of x from i and y from j.
  const width = y.length + 1;
  const longest = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      longest[i * width + j] = x[i] === y[j] ? longest[(i + 1) * width + j + 1] + 1
        : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < x.length || j < y.length;) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      out.push({ kind: '=', text: x[i] });
      i++;
      j++;
    } else if (j === y.length || (i < x.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1]))
      out.push({ kind: '-', text: x[i++] });
    else out.push({ kind: '+', text: y[j++] });
  }
  return [...out, ...same];
}

/**
 * fields returns the keys of both objects, with the old and the new value of each.
 * @param {any} before @param {any} after
 * @returns {{key: string, kind: '='|'-'|'+'|'~', before: any, after: any}[]}
 */
export function fields(before, after) {
  const a = before && typeof before === 'object' ? before : {}, b = after && typeof after === 'object' ? after : {};
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort().map((key) => {
    const kind = !(key in a) ? '+' : !(key in b) ? '-' : JSON.stringify(a[key]) === JSON.stringify(b[key]) ? '=' : '~';
    return { key, kind: /** @type {'='|'-'|'+'|'~'} */ (kind), before: a[key], after: b[key] };
  });
}
