// Help: the shortcuts that work now, the search language, and the functions of both query languages as this build has
// them.

import { html, useEffect, useState } from '../lib/ui.js';
import * as keys from '../core/keys.js';
import { reading } from '../core/documents.js';
import { reference } from '../core/reference.js';
import { session } from '../core/state.js';
import { Documents } from './documents.js';
import { Dialog } from './pop.js';
import { Tabs } from './tabs.js';

const tabs = [{ id: 'keys', text: 'Keys' }, { id: 'search', text: 'Search' }, { id: 'sql', text: 'SQL' },
  { id: 'metrics', text: 'Metrics' }, { id: 'documents', text: 'Documents' }];

export function Help() {
  const [tab, setTab] = useState(reading.value ? 'documents' : 'keys');
  const close = () => {
    keys.opened.value = '';
    reading.value = '';
  };
  return html`<${Dialog} title="Help" className=${tab === 'documents' ? 'help wide' : 'help'} onClose=${close}>
    <${Tabs} label="Help about" tabs=${tabs} tab=${tab} onTab=${setTab} />
    <div class="body" role="tabpanel" aria-label=${tabs.find((t) => t.id === tab)?.text} tabindex="0">
      ${tab === 'keys' && html`<${Keys} />`}${tab === 'search' && html`<${SearchLanguage} />`}
      ${tab === 'documents' && html`<${Documents} />`}
      ${(tab === 'sql' || tab === 'metrics') && html`<${Functions} key=${tab} language=${tab} />`}
    </div>
    <div class="buttons"><span class="grow faint small">${session.value.version ? `Varve ${session.value.version}` : ''}
      </span><button autofocus onClick=${close}>Close</button></div>
  </${Dialog}>`;
}

function Keys() {
  const seen = new Set();
  const list = keys.all().filter((s) => s.text && !seen.has(s.keys) && seen.add(s.keys));
  const mac = /Mac|iP(hone|ad)/.test(navigator.platform);
  return html`<div class="shortcuts">
    ${list.map((s) => html`<kbd key=${s.keys}>${s.keys.replace('Mod', mac ? '⌘' : 'Ctrl')}</kbd><span>${s.text}
    </span>`)}
    <kbd>j k ↑ ↓</kbd><span>Next, previous row of a list</span><kbd>Home End PgUp PgDn</kbd><span>Move in a list</span>
    <kbd>Shift ← →</kbd><span>Move the column of the focused cell</span><kbd>${'< >'}</kbd>
      <span>Narrower, wider column</span><kbd>Delete</kbd><span>Take the column away</span></div>`;
}

/** forms are what the search line knows, each with its meaning. @type {[string, string][]} */
const forms = [
  ['timeout', 'rows whose message has the word'],
  ['"connection reset"', 'words in this order'],
  ['time*', 'a word that begins so'],
  ['~timeout', 'a part of a word, in any case'],
  ['/user=\\d+/  /err/i', 'a regular expression; i: in any case'],
  ['level:error', 'a field is this'],
  ['level:(error,warn)', 'a field is one of these'],
  ['status:>=500', 'numbers compare with > >= < <= = !='],
  ['bytes:10..20', 'from, to, both included'],
  ['user:*', 'the row has the field'],
  ['path:/^\\/api/  path:~api  path:api*', 'expression, part and beginning of a field'],
  ['-level:debug  NOT timeout', 'all rows but these; rows without the field stay'],
  ['a b  a OR b  (a OR b) c', 'both, one of them, together'],
  ['labels.app:web', 'inside a JSON column; so are flattened names with dots'],
  ['"a:b"  \\-x  field:"a b"', 'quotes and a backslash take the meaning away'],
];

const SearchLanguage = () => html`<dl class="terms">
  ${forms.map(([form, meaning]) => html`<div key=${form}><dt><code>${form}</code></dt><dd>${meaning}</dd></div>`)}</dl>
  <p class="soft">What a line becomes is shown below it as SQL while you type.</p>`;

/** Functions lists what a language has, by subject. @param {{language: 'sql'|'metrics'}} props */
function Functions({ language }) {
  const [text, setText] = useState('');
  const [groups, setGroups] = useState(/** @type {[string, string[]][]} */ ([]));
  useEffect(() => { void reference().then((r) => setGroups(r[language])); }, [language]);
  const found = groups.map(([title, list]) => /** @type {[string, string[]]} */ ([title,
    list.filter((f) => f.toLowerCase().includes(text.toLowerCase()))])).filter(([, list]) => list.length > 0);
  return html`<input class="find" placeholder="Find a function" aria-label="Find a function" value=${text}
    onInput=${(e) => setText(e.target.value)} />
    ${found.map(([title, list]) => html`<section key=${title}><h3>${title}</h3>
      <div class="functions">${list.map((f) => html`<code key=${f}>${f}</code>`)}</div></section>`)}
    ${groups.length > 0 && found.length === 0 && html`<p class="soft">No function is called so.</p>`}`;
}
