// Text, bytes and drawings as files.

import { colour } from './canvas.js';

/** save gives them to the browser as a file. @param {BlobPart} content @param {string} name */
export function save(content, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type: name.endsWith('.csv') ? 'text/csv' : 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** picture is a drawing on the ground of the page, as PNG. @param {HTMLCanvasElement} drawing @returns {Promise<Blob>} */
export function picture(drawing) {
  const whole = document.createElement('canvas');
  whole.width = drawing.width;
  whole.height = drawing.height;
  const g = /** @type {CanvasRenderingContext2D} */ (whole.getContext('2d'));
  g.fillStyle = colour('bg');
  g.fillRect(0, 0, whole.width, whole.height);
  g.drawImage(drawing, 0, 0);
  return new Promise((resolve, reject) => { whole.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The chart is too large for a picture.')))); });
}
