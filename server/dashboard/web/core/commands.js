// What the palette offers, and which of the dialogs of the frame is open. The dialogs themselves are loaded when they are wanted.

import { signal } from '../lib/ui.js';

/** @typedef {{text: string, kind: string, run: () => void}} Command */

/** opened is the dialog of the frame that is open. @type {import('../lib/ui.js').Signal<''|'palette'|'help'>} */
export const opened = signal('');

/** sources give the commands; pages add theirs. @type {Set<() => Command[]|Promise<Command[]>>} */
export const sources = new Set();
