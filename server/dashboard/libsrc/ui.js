// Templates, components and signals: every page uses these.
import { h } from 'preact';
import htm from 'htm';

export { h, render, createRef, createContext, Fragment, Component } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext } from 'preact/hooks';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
export const html = htm.bind(h);
