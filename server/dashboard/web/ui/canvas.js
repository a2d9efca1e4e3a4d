// What all canvases share: colours of the theme, and a size in real pixels.

import { dark } from '../core/state.js';

/** @type {Map<string, string>} */
let colours = new Map();
let coloursOf = '';

/** colour reads a property of the theme in force. @param {string} name without the dashes */
export function colour(name) {
  const theme = String(dark.value);
  if (theme !== coloursOf) {
    colours = new Map();
    coloursOf = theme;
  }
  let c = colours.get(name);
  if (c === undefined) {
    c = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
    colours.set(name, c);
  }
  return c;
}

/** seriesColour is the colour of the i-th series; from the thirteenth on the dash differs. @param {number} i */
export const seriesColour = (i) => colour(`series-${(i % 12) + 1}`);

/** seriesDash tells series of one colour apart. @param {number} i @returns {number[]} */
export const seriesDash = (i) => [[], [6, 3], [2, 2], [8, 3, 2, 3]][Math.floor(i / 12) % 4];

/** hashColour gives a name the same colour everywhere. @param {string} name */
export function hashColour(name) {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619);
  return seriesColour((h >>> 0) % 12);
}

/** fit gives a canvas the size of its element in real pixels. @param {HTMLCanvasElement} canvas */
export function fit(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}
