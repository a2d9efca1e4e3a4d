// Who the requests are made for. A name and password live in memory, and in the tab's own storage when wanted; never in
// an address, a cookie or a lasting store of the browser.

import { signal } from '../lib/ui.js';
import * as store from './store.js';

const kept = 'varve.session';

/** @typedef {{user: string, password: string, proxied?: boolean}} Credentials */

/** user is who is signed in; '' on a server that asked for nobody. */
export const user = signal('');

/**
 * asking is set while the sign-in dialog is wanted: why, and how often it was refused.
 * @type {import('../lib/ui.js').Signal<null|{text: string}>}
 */
export const asking = signal(null);

/** @type {Credentials|null} */
let credentials = load();
user.value = credentials?.user ?? '';

/**
 * untried: the credentials were just typed and the server has not accepted them yet, so a refusal means that they are
 * wrong.
 */
let untried = false;

/** @type {((ok: boolean) => void)[]} */
let waiters = [];

/** proxied: a proxy keeps Authorization for itself, so that ours goes into another header. */
export const proxied = { value: credentials?.proxied ?? false };

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(kept) ?? 'null');
  } catch {
    return null;
  }
}

/** header gives the header of the credentials; none when nobody signed in. @returns {[string, string][]} */
export function header() {
  if (!credentials) return [];
  const bytes = new TextEncoder().encode(`${credentials.user}:${credentials.password}`);
  const value = 'Basic ' + btoa(String.fromCharCode(...bytes));
  return [[proxied.value ? 'x-service-auth' : 'Authorization', value]];
}

/**
 * ask opens the dialog and waits; false when the user closed it. Requests that are refused at the same time wait
 * together.
 * @param {string} used the header with which the request was refused
 * @returns {Promise<boolean>}
 */
export function ask(used) {
  if (used !== (header()[0]?.[1] ?? '')) return Promise.resolve(true); // somebody signed in meanwhile
  asking.value = { text: untried ? 'The name or the password is wrong.' : credentials
    ? 'The server no longer accepts this name and password. Sign in again.' : '' };
  return new Promise((resolve) => waiters.push(resolve));
}

/** answered waits for the dialog while it is open, false when the user closes it. @returns {Promise<boolean>|true} */
export const answered = () => asking.value === null || new Promise((resolve) => { waiters.push(resolve); });

/** accepted notes that the server accepted credentials. @param {string} used their header */
export function accepted(used) {
  if (untried && used === header()[0]?.[1]) untried = false;
}

/**
 * signIn takes a name and password; the waiting requests are sent again. When the name is another than before, the page
 * is loaded anew.
 * @param {string} name
 * @param {string} password
 * @param {boolean} keep
 */
export function signIn(name, password, keep) {
  credentials = { user: name, password, proxied: proxied.value };
  untried = true;
  try {
    if (keep) sessionStorage.setItem(kept, JSON.stringify(credentials));
    else sessionStorage.removeItem(kept);
  } catch {
    // Then the credentials are kept in memory only.
  }
  if (user.value && user.value !== name) return location.reload(); // what is shown is another user's
  user.value = name;
  finish(true);
}

/** cancel closes the dialog: the requests fail. */
export const cancel = () => finish(false);

/** The keys under which this browser keeps something of a user; the name of the user is appended to each. */
const ofUser = ['sql.history', 'sql.tabs', 'metrics.history', 'logs.history', 'saved'];

/** leaving names the user who signs out to the other tabs of this browser: they forget the user, too. */
const leaving = new BroadcastChannel('varve');
leaving.onmessage = ({ data }) => { if (data === user.value) forget(); };

/** signOut forgets the user, and the user's kept values where that is wanted. @param {boolean} all */
export function signOut(all) {
  if (all) for (const what of ofUser) store.forget(`${what}.${user.value}`);
  leaving.postMessage(user.value);
  forget();
}

/** forget removes the credentials and loads the page anew. */
function forget() {
  credentials = null;
  try {
    sessionStorage.removeItem(kept);
  } catch {
    // Nothing was kept then.
  }
  location.reload();
}

/** @param {boolean} ok */
function finish(ok) {
  asking.value = null;
  const list = waiters;
  waiters = [];
  for (const w of list) w(ok);
}
