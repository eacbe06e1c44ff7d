// What comes before the modules: the colour scheme that was chosen here, so that nothing is painted twice, and a second try where a
// file of the page could not be fetched. A service that starts cold may refuse some of many requests at once.
(() => {
  const TRIES = 'quarry.tries';
  const TRIES_MAX = 3;

  try {
    const scheme = localStorage.getItem('quarry.scheme');
    if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme;
  } catch {
    // storage is forbidden here: the system's scheme holds
  }

  let isTrying = false;

  // a file's failure does not bubble
  addEventListener('error', ({target}) => {
    if (isTrying || !(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    isTrying = true;
    try {
      const tries = Number(sessionStorage.getItem(TRIES));
      if (tries >= TRIES_MAX) return;
      sessionStorage.setItem(TRIES, String(tries + 1));
      setTimeout(() => location.reload(), 800 * (tries + 1));
    } catch {
      // without a count it could go on for ever
    }
  }, true);
})();
