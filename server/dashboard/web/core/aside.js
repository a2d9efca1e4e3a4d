// Work beside the page: a worker for all, one more for the rows of each very large answer, and calls to them.

/** @type {Worker|null} */
let common = null;
/**
 * alone[id] holds the rows of one answer only: it ends with them, so that their memory is free at once.
 * @type {Map<number, Worker>}
 */
const alone = new Map();
let calls = 0;
/** @type {Map<number, {worker: Worker, resolve: (v: any) => void, reject: (e: Error) => void}>} */
const waiting = new Map();

const address = new URL('./worker.js', import.meta.url).href;
/** policy lets the worker's address through, and no other. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('varve', {
  createScriptURL: (/** @type {string} */ url) => {
    if (url !== address) throw new TypeError('not an address of ours');
    return url;
  },
});

/** start makes a worker. */
function start() {
  const w = new Worker(policy ? policy.createScriptURL(address) : address, { type: 'module' });
  w.addEventListener('message', ({ data }) => {
    const call = waiting.get(data.call);
    waiting.delete(data.call);
    if (data.error !== undefined) call?.reject(new Error(data.error));
    else call?.resolve(data.result);
  });
  w.addEventListener('error', () => {
    lose(w, 'the background reader stopped: the answer may be too large for this browser');
    if (w === common) common = null;
  });
  return w;
}

/** lose ends the calls of a worker that is gone. @param {Worker} w @param {string} why */
function lose(w, why) {
  for (const [n, call] of waiting) {
    if (call.worker !== w) continue;
    waiting.delete(n);
    call.reject(new Error(why));
  }
}

/** apart gives a set of rows a worker of its own. @param {number} id */
export function apart(id) {
  alone.set(id, start());
}

/**
 * ask calls a method in the worker, of a set of rows where it has one.
 * @param {number} id 0: none
 * @param {string} method
 * @param {any[]} args
 * @param {Transferable[]} [transfer]
 * @returns {Promise<any>}
 */
export function ask(id, method, args, transfer = []) {
  const worker = alone.get(id) ?? (common ??= start());
  const call = ++calls;
  return new Promise((resolve, reject) => {
    waiting.set(call, { worker, resolve, reject });
    worker.postMessage({ id, call, method, args }, transfer);
  });
}

/** free gives the memory of a set of rows back. @param {number} id */
export function free(id) {
  const worker = alone.get(id);
  if (!worker) return void ask(id, 'free', []).catch(() => {});
  alone.delete(id);
  worker.terminate();
  lose(worker, 'these rows are gone');
}
