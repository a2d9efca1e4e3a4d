// The text of a cell of the grid.

/**
 * drawText puts text into a cell, with the parts that a search hits marked. The text node is used again where it can.
 * @param {HTMLElement} cell
 * @param {string} text
 * @param {RegExp|null} [hits] with the flag g
 */
export function drawText(cell, text, hits) {
  const only = cell.firstChild;
  if (!hits || !hits.test(text)) {
    if (only instanceof Text && cell.childNodes.length === 1) only.data = text;
    else cell.textContent = text;
    if (hits) hits.lastIndex = 0;
    return;
  }
  hits.lastIndex = 0;
  const parts = [];
  let done = 0;
  for (let m = hits.exec(text), n = 0; m && n < 200; m = hits.exec(text), n++) {
    if (m[0] === '') { hits.lastIndex++; continue; }
    if (m.index > done) parts.push(text.slice(done, m.index));
    const mark = document.createElement('mark');
    mark.append(m[0]);
    parts.push(mark);
    done = m.index + m[0].length;
  }
  hits.lastIndex = 0;
  parts.push(text.slice(done));
  cell.replaceChildren(...parts);
}
