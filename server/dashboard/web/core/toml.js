// The running configuration: the part of TOML that the server prints.

/** @typedef {{key: string, value: string}} Setting */

/** settings lists keys, with their section, and values, both as printed. @param {string} text @returns {Setting[]} */
export function settings(text) {
  const list = [];
  let section = '';
  for (const line of text.split('\n')) {
    const head = /^\[([^\]]+)\]\s*$/.exec(line);
    if (head) {
      section = head[1] + '.';
      continue;
    }
    const pair = /^([\w.-]+)\s*=\s*(.*)$/.exec(line);
    if (pair) list.push({ key: section + pair[1], value: pair[2] });
  }
  return list;
}

/** plain is a value without the quotes of a text. @param {string} value */
export function plain(value) {
  if (!/^"(?:[^"\\]|\\.)*"$/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const units = { b: 1, kb: 1e3, kib: 1024, mb: 1e6, mib: 1024 ** 2, gb: 1e9, gib: 1024 ** 3, tb: 1e12, tib: 1024 ** 4 };

/** size reads a size with a unit, bytes; NaN where it is none. @param {string} text */
export function size(text) {
  const m = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim());
  return m ? Number(m[1]) * (units[/** @type {keyof typeof units} */ (m[2].toLowerCase())] ?? NaN) : NaN;
}
