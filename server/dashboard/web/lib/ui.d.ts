import { h } from 'preact';
export { h, render, createRef, createContext, Fragment, Component } from 'preact';
export type { ComponentChildren, VNode } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext } from 'preact/hooks';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
export type { Signal, ReadonlySignal } from '@preact/signals';
export declare const html: (strings: TemplateStringsArray, ...values: any[]) => any;
