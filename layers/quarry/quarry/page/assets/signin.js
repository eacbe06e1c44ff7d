/** Sign-in with Cognito's managed login: the authorization code flow with PKCE (RFC 7636). Tokens are stored for this tab only and
 * sent to the service as bearer tokens. If the service has no sign-in, calls go out without a token. */

import {Problem} from './api.js';
import {stored} from './entries.js';
import {gettext} from './messages.js';

const TOKENS = 'quarry.tokens';
const PENDING = 'quarry.signin';

// So that a token does not expire on its way.
const SPARE_MS = 60_000;

/** @typedef {{domain: string, client_id: string, scopes: string[]}} SignIn from /config.json
 * @typedef {{id: string, access: string, refresh?: string, expires: number}} Tokens `expires` in milliseconds since 1970 */

export class Session {
  /** @param {URL} home the page's address, to which managed login returns */
  constructor(settings, home) {
    this.settings = settings;
    this.home = home;
    this.refreshing = null;
  }

  get isNeeded() {
    return this.settings !== null;
  }

  get isSignedIn() {
    return stored(TOKENS) !== null;
  }

  /** The user's email address, if the token contains it. */
  get name() {
    const tokens = stored(TOKENS);
    return tokens ? (claims(tokens.id).email ?? gettext('Signed in')) : null;
  }

  /** The bearer token for a call; null without a sign-in. Throws a Problem of kind `not_signed_in`. */
  async token() {
    if (this.settings === null) return null;
    let tokens = stored(TOKENS);
    if (tokens !== null && tokens.expires - SPARE_MS < Date.now()) {
      this.refreshing ??= this.#refresh(tokens).finally(() => { this.refreshing = null; });
      await this.refreshing;
      tokens = stored(TOKENS);
    }
    if (tokens === null) throw new Problem('not_signed_in');
    return tokens.access;
  }

  refused() {
    forget(TOKENS);
  }

  /** Go to managed login, which returns to the current view. */
  async signIn() {
    const verifier = random();
    const state = random();
    store(PENDING, {verifier, state, destination: location.search + location.hash});
    const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
    location.assign(this.#address('/oauth2/authorize', {
      response_type: 'code',
      client_id: this.settings.client_id,
      redirect_uri: this.home.href,
      scope: this.settings.scopes.join(' '),
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }));
  }

  signOut() {
    forget(TOKENS);
    location.assign(this.#address('/logout', {client_id: this.settings.client_id, logout_uri: this.home.href}));
  }

  /** After a return from managed login: redeems the code and resolves to the query string to continue with; otherwise null. Throws a
   * Problem of kind `not_signed_in` if login was refused, or if this tab did not start it. */
  async finish(params) {
    if (this.settings === null || !params.has('state') || !(params.has('code') || params.has('error'))) return null;
    const pending = stored(PENDING);
    forget(PENDING);
    if (pending === null || pending.state !== params.get('state')) throw new Problem('not_signed_in', gettext('This sign-in was not started here.'));
    if (!params.has('code')) throw new Problem('not_signed_in', params.get('error_description') ?? gettext('The sign-in was cancelled.'));
    await this.#exchange({
      grant_type: 'authorization_code',
      code: params.get('code'),
      redirect_uri: this.home.href,
      code_verifier: pending.verifier,
    });
    if (!this.isSignedIn) throw new Problem('not_signed_in', gettext('The sign-in failed.'));
    return pending.destination;
  }

  async #refresh(tokens) {
    if (tokens.refresh === undefined) return this.refused();
    return this.#exchange({grant_type: 'refresh_token', refresh_token: tokens.refresh}, tokens.refresh);
  }

  /** Store the tokens of a grant; delete the current ones if it yields none. */
  async #exchange(grant, refreshToken) {
    let response;
    try {
      response = await fetch(this.#address('/oauth2/token'), {
        method: 'POST',
        credentials: 'omit',
        body: new URLSearchParams({...grant, client_id: this.settings.client_id}),
      });
    } catch {
      throw new Problem(navigator.onLine ? 'unreachable' : 'offline');
    }
    if (!response.ok) return this.refused();
    const body = await response.json();
    store(TOKENS, {
      id: body.id_token,
      access: body.access_token,
      refresh: body.refresh_token ?? refreshToken,
      expires: Date.now() + body.expires_in * 1000,
    });
    return undefined;
  }

  #address(path, query = {}) {
    const url = new URL(path, this.settings.domain);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }
}

/** Delete what this tab stores under a key; does nothing without storage. */
function forget(key) {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // then there is nothing to delete
  }
}

function store(key, value) {
  sessionStorage.setItem(key, JSON.stringify(value));
}

/** The claims in a token. They are for display only; the service verifies them. */
function claims(token) {
  try {
    const payload = token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/');
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))));
  } catch {
    return {};
  }
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
