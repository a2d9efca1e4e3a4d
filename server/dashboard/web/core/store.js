// What the browser keeps between visits: preferences for all, histories by user. Nothing secret goes in here.

const prefix = 'varve.';

/**
 * read gives a kept value, or the fallback where there is none or it cannot be read.
 * @template T
 * @param {string} name
 * @param {T} fallback
 * @returns {T}
 */
export function read(name, fallback) {
  try {
    const text = localStorage.getItem(prefix + name);
    return text === null ? fallback : JSON.parse(text);
  } catch {
    return fallback;
  }
}

/**
 * write keeps a value; false when the browser has no room or keeps nothing.
 * @param {string} name
 * @param {unknown} value
 */
export function write(name, value) {
  try {
    localStorage.setItem(prefix + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/**
 * change updates a kept value and returns it. It reads the value first, because other tabs of the browser write too.
 * @template T
 * @param {string} name
 * @param {T} fallback where nothing is kept
 * @param {(kept: T) => T} next
 * @returns {T}
 */
export function change(name, fallback, next) {
  const value = next(read(name, fallback));
  write(name, value);
  return value;
}

/**
 * follow calls a function when another tab of the browser has written a value. It returns a function that ends this.
 * @param {string} name
 * @param {() => void} changed
 */
export function follow(name, changed) {
  const listen = (/** @type {StorageEvent} */ e) => { if (e.key === prefix + name) changed(); };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}

/** @param {string} name */
export function forget(name) {
  try {
    localStorage.removeItem(prefix + name);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** names lists the kept keys that begin with a text. @param {string} beginning */
export function names(beginning) {
  try {
    return Object.keys(localStorage).filter((k) => k.startsWith(prefix + beginning)).map((k) => k.slice(prefix.length));
  } catch {
    return [];
  }
}
