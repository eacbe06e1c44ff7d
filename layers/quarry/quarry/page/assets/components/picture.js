/**
 * A chart as a picture, for slides and letters: drawn as SVG in plain colours, saved as PNG.
 */

import {svg} from '../dom.js';

const [WIDTH, ROW, TOP, LEFT, RIGHT, SCALE] = [900, 34, 64, 240, 130, 2];
const [INK, MUTED, COLOUR] = ['#181c1b', '#5a625f', '#0e6b60'];

/**
 * @param {string} title
 * @param {{label: string, value: number | null, shown: string}[]} entries
 * @returns {Promise<Blob>} a PNG
 */
export async function picture(title, entries) {
  const height = TOP + entries.length * ROW + 16;
  const largest = Math.max(...entries.map(({value}) => Math.abs(value ?? 0))) || 1;
  const text = (x, y, content, attributes) => svg('text', {x, y, 'font-family': 'system-ui, sans-serif', 'font-size': 16, fill: INK, ...attributes}, content);
  const drawing = svg('svg', {xmlns: 'http://www.w3.org/2000/svg', width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}`},
    svg('rect', {width: WIDTH, height, fill: '#ffffff'}),
    text(20, 36, title, {'font-size': 20, 'font-weight': 600}),
    entries.flatMap(({label, value, shown}, place) => {
      const y = TOP + place * ROW;
      const width = (Math.abs(value ?? 0) / largest) * (WIDTH - LEFT - RIGHT);
      return [text(LEFT - 12, y + 21, label.length > 28 ? `${label.slice(0, 27)}…` : label, {'text-anchor': 'end', fill: MUTED}),
        value !== null && svg('rect', {x: LEFT, y: y + 6, width: Math.max(width, 2), height: ROW - 14, rx: 3, fill: COLOUR}), text(LEFT + width + 10, y + 21, shown)];
    }));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(drawing))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: WIDTH * SCALE, height: height * SCALE});
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); });
}
