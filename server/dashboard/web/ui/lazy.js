// Components that are loaded when they are first shown, so that a first visit brings what it needs only.

import { html, useEffect, useState } from '../lib/ui.js';

/** lazy makes a component of one in a module that is not loaded yet. @template T @param {() => Promise<T>} load @param {keyof T} name */
export function lazy(load, name) {
  return (/** @type {any} */ props) => {
    const [loaded, setLoaded] = useState(/** @type {{is: any}|null} */ (null));
    const [failed, setFailed] = useState(false);
    useEffect(() => { load().then((m) => setLoaded({ is: m[name] }), () => setFailed(true)); }, []);
    if (failed) return html`<p class="state">A part of this page is gone: a new version is installed. <button onClick=${() => location.reload()}>Reload</button></p>`;
    return loaded && html`<${loaded.is} ...${props} />`;
  };
}
