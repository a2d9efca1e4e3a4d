// JSON with all digits: integers of 16 and more digits come as text, since a number of JavaScript holds 53 bits only.
// The column's type says whether a text is an integer.

const long = /-?\d{16,}/g;

/** parse reads JSON and gives long integers as strings. @param {string} text */
export function parse(text) {
  return JSON.parse(quoteLong(text));
}

/**
 * quoteLong puts quotes around the long integers that stand outside strings. It jumps from string to string, and looks
 * only into gaps between them that are long enough.
 * @param {string} text
 */
export function quoteLong(text) {
  let out = '';
  let done = 0; // what of text is in out
  let at = 0;
  while (at < text.length) {
    let open = text.indexOf('"', at);
    if (open < 0) open = text.length;
    if (open - at > 16) {
      long.lastIndex = at;
      for (let m = long.exec(text); m && m.index < open; m = long.exec(text)) {
        const end = long.lastIndex;
        if (!partOfFraction(text, m.index, end)) {
          out += text.slice(done, m.index) + '"' + m[0] + '"';
          done = end;
        }
      }
    }
    at = afterString(text, open);
  }
  return done === 0 ? text : out + text.slice(done);
}

/**
 * partOfFraction: 1.2345678901234567, 12345678901234567.5 and 12345678901234567e3 stay numbers.
 * @param {string} text
 * @param {number} from
 * @param {number} to
 */
function partOfFraction(text, from, to) {
  const before = text.charCodeAt(from - 1);
  const after = text.charCodeAt(to);
  return before === 46 || before === 43 || before === 101 || before === 69 || after === 46 || after === 101 ||
    after === 69;
}

/** afterString is where the string that opens at open has ended. @param {string} text @param {number} open */
export function afterString(text, open) {
  let close = open;
  for (;;) {
    close = text.indexOf('"', close + 1);
    if (close < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return close + 1;
  }
}
