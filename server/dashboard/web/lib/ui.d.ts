export { render } from 'preact';
export type { ComponentChildren, VNode } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo } from 'preact/hooks';
export { signal, computed, effect, batch } from '@preact/signals';
export type { Signal, ReadonlySignal } from '@preact/signals';
// What is put into a template may be anything; functions in it take anything, so that they need not say so.
export declare const html: (strings: TemplateStringsArray, ...values: (((...args: any[]) => any) | {} | null | undefined)[]) => any;
