// A line without axes beside a figure: how it went lately.

import { html } from '../lib/ui.js';

const width = 120, height = 28;

/** Spark draws values over their places, from zero; gaps stay gaps. @param {{values: number[], label: string}} props */
export function Spark({ values, label }) {
  const most = Math.max(...values.filter(Number.isFinite), 0);
  if (values.length < 2 || most === 0)
    return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
      <path class="zero" d=${`M0 ${height - 1}H${width}`} /></svg>`;
  let d = '', pen = 'M';
  for (const [i, v] of values.entries()) {
    if (!Number.isFinite(v)) {
      pen = 'M';
      continue;
    }
    d +=
      `${pen}${((i / (values.length - 1)) * width).toFixed(1)} ${(height - 1 - (v / most) * (height - 3)).toFixed(1)}`;
    pen = 'L';
  }
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img"
    aria-label=${label}><path class="zero" d=${`M0 ${height - 1}H${width}`} /><path d=${d} /></svg>`;
}
