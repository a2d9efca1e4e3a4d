// The one place that talks to the server. At most four requests run at a time, in three lanes: what a person waits for
// comes before the rest, and completion comes last. Every request can be aborted, and the server then stops working on
// it.

import { signal } from '../lib/ui.js';
import * as auth from './auth.js';
import { Incoming, openRows } from './rows.js';
import { zoneName } from './time.js';
import { db, session, zone } from './state.js';

/** root is the address of the server: the dashboard lies in dashboard/a/BUILD/core/ below it. */
export const root = new URL('../../../../', import.meta.url);

/** Answers above this size are stopped, bytes. */
const largest = 256 << 20;
/**
 * Longer answers are joined in a Blob, which lies outside of the page's own memory; to read one back takes some ms,
 * bytes.
 */
const short = 1 << 20;
const most = 4;
/**
 * lanes[l] is how many requests that nobody waits for may run when one of lane l begins: what a person waits for, the
 * rest, completion.
 */
const lanes = [most, 2, 1];

export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {{code?: number, status?: number, statement?: string, position?: {line: number, column: number, length?:
   *   number}, curl?: string}} [more]
   */
  constructor(message, more = {}) {
    super(message);
    this.code = more.code;
    this.status = more.status;
    this.statement = more.statement;
    this.position = more.position;
    this.curl = more.curl ?? '';
  }
}

/** TooLarge: an answer is more than a page can hold. */
export class TooLarge extends ApiError {}

/**
 * @typedef {object} RequestOptions
 * @property {string} [method]
 * @property {Record<string, string|number|undefined>} [query]
 * @property {BodyInit} [body]
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {boolean} [background] in the lane of the rest
 * @property {boolean} [last] in the lane of completion
 * @property {string} [statement] the statement that errors show
 * @property {boolean} [retry] false: nothing is sent again by itself, for what changes data
 * @property {() => {add: (bytes: Uint8Array<ArrayBuffer>) => void}} [into] gives what takes the body as it arrives,
 *   anew for each time that it is sent; the answer is without it then
 */

/**
 * running lists the requests under way: the bar and its Cancel.
 * @type {import('../lib/ui.js').Signal<{since: number, abort: () => void, background: boolean}[]>}
 */
export const running = signal([]);

/**
 * lost is set while the server does not answer: when it is tried again, ms.
 * @type {import('../lib/ui.js').Signal<null|{again: number}>}
 */
export const lost = signal(null);

/** queue holds the requests that wait, by their lanes. @type {{lane: number, go: () => void}[]} */
const queue = [];
let active = 0;
let activeRest = 0;

/** @param {number} lane @param {AbortSignal} abort @returns {Promise<void>} */
function enter(lane, abort) {
  return new Promise((resolve, reject) => {
    const entry = { lane, go: () => { active++; if (lane > 0) activeRest++; resolve(); } };
    abort.addEventListener('abort', () => {
      const i = queue.indexOf(entry);
      if (i >= 0) {
        queue.splice(i, 1);
        reject(abort.reason);
      }
    });
    queue.push(entry);
    queue.sort((a, b) => a.lane - b.lane);
    next();
  });
}

/** @param {number} lane */
function leave(lane) {
  active--;
  if (lane > 0) activeRest--;
  next();
}

function next() {
  while (active < most && queue.length > 0 && activeRest < lanes[queue[0].lane]) queue.shift()?.go();
}

/** @param {number} ms @param {AbortSignal} abort */
const pause = (ms, abort) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  abort.addEventListener('abort', () => { clearTimeout(timer); reject(abort.reason); }, { once: true });
});

/** shellQuote writes a text as one word of a shell. @param {string} text */
export const shellQuote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** curl is the request for a terminal, without the password. @param {URL} url @param {RequestOptions} options */
function curl(url, options) {
  const parts = ['curl', options.method && options.method !== 'GET' && !options.body ? `-X ${options.method}` : '',
    auth.user.value ? '-u "$USER"' : ''];
  for (const [k, v] of Object.entries(options.headers ?? {})) parts.push('-H ' + shellQuote(`${k}: ${v}`));
  if (options.body instanceof URLSearchParams) for (const [k, v] of options.body)
    parts.push('--data-urlencode ' + shellQuote(`${k}=${v}`));
  else if (typeof options.body === 'string') parts.push('--data-binary ' + shellQuote(options.body));
  parts.push(shellQuote(url.href));
  return parts.filter(Boolean).join(' ');
}

/**
 * request sends a request and gives the answer once its head is there; answers that are not 2xx are ApiErrors.
 * @param {string} path below the server's root
 * @param {RequestOptions} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, options = {}) {
  const url = new URL(path, root);
  for (const [k, v] of Object.entries(options.query ?? {})) if (v !== undefined && v !== '')
    url.searchParams.set(k, String(v));
  const control = new AbortController();
  options.signal?.addEventListener('abort', () => control.abort(options.signal?.reason), { once: true });
  if (options.signal?.aborted) control.abort(options.signal.reason);
  const lane = options.last ? 2 : options.background ? 1 : 0, background = lane > 0;
  const entry = { since: performance.now(), abort: () => control.abort(stopped), background };
  running.value = [...running.value, entry];
  try {
    await enter(lane, control.signal);
    try {
      return await attempts(url, options, control.signal);
    } finally {
      leave(lane);
    }
  } finally {
    running.value = running.value.filter((e) => e !== entry);
    if (running.value.length === 0) lost.value = null; // nobody tries again
  }
}

/**
 * When the answer breaks off this often, the server can be reached and the answer itself is the reason: no more
 * attempts.
 */
const mostCut = 3;

/**
 * attempts sends the request until it is answered for good.
 * @param {URL} url
 * @param {RequestOptions} options
 * @param {AbortSignal} abort
 */
async function attempts(url, options, abort) {
  for (let busy = 0, unreachable = 0, cut = 0; ;) {
    const guarded = url.pathname.startsWith(root.pathname + 'v1/'); // other paths need no user
    if (guarded && !await auth.answered())
      throw new ApiError('Nobody is signed in.', { status: 401, statement: options.statement });
    const who = auth.header();
    const head = await fetch(url, {
      method: options.method ?? (options.body === undefined ? 'GET' : 'POST'), body: options.body, signal: abort,
        cache: 'no-store', credentials: 'omit',
      headers: { ...options.headers, 'x-service-client': `dashboard/${session.value.version ?? ''}`,
        ...Object.fromEntries(who) },
    }).catch(none);
    if (head) lost.value = null;
    const answer = head && await whole(head, head.ok ? options.into?.() : undefined);
    abort.throwIfAborted();
    if (!answer) {
      if (options.retry === false || head && ++cut === mostCut)
        throw new ApiError(head ? 'The connection to the server ended in the middle of its answer.'
          : 'The server cannot be reached.', { statement: options.statement, curl: curl(url, options) });
      await offline([1, 2, 5, 10][Math.min(unreachable++, 3)], abort);
      continue;
    }
    if (answer.status === 401) {
      if (await auth.ask(who[0]?.[1] ?? '')) continue;
    } else if ((answer.status === 429 || answer.status === 503) && busy < 2 && options.retry !== false) {
      busy++;
      await pause(Math.min(Number(answer.headers.get('Retry-After') ?? 1) || 1, 10) * 1000, abort);
      continue;
    }
    if (!answer.ok) throw await failure(answer, url, options);
    if (guarded) auth.accepted(who[0]?.[1] ?? '');
    return answer;
  }
}

/** none is the answer of a connection that ended. */
const none = () => null;

/** offline shows that the server cannot be reached, and waits. @param {number} seconds @param {AbortSignal} abort */
async function offline(seconds, abort) {
  lost.value = { again: Date.now() + seconds * 1000 };
  await pause(seconds * 1000, abort);
}

/**
 * whole reads the body to its end, so that the request counts as running until then; null when the connection ended
 * before.
 * @param {Response} answer
 * @param {ReturnType<NonNullable<RequestOptions['into']>>} [into]
 */
async function whole(answer, into) {
  if (!answer.body) return answer;
  const reader = answer.body.getReader();
  const chunks = [];
  let size = 0;
  for (;;) {
    const part = await reader.read().catch(none);
    if (!part) return null;
    if (part.done) break;
    size += part.value.length;
    if (size > largest) {
      await reader.cancel();
      throw new TooLarge('The answer is larger than 256 MB. Ask for fewer rows or columns.');
    }
    if (into) into.add(part.value);
    else chunks.push(part.value);
  }
  if (into) return answer;
  return new Response(size <= short ? joined(chunks, size) : new Blob(chunks),
    { status: answer.status, headers: answer.headers });
}

/** joined puts pieces together. @param {Uint8Array<ArrayBuffer>[]} chunks @param {number} size */
function joined(chunks, size) {
  if (chunks.length === 1) return chunks[0];
  const whole = new Uint8Array(size);
  let at = 0;
  for (const c of chunks) {
    whole.set(c, at);
    at += c.length;
  }
  return whole;
}

/** asset reads a file of the application. @param {string} name */
export const asset = async (name) =>
  (await request(new URL('../' + name, import.meta.url).href, { background: true })).text();

/**
 * bring loads a module. If that fails, it waits until the server answers and loads the module again; this fails when
 * the server has another build by then.
 * @template T
 * @param {() => Promise<T>} load
 */
export const bring = (load) => load().catch(() => asset('app.js').then(load));

/**
 * failure makes the error of a refused request.
 * @param {Response} answer
 * @param {URL} url
 * @param {RequestOptions} options
 */
async function failure(answer, url, options) {
  const text = await answer.text();
  let message = text.trim() || `The server answered ${answer.status}.`;
  let code, position;
  try {
    const body = JSON.parse(text);
    message = body.error ?? message;
    code = body.code;
    position = body.position;
  } catch {
    // Not every answer is JSON.
  }
  const at = /\bline (\d+), col(?:umn)? (\d+)/.exec(message);
  if (!position && at) position = { line: Number(at[1]), column: Number(at[2]) };
  return new ApiError(message,
    { code, status: answer.status, statement: options.statement, position, curl: curl(url, options) });
}

/**
 * @typedef {object} SQLOptions
 * @property {string} [db]
 * @property {number} [limit]
 * @property {AbortSignal} [signal]
 * @property {boolean} [background]
 * @property {boolean} [last]
 * @property {string} [format]
 * @property {boolean} [retry]
 */

/** send sends one statement. @param {string} sql @param {SQLOptions} options @param {() => Incoming} [into] */
const send = (sql, options, into) => request('v1/sql', {
  query: { db: options.db ?? db.value, limit: options.limit, format: options.format }, method: 'POST',
  body: new URLSearchParams({ sql }), headers: { 'x-service-timezone': zoneName(zone.value) },
  signal: options.signal, background: options.background, last: options.last, statement: sql, retry: options.retry,
    into,
});

/**
 * statement sends one statement and gives the body of its answer.
 * @param {string} sql
 * @param {SQLOptions} [options]
 * @returns {Promise<ArrayBuffer>}
 */
export const statement = async (sql, options = {}) => (await send(sql, options)).arrayBuffer();

/**
 * query sends one statement and opens its rows, which are read while they arrive.
 * @param {string} sql
 * @param {SQLOptions} [options]
 */
export async function query(sql, options = {}) {
  let answer = new Incoming();
  try {
    await send(sql, options, () => {
      answer.drop();
      return answer = new Incoming();
    });
  } catch (e) {
    answer.drop();
    throw e;
  }
  return answer.rows();
}

/**
 * list sends a statement whose answer is small and gives its rows.
 * @param {string} sql
 * @param {SQLOptions} [options]
 * @returns {Promise<any[][]>}
 */
export async function list(sql, options) {
  const rows = await openRows(await statement(sql, options), true);
  return rows.all();
}

/** json asks for JSON. @param {string} path @param {RequestOptions} [options] @returns {Promise<any>} */
export async function json(path, options) {
  return (await request(path, options)).json();
}

/** stopped is the reason of a request that somebody ends by Cancel. */
export const stopped = new DOMException('Cancelled.', 'AbortError');

/** isAbort reports whether an error only says that nobody wants the answer any more. @param {unknown} e */
export const isAbort = (e) => e instanceof DOMException && e.name === 'AbortError' && e !== stopped;

/** described makes an ApiError of whatever was thrown. @param {unknown} e */
export const described = (e) => (e instanceof ApiError ? e : new ApiError(e instanceof Error ? e.message : String(e)));
