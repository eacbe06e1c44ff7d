// Runs before the modules: sets the chosen colour scheme, so that the page is painted once; starts loading the view in the address;
// and retries files of the page that failed to load. A service that starts cold may refuse some of many requests at once.
(() => {
  const TRIES = 'quarry.tries';
  const TRIES_MAX = 3;

  try {
    const scheme = localStorage.getItem('quarry.scheme');
    if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme;
  } catch {
    // storage is not allowed here: the system's scheme applies
  }

  const VIEWS = {
    records: ['records.css', 'records.js', 'records/answer.js', 'records/declared.js', 'records/months.js', 'records/record.js', 'records/results.js'],
    people: ['people.css', 'people.js', 'people/person.js'],
    companies: ['chat.css', 'companies.js', 'chat/chat.js', 'chat/turn.js'],
    campaigns: ['chat.css', 'campaigns.js', 'chat/chat.js', 'chat/turn.js'],
    ontology: ['ontology.css', 'ontology.js'],
  };
  // the API reference has no views
  const domain = document.currentScript.dataset.views === 'none' ? '' : new URLSearchParams(location.search).get('domain') ?? 'records';
  for (const name of Object.hasOwn(VIEWS, domain) ? VIEWS[domain] : []) {
    const link = document.createElement('link');
    Object.assign(link, name.endsWith('.css') ? {rel: 'preload', as: 'style'} : {rel: 'modulepreload'});
    link.href = new URL(`views/${name}`, document.currentScript.src).href;
    document.head.append(link);
  }

  let isTrying = false;

  // load errors of files do not bubble
  addEventListener('error', ({target}) => {
    if (isTrying || !(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    isTrying = true;
    try {
      const tries = Number(sessionStorage.getItem(TRIES));
      if (tries >= TRIES_MAX) return;
      sessionStorage.setItem(TRIES, String(tries + 1));
      setTimeout(() => location.reload(), 800 * (tries + 1));
    } catch {
      // without a limit it could go on forever
    }
  }, true);
})();
