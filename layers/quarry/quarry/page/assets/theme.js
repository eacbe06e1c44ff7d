// Before anything is painted: the colour scheme that was chosen here, if one was. Without one the system's choice holds.
(function () {
  try {
    const scheme = localStorage.getItem('quarry.scheme');
    if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme;
  } catch {
    // storage is forbidden here: the system's scheme holds
  }
})();
