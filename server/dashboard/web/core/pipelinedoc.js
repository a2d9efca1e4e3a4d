// What a page knows of a pipeline document: where an error of the server stands in it, where its processors are, and
// which lines are scripts.

/**
 * @typedef {{line: number, column: number, length?: number, text: string}} Mark line and column from 1, in characters
 */

/** indent is how many blanks a line begins with. @param {string} line */
const indent = (line) => /^ */.exec(line)?.[0].length ?? 0;

/** content reports whether a line is neither empty nor a comment. @param {string} line */
const content = (line) => line.trim() !== '' && !line.trimStart().startsWith('#');

/** processorLines returns the lines at which the elements of processors begin, from 1. @param {string} document */
export function processorLines(document) {
  const lines = document.split('\n');
  const head = lines.findIndex((l) => /^processors\s*:/.test(l));
  const found = [];
  let level = -1;
  for (let i = head + 1; head >= 0 && i < lines.length; i++) {
    if (!content(lines[i])) continue;
    const at = indent(lines[i]), item = lines[i].trimStart().startsWith('-');
    if (level < 0 && item) level = at;
    if (level < 0 || at < level || (at === level && !item)) break;
    if (at === level && item) found.push(i + 1);
  }
  return found;
}

/**
 * scriptLines are the lines of block texts under source, from 1; blank ones at the end are not.
 * @param {string[]} lines
 */
export function scriptLines(lines) {
  const found = [];
  for (let i = 0; i < lines.length; i++) {
    if (!/^\s*(- )?\s*source\s*:\s*[|>][-+0-9]*\s*(#.*)?$/.test(lines[i])) continue;
    const own = lines[i].search(/source/);
    for (i++; i < lines.length && (lines[i].trim() === '' || indent(lines[i]) > own); i++) found.push(i + 1);
    i--;
    while (found.length > 0 && lines[found[found.length - 1] - 1].trim() === '') found.pop();
  }
  return found;
}

/**
 * inScript finds a place of a script in the document.
 * @param {string[]} lines
 * @param {number} line of its value
 * @param {number} column of its value
 * @param {number} row in the script
 * @param {number} place in that row
 */
function inScript(lines, line, column, row, place) {
  const value = (lines[line - 1] ?? '').slice(column - 1);
  if (!/^[|>]/.test(value)) return row === 1 ? { line, column: column + (/^['"]/.test(value) ? 1 : 0) + place - 1 }
    : { line, column };
  const first = lines.slice(line).find((l) => l.trim() !== '') ?? '';
  return { line: line + row, column: indent(first) + place };
}

/**
 * place finds where in the document an error of building or running it stands; null where it names no place.
 * @param {string} message
 * @param {string} document
 * @returns {Mark|null}
 */
export function place(message, document) {
  const lines = document.split('\n');
  const text = message.replace(/^Failed to (?:build|exec) pipeline: /, '')
    .replace(/: at line \d+, column \d+ of the document$/, '');
  const at = /at line (\d+), column (\d+) of the document/.exec(message);
  const script = /--> (\d+):(\d+)/.exec(message);
  if (at && script) return { ...inScript(lines, Number(at[1]), Number(at[2]), Number(script[1]), Number(script[2])),
    length: /\^+/.exec(message)?.[0].length ?? 1, text };
  if (at) return { line: Number(at[1]), column: Number(at[2]),
    length: wordAt(lines[Number(at[1]) - 1] ?? '', Number(at[2])), text };
  const yaml = /yaml: line (\d+)/.exec(message);
  if (yaml) {
    // The reader of YAML counts the line of what it expected something in from 0, that of a character from 1.
    const line = Math.min(Number(yaml[1]) + (/did not find expected/.test(message) ? 1 : 0), lines.length);
    return { line, column: indent(lines[line - 1]) + 1, length: Math.max(1, lines[line - 1].trim().length), text };
  }
  const processor = /\bprocessor (\d+)\b/.exec(message);
  const line = processor ? processorLines(document)[Number(processor[1]) - 1] : undefined;
  if (line) return { line, column: indent(lines[line - 1]) + 1, length: Math.max(1, lines[line - 1].trim().length),
    text };
  return null;
}

/** wordAt is the length of the word at a column. @param {string} line @param {number} column */
const wordAt = (line, column) => /^("[^"]*"|'[^']*'|[^\s,:{}[\]]+)/.exec(line.slice(column - 1))?.[0].length ?? 1;

/** failedEntry is the number of the entry that an error of running is about; 0: none. @param {string} message */
export const failedEntry = (message) => Number(/\(entry (\d+) of \d+/.exec(message)?.[1] ?? 0);
