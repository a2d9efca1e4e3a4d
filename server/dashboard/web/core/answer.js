// The form of an answer of /v1/sql, and its reader, which takes the answer as it arrives.

/**
 * @typedef {object} Answer
 * @property {import('./rowset.js').Column[]} [columns] none: the statement gives no rows
 * @property {any[][]} [rows]
 * @property {number} [affected] rows that a statement changed
 * @property {number} elapsedMS
 */

/**
 * Rows are parsed in pieces of about this size while the rest arrives, so that the text of all rows is never in memory
 * at once, bytes.
 */
const piece = 256 << 10;
/** Received bytes are looked at in portions of this size; before each the text gets room for it. */
const step = 64 << 10;
/** Integers of so many digits or more come as text, as in lossless.js. */
const longDigits = 16;

/** readAnswer reads the answer of one statement. @param {ArrayBuffer} body @returns {Answer} */
export function readAnswer(body) {
  const reader = new AnswerReader();
  reader.add(new Uint8Array(body));
  return reader.end();
}

const rowsKey = [...'"rows":'].map((c) => c.charCodeAt(0));

/**
 * AnswerReader reads an answer that arrives cut at any bytes. It parses the rows while they arrive, and the JSON around
 * them at the end.
 */
export class AnswerReader {
  constructor() {
    /** text[0:size] is received and not parsed yet, with long integers in quotes. */
    this.text = new Uint8Array(step);
    this.size = 0;
    this.inText = false;
    this.escaped = false;
    /** digits is how many digits stand before this place, outside of texts. */
    this.digits = 0;
    /** depth is how many lists and objects are open within the rows; -1 outside of rows. */
    this.depth = -1;
    /** frame is the answer without its rows. */
    this.frame = '';
    /** rows are the rows of the last result. @type {any[][]} */
    this.rows = [];
    this.utf8 = new TextDecoder();
  }

  /** add takes the bytes that came next. @param {Uint8Array} bytes */
  add(bytes) {
    for (let i = 0; i < bytes.length; i += step) this.read(bytes.subarray(i, i + step));
  }

  /** end gives the answer. @returns {Answer} */
  end() {
    return answerOf(JSON.parse(this.frame + this.take(this.size)), this.rows);
  }

  /**
   * read looks at each byte once: a loop without calls for all but the ends of rows and long integers.
   * @param {Uint8Array} bytes
   */
  read(bytes) {
    const text = this.room(bytes.length);
    let { size, inText, escaped, digits, depth } = this;
    for (let i = 0; i < bytes.length; i++) {
      const b = bytes[i];
      text[size++] = b;
      if (inText) {
        if (escaped) escaped = false;
        else if (b === 92) escaped = true;
        else if (b === 34) inText = false;
        continue;
      }
      if (b >= 48 && b <= 57) {
        digits++;
        continue;
      }
      if (digits >= longDigits) size = quote(text, size, digits);
      digits = 0;
      if (b === 34) {
        inText = true;
      } else if (depth < 0) {
        if (b !== 91 || !endsWithKey(text, size - 1)) continue;
        this.frame += this.take(size);
        this.rows = [];
        size = depth = 0;
      } else if (b === 91 || b === 123) {
        depth++;
      } else if (b === 93 || b === 125) {
        if (--depth >= 0) continue;
        this.readRows(size - 1);
        text[0] = b;
        size = 1;
      } else if (b === 44 && depth === 0 && size > piece) {
        this.readRows(size - 1);
        size = 0;
      }
    }
    Object.assign(this, { size, inText, escaped, digits, depth });
  }

  /**
   * room returns the text with room for this many bytes more, and for the quotes around long integers in them.
   * @param {number} more
   */
  room(more) {
    const most = this.size + more + 2 * (1 + Math.ceil(more / longDigits));
    if (most > this.text.length) {
      const wider = new Uint8Array(2 * most);
      wider.set(this.text.subarray(0, this.size));
      this.text = wider;
    }
    return this.text;
  }

  /** readRows parses the rows that the first n bytes of the text are. @param {number} n */
  readRows(n) {
    for (const row of JSON.parse('[' + this.take(n) + ']')) this.rows.push(row);
  }

  /** take returns the first n bytes of the text; the caller begins the text anew. @param {number} n */
  take(n) {
    return this.utf8.decode(this.text.subarray(0, n));
  }
}

/**
 * endsWithKey reports whether the text ends with "rows": as a key. The same characters within a string would have
 * backslashes before their quotes.
 * @param {Uint8Array} text
 * @param {number} size
 */
const endsWithKey = (text, size) => rowsKey.every((b, i) => text[size - rowsKey.length + i] === b);

/**
 * quote puts quotes around the integer before the last byte of the text, unless that is part of a fraction, and gives
 * the new size.
 * @param {Uint8Array} text
 * @param {number} size
 * @param {number} digits
 */
function quote(text, size, digits) {
  const behind = text[size - 1];
  let from = size - 1 - digits;
  if (text[from - 1] === 45) from--;
  if (behind === 46 || isExponent(behind) || text[from - 1] === 46 || text[from - 1] === 43 ||
    isExponent(text[from - 1])) return size;
  text.copyWithin(from + 1, from, size - 1);
  text[from] = text[size] = 34;
  text[size + 1] = behind;
  return size + 2;
}

/** @param {number} b */
const isExponent = (b) => b === 101 || b === 69;

/**
 * answerOf takes the parts of an answer that pages use.
 * @param {any} body without its rows
 * @param {any[][]} rows of its last result
 * @returns {Answer}
 */
function answerOf(body, rows) {
  const output = body.output?.[body.output.length - 1] ?? {};
  const elapsedMS = Number(body.execution_time_ms ?? 0);
  if (!output.records) return { affected: Number(output.affectedrows ?? 0), elapsedMS };
  const columns = output.records.schema.column_schemas.map((/** @type {any} */ c) =>
    ({ name: c.name, type: c.data_type }));
  return { columns, rows, elapsedMS };
}
