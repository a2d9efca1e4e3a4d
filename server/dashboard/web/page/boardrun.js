// The run of a board: what its panels asked last, and the answers. An answer to another question than the one now is
// stale, and drawn so; when a board runs again by itself, all new answers are shown at once.

import { batch, signal } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { answer, filled } from './boardask.js';

/** @typedef {import('../core/boards.js').Panel} Panel */
/** @typedef {import('../core/boardvars.js').Env} Env */
/**
 * @typedef {{of: string, answer: import('./boardask.js').Answer|null, error: import('../core/api.js').ApiError|null}}
 *   Shown
 */

export class BoardRun {
  constructor() {
    /** shown are the answers by the ids of panels. @type {import('../lib/ui.js').Signal<Map<number, Shown>>} */
    this.shown = signal(new Map());
    /** asked are the questions of now. @type {import('../lib/ui.js').Signal<Map<number, string>>} */
    this.asked = signal(new Map());
    /** @type {Map<number, AbortController>} */
    this.under = new Map();
    this.busy = signal(false);
  }

  /** question names what a panel asks. @param {Panel} p @param {Env} env */
  static question(p, env) {
    try {
      return JSON.stringify([p.type, p.lang, filled(p, env), p.queries.map((q) => q.name), env.from, env.to, env.step,
        env.db]);
    } catch (e) {
      return String(e); // its answer will be the error
    }
  }

  /**
   * ask asks what is not asked yet, and forgets panels that are gone. together: nothing is shown before all answers are
   * there, and what is shown until then is not stale.
   * @param {Panel[]} panels
   * @param {Env} env
   * @param {boolean} together
   */
  async ask(panels, env, together) {
    const questions = new Map(panels.map((p) => [p.id, BoardRun.question(p, env)]));
    const fresh = panels.filter((p) => questions.get(p.id) !== this.asked.value.get(p.id));
    for (const [id, control] of this.under) if (!questions.has(id) || fresh.some((p) => p.id === id))
      control.abort(new DOMException('superseded', 'AbortError'));
    if (!together) batch(() => {
      this.asked.value = questions;
      this.keep(questions);
    });
    this.busy.value = true;
    /** @type {Map<number, Shown>} */
    const found = new Map();
    await Promise.all(fresh.map(async (p) => {
      const shown = await this.one(p, env, questions.get(p.id) ?? '');
      if (!shown) return;
      found.set(p.id, shown);
      if (!together) this.show(new Map([[p.id, shown]]));
    }));
    if (together && found.size === fresh.length) batch(() => {
      this.asked.value = questions;
      this.keep(questions);
      this.show(found);
    });
    if (this.under.size === 0) this.busy.value = false;
  }

  /**
   * one asks for one panel; null when another question took its place.
   * @param {Panel} p
   * @param {Env} env
   * @param {string} of
   * @returns {Promise<Shown|null>}
   */
  async one(p, env, of) {
    const control = new AbortController();
    this.under.set(p.id, control);
    try {
      return { of, answer: await answer(p, env, control.signal), error: null };
    } catch (e) {
      return isAbort(e) ? null : { of, answer: null, error: described(e) };
    } finally {
      if (this.under.get(p.id) === control) this.under.delete(p.id);
    }
  }

  /** show puts answers in the place of those before. @param {Map<number, Shown>} found */
  show(found) {
    this.shown.value = new Map([...this.shown.value, ...found]);
  }

  /** keep forgets the answers of panels that are gone. @param {Map<number, string>} questions */
  keep(questions) {
    this.shown.value = new Map([...this.shown.value].filter(([id]) => questions.has(id)));
  }

  /** end stops everything that is under way. */
  end() {
    for (const control of this.under.values()) control.abort(new DOMException('left', 'AbortError'));
  }
}
