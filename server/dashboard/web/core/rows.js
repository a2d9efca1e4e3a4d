// Rows of an answer as a page sees them: in the page when there are few, in the worker when there are many. The methods
// are the same and all are promises.

import { AnswerReader, readAnswer } from './answer.js';
import { apart, ask, free } from './aside.js';
import { Rowset } from './rowset.js';

/** Answers up to this size are read in the page itself, bytes. */
export const small = 32 << 10;
/** Answers above this size are read by a worker of their own, while they arrive, bytes. */
const large = 2 << 20;

let ids = 0;

export class Rows {
  /**
   * @param {import('./rowset.js').Column[]} columns
   * @param {number} count
   * @param {Rowset|null} local
   * @param {number} id
   */
  constructor(columns, count, local, id) {
    this.columns = columns;
    /** count is the number of rows shown now. */
    this.count = count;
    /** total is the number of rows that are loaded, shown or filtered out. */
    this.total = count;
    this.local = local;
    this.id = id;
    /** affected is the number of rows that a statement changed. @type {number|undefined} */
    this.affected = undefined;
    this.elapsedMS = 0;
  }

  /** @param {string} method @param {any[]} args @returns {Promise<any>} */
  call(method, ...args) {
    return this.local ? Promise.resolve(/** @type {any} */ (this.local)[method](...args)) : ask(this.id, method, args);
  }

  /** @param {number} from @param {number} to @returns {Promise<any[][]>} */
  slice(from, to) { return this.call('slice', from, to); }

  /** all gives every row: for answers that are known to be small. @returns {Promise<any[][]>} */
  all() { return this.call('slice', 0, this.count); }

  /** last is the row that came last. @returns {Promise<any[]>} */
  last() { return this.call('last'); }

  /** equalToLast counts the rows at the end with one value of a column. @param {number} c @returns {Promise<number>} */
  equalToLast(c) { return this.call('equalToLast', c); }

  /** @param {string} text @returns {Promise<number[]>} */
  find(text) { return this.call('find', text); }

  /** @returns {Promise<{present: number, length: number}[]>} */
  summary() { return this.call('summary'); }

  /** @param {number} c @returns {Promise<any[]>} */
  column(c) { return this.call('column', c); }

  /** @param {import('./rowtext.js').TextOptions} options @returns {Promise<string>} */
  text(options) { return this.call('text', options); }

  /**
   * arrange sorts and filters; the order stays until the next call.
   * @param {{column: number, descending: boolean}} by
   * @param {import('./rowset.js').Filter[]} filters
   */
  async arrange(by, filters) {
    this.count = await this.call('arrange', by, filters);
  }

  /** fold shows rows that differ in one column at most as one. @param {number} column -1: each by itself */
  async fold(column) {
    this.count = await this.call('fold', column);
  }

  /** truncate drops the rows behind the first n. @param {number} n */
  async truncate(n) {
    this.count = await this.call('truncate', n);
    this.total = Math.min(this.total, n);
  }

  /**
   * append reads one more answer behind these rows.
   * @param {ArrayBuffer} body
   * @param {number} time column by which pages follow each other
   * @returns {Promise<{received: number, added: number, elapsedMS: number}>}
   */
  async append(body, time) {
    if (this.local) {
      const read = readAnswer(body);
      const added = this.local.append(read.rows ?? [], time);
      this.count = this.local.count();
      this.total += added;
      return { received: read.rows?.length ?? 0, added, elapsedMS: read.elapsedMS };
    }
    const done = await ask(this.id, 'append', [body, time], [body]);
    this.count = done.count;
    this.total += done.added;
    return done;
  }

  /** free gives the memory of rows in the worker back. */
  free() {
    if (!this.local) free(this.id);
  }
}

/**
 * Incoming takes an answer while it arrives. A large one goes to a worker of its own piece by piece, which reads it
 * meanwhile.
 */
export class Incoming {
  constructor() {
    /** @type {Uint8Array<ArrayBuffer>[]} */
    this.waiting = [];
    this.size = 0;
    this.id = ++ids;
    this.apart = false;
    /** failed is the first error of a piece. @type {Error|null} */
    this.failed = null;
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes of the answer that came next */
  add(bytes) {
    this.size += bytes.length;
    this.waiting.push(bytes);
    if (!this.apart && this.size > large) {
      apart(this.id);
      this.apart = true;
    }
    if (this.apart) this.pass('arrive').catch((e) => { this.failed ??= e; });
  }

  /** pass gives the received bytes to the worker. @param {string} method @returns {Promise<any>} */
  pass(method) {
    const pieces = this.waiting;
    this.waiting = [];
    return ask(this.id, method, [pieces], pieces.map((p) => p.buffer));
  }

  /** rows opens the rows of the complete answer. @returns {Promise<Rows>} */
  async rows() {
    if (this.size <= small) return here(this.waiting);
    const read = await this.pass('open').catch((e) => { this.failed ??= e; });
    if (this.failed) {
      free(this.id);
      throw this.failed;
    }
    return described(new Rows(read.columns ?? [], read.count, null, this.id), read);
  }

  /** drop forgets the received bytes of an answer that stays incomplete. */
  drop() {
    if (this.apart) free(this.id);
  }
}

/** here reads an answer in the page itself. @param {Uint8Array<ArrayBuffer>[]} pieces */
function here(pieces) {
  const reader = new AnswerReader();
  for (const bytes of pieces) reader.add(bytes);
  const read = reader.end();
  return described(localRows(read.columns ?? [], read.rows ?? []), read);
}

/**
 * described adds to rows the other facts of their answer: changed rows and time.
 * @param {Rows} rows
 * @param {import('./answer.js').Answer} read
 */
function described(rows, read) {
  rows.affected = read.affected;
  rows.elapsedMS = read.elapsedMS;
  return rows;
}

/**
 * openRows reads an answer, in the worker when it is large.
 * @param {ArrayBuffer} body
 * @param {boolean} [keepHere] rows stay in the page
 * @returns {Promise<Rows>}
 */
export async function openRows(body, keepHere = false) {
  if (keepHere) return here([new Uint8Array(body)]);
  const whole = new Incoming();
  whole.add(new Uint8Array(body));
  return whole.rows();
}

/**
 * localRows makes rows that a page puts together itself.
 * @param {import('./rowset.js').Column[]} columns
 * @param {any[][]} list
 */
export function localRows(columns, list) {
  const set = new Rowset(columns, list);
  return new Rows(columns, set.count(), set, 0);
}
