// Templates, components and signals: every page uses these.
import { h } from 'preact';
import htm from 'htm';

export { render } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo } from 'preact/hooks';
export { signal, computed, effect, batch } from '@preact/signals';
export const html = htm.bind(h);
