export { render } from 'preact';
export type { ComponentChildren, VNode } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo } from 'preact/hooks';
export { signal, computed, effect, batch } from '@preact/signals';
export type { Signal, ReadonlySignal } from '@preact/signals';
export declare const html: (strings: TemplateStringsArray, ...values: any[]) => any;
