/**
 * Tabs by the ARIA pattern: one tab is in the tab order; arrows, Home and End move between tabs.
 */

import {element, uniqueId} from '../dom.js';

export class Tabs {
  /**
   * @param {string} label the label of the tabs
   * @param {{name: string, label: string}[]} tabs
   * @param {{onselect?: (name: string) => void}} [options] called when the reader selects one
   */
  constructor(label, tabs, {onselect = () => {}} = {}) {
    this.onselect = onselect;
    this.tabs = new Map(tabs.map(({name, label: text}) => {
      const id = uniqueId('tab');
      const count = element('span', {class: 'tab-count'});
      const tab = element('button', {
        type: 'button', class: 'tab', role: 'tab', id, 'aria-controls': `${id}-panel`, data: {tab: name},
        on: {click: () => this.#choose(name), keydown: (event) => this.#key(event, name)},
      }, text, count);
      const panel = element('div', {class: 'tab-panel', role: 'tabpanel', id: `${id}-panel`, 'aria-labelledby': id, tabindex: '-1'});
      return [name, {tab, panel, count}];
    }));
    this.list = element('div', {class: 'tabs', role: 'tablist', 'aria-label': label}, [...this.tabs.values()].map(({tab}) => tab));
    this.panels = [...this.tabs.values()].map(({panel}) => panel);
    this.select(tabs[0].name);
  }

  /** @param {string} name */
  panel(name) {
    return this.tabs.get(name).panel;
  }

  /** Show a number next to a tab's name; null removes it. */
  setCount(name, count) {
    this.tabs.get(name).count.textContent = count === null ? '' : ` ${count}`;
  }

  /** @param {string} name */
  select(name) {
    this.selected = name;
    for (const [each, {tab, panel}] of this.tabs) {
      tab.setAttribute('aria-selected', String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      panel.hidden = each !== name;
    }
  }

  #choose(name) {
    this.select(name);
    this.onselect(name);
  }

  #key(event, name) {
    const names = [...this.tabs.keys()];
    const index = names.indexOf(name);
    const next = {
      ArrowRight: (index + 1) % names.length, ArrowLeft: (index + names.length - 1) % names.length, Home: 0, End: names.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#choose(names[next]);
    this.tabs.get(names[next]).tab.focus();
  }
}
