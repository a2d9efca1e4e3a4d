// Work beside the page: the one worker, and calls to it.

/** @type {Worker|null} */
let worker = null;
let calls = 0;
/** @type {Map<number, {resolve: (v: any) => void, reject: (e: Error) => void}>} */
const waiting = new Map();

/** start makes the worker. Its address is the only one that the policy lets through. */
function start() {
  const address = new URL('./worker.js', import.meta.url).href;
  const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('varve', {
    createScriptURL: (/** @type {string} */ url) => {
      if (url !== address) throw new TypeError('not an address of ours');
      return url;
    },
  });
  const w = new Worker(policy ? policy.createScriptURL(address) : address, { type: 'module' });
  w.addEventListener('message', ({ data }) => {
    const call = waiting.get(data.call);
    waiting.delete(data.call);
    if (data.error !== undefined) call?.reject(new Error(data.error));
    else call?.resolve(data.result);
  });
  w.addEventListener('error', () => {
    for (const call of waiting.values()) call.reject(new Error('the background reader stopped: the answer may be too large for this browser'));
    waiting.clear();
    worker = null;
  });
  return w;
}

/** ask calls a method in the worker, of a set of rows where it has one. @param {number} id @param {string} method @param {any[]} args @param {Transferable[]} [transfer] @returns {Promise<any>} */
export function ask(id, method, args, transfer = []) {
  worker ??= start();
  const call = ++calls;
  return new Promise((resolve, reject) => {
    waiting.set(call, { resolve, reject });
    /** @type {Worker} */ (worker).postMessage({ id, call, method, args }, transfer);
  });
}
