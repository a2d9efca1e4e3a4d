// Documents as blocks of text: as much of Markdown as the documents that are built in are written in.

/**
 * @typedef {{kind: 'heading', level: number, text: string, id: string}|{kind: 'paragraph', text: string}|{kind: 'code',
 *   text: string}
 *   |{kind: 'table', head: string[], rows: string[][]}|{kind: 'list', ordered: boolean, items: string[]}} Block
 * @typedef {{kind: 'text'|'code'|'bold'|'soft', text: string}|{kind: 'link', text: string, to: string}} Part
 */

/** idOf is the name of a heading in links. @param {string} text */
const idOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');

/** cellsOf takes a line of a table apart; a bar behind a backslash belongs to its cell. @param {string} line */
const cellsOf = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/)
  .map((c) => c.trim().replaceAll('\\|', '|'));

const item = /^([-*]|\d+\.)\s+/;

/** blocks reads a document. @param {string} text @returns {Block[]} */
export function blocks(text) {
  const lines = text.split('\n');
  /** @type {Block[]} */
  const list = [];
  let i = 0;
  const until = (/** @type {(line: string) => boolean} */ stop) => {
    const from = i;
    while (i < lines.length && !stop(lines[i])) i++;
    return lines.slice(from, i);
  };
  while (i < lines.length) {
    const line = lines[i], heading = /^(#{1,6}) (.*)/.exec(line);
    if (line.trim() === '') i++;
    else if (heading) {
      list.push({ kind: 'heading', level: heading[1].length, text: heading[2], id: idOf(heading[2]) });
      i++;
    } else if (line.startsWith('```')) {
      i++;
      list.push({ kind: 'code', text: until((l) => l.startsWith('```')).join('\n') });
      i++;
    } else if (line.startsWith('    ')) {
      const code = until((l) => l.trim() !== '' && !l.startsWith('    '));
      list.push({ kind: 'code', text: code.map((l) => l.slice(4)).join('\n').trimEnd() });
    } else if (line.startsWith('|')) {
      const [head, , ...rows] = until((l) => !l.startsWith('|'));
      list.push({ kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) });
    } else if (item.test(line)) {
      list.push({ kind: 'list', ordered: /^\d/.test(line),
        items: itemsOf(until((l) => l.trim() === '' || l.startsWith('#') || l.startsWith('```'))) });
    } else {
      list.push({ kind: 'paragraph',
        text: until((l) => l.trim() === '' || /^(#{1,6} |```|\||[-*] )/.test(l)).join(' ') });
    }
  }
  return list;
}

/** itemsOf puts the lines of each item together. @param {string[]} lines */
function itemsOf(lines) {
  /** @type {string[]} */
  const items = [];
  for (const l of lines) {
    if (item.test(l) || items.length === 0) items.push(l.replace(item, ''));
    else items[items.length - 1] += ' ' + l.trim();
  }
  return items;
}

const inline = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s][^*]*)\*|!?\[([^\]]+)\]\(([^)\s]+)\)/g;

/** parts reads the text of a block. @param {string} text @returns {Part[]} */
export function parts(text) {
  /** @type {Part[]} */
  const list = [];
  let at = 0;
  for (const m of text.matchAll(inline)) {
    if (m.index > at) list.push({ kind: 'text', text: text.slice(at, m.index) });
    at = m.index + m[0].length;
    if (m[2] !== undefined) list.push({ kind: 'code', text: m[2].trim() });
    else if (m[3] !== undefined) list.push({ kind: 'bold', text: m[3] });
    else if (m[4] !== undefined) list.push({ kind: 'soft', text: m[4] });
    else list.push({ kind: 'link', text: m[5], to: m[6] });
  }
  if (at < text.length) list.push({ kind: 'text', text: text.slice(at) });
  return list;
}
