// The sign-in dialog: opens by itself when the server refuses a request for want of a user.

import { html, useState } from '../lib/ui.js';
import * as auth from '../core/auth.js';
import { Dialog } from './pop.js';

export function SignIn() {
  const asked = auth.asking.value;
  return asked && html`<${Form} text=${asked.text} />`;
}

/** @param {{text: string}} props */
function Form({ text }) {
  const [known] = useState(auth.user.value); // whose password is asked for again
  const [name, setName] = useState(known);
  const [password, setPassword] = useState('');
  const [keep, setKeep] = useState(true);
  const [proxy, setProxy] = useState(auth.proxied.value);
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    auth.proxied.value = proxy;
    auth.signIn(name, password, keep);
  };
  return html`<${Dialog} title="Sign in" onClose=${auth.cancel}>
    <form onSubmit=${submit}>
      ${text && html`<p class="level-error" role="alert">${text}</p>`}
      <label>User<input name="user" autocomplete="username" autofocus=${known === ''} required value=${name}
        onInput=${(e) => setName(e.target.value)} /></label>
      <label>Password<input name="password" type="password" autocomplete="current-password" autofocus=${known !== ''}
        value=${password} onInput=${(e) => setPassword(e.target.value)} /></label>
      <label class="check"><input type="checkbox" checked=${keep}
        onChange=${(e) => setKeep(e.target.checked)} />Stay signed in until the tab closes</label>
      <label class="check"><input type="checkbox" checked=${proxy}
        onChange=${(e) => setProxy(e.target.checked)} />A proxy uses Authorization</label>
      <div class="buttons"><button type="button" onClick=${auth.cancel}>Cancel</button>
        <button class="primary">Sign in</button></div>
    </form>
  </${Dialog}>`;
}
