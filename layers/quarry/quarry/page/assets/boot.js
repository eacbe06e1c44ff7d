// Stands in the document, before the page's script: sets the chosen colour scheme, so that the page is painted once, and loads the page
// again if a file of it failed to load. A service that starts cold may refuse some of many requests at once.
(() => {
  const TRIES = 'quarry.tries';
  const TRIES_MAX = 3;

  try {
    const scheme = localStorage.getItem('quarry.scheme');
    if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme;
  } catch {
    // storage is not allowed here: the system's scheme applies
  }

  let isTrying = false;

  // load errors of files do not bubble
  addEventListener('error', ({target}) => {
    if (isTrying || !(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    isTrying = true;
    let tries = TRIES_MAX;
    try {
      tries = Number(sessionStorage.getItem(TRIES));
      sessionStorage.setItem(TRIES, String(tries + 1));
    } catch {
      // without a limit it could go on forever
    }
    if (tries < TRIES_MAX) setTimeout(() => location.reload(), 800 * (tries + 1));
    else if (document.readyState === 'loading') addEventListener('DOMContentLoaded', giveUp);
    else giveUp();
  }, true);

  addEventListener('load', () => { if (!isTrying) forget(); });

  function forget() {
    try {
      sessionStorage.removeItem(TRIES);
    } catch {
      // nothing is stored here
    }
  }

  function giveUp() {
    const told = document.createElement('p');
    told.setAttribute('role', 'alert');
    told.textContent = 'A part of this page cannot be reached. Reload it.';
    document.querySelector('main').before(told);
    forget();
  }
})();
