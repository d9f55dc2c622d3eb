import { formatRatio, type BarGroup } from './part-result.js';

const WIDTH = 760;
const LABEL_WIDTH = 150;
const VALUE_WIDTH = 130;
const ROW = 20;
const GROUP_GAP = 44;
const SPAN = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
/** Sluice's own tools, drawn in the accent colour. */
const OWN = new Set(['parse', 'repairJson', 'createJsonStream', 'translate']);

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .faint { fill: #59636e; }
  .grid { stroke: #d1d9e0; }
  .limit { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3; }
  .own { fill: #1a7f64; }
  .peer { fill: #8c959f; }
  .page { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .faint { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .limit { stroke: #ff7b72; }
    .own { fill: #3fb68b; }
    .peer { fill: #6e7681; }
    .page { fill: #0d1117; }
  }`;

/** Draws horizontal bars on a logarithmic scale, in groups; a dashed line is the group's limit. */
export function renderChart(groups: readonly BarGroup[]): string {
  const visibleBars = groups.filter((group) => group.bars.length > 0);
  const largest = Math.max(10, ...visibleBars.flatMap((group) => group.bars.map((bar) => bar.ratio)));
  const decades = Math.ceil(Math.log10(largest));
  const position = (ratio: number): number =>
    LABEL_WIDTH + (SPAN * Math.max(0, Math.log10(Math.max(ratio, 1)))) / decades;
  let top = 30;
  const renderedGroups: string[] = [];
  for (const group of visibleBars) {
    renderedGroups.push(renderGroup(group, top, position));
    top += group.bars.length * ROW + GROUP_GAP;
  }
  const ticks = Array.from({ length: decades + 1 }, (_, decade) => {
    const at = position(10 ** decade).toFixed(1);
    return `<line class="grid" x1="${at}" y1="24" x2="${at}" y2="${top - 24}"/><text class="faint" x="${at}" y="16" text-anchor="middle">${(10 ** decade).toLocaleString('en-US')} ×</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" role="img" aria-label="Cost as multiples of a base, shorter is better">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="${WIDTH}" height="${top}"/>`,
    ...ticks,
    ...renderedGroups,
    '</svg>\n',
  ].join('\n');
}

function renderGroup({ title, base, bars, limit }: BarGroup, top: number, position: (ratio: number) => number): string {
  const rows = bars
    .toSorted((left, right) => left.ratio - right.ratio)
    .map(({ name, ratio, note }, index) => {
      const middle = top + 24 + index * ROW;
      const width = Math.max(2, position(ratio) - LABEL_WIDTH);
      const label = `${formatRatio(ratio)}${note === undefined ? '' : ` (${note})`}`;
      return [
        `<text x="${LABEL_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escape(name)}</text>`,
        `<rect class="${OWN.has(name) ? 'own' : 'peer'}" x="${LABEL_WIDTH}" y="${middle - 7}" width="${width.toFixed(1)}" height="14" rx="2"/>`,
        `<text class="faint" x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${middle + 4}">${escape(label)}</text>`,
      ].join('');
    });
  const end = top + 16 + bars.length * ROW;
  const line =
    limit === undefined
      ? ''
      : `<line class="limit" x1="${position(limit).toFixed(1)}" y1="${top + 13}" x2="${position(limit).toFixed(1)}" y2="${end}"/>`;
  return [
    `<text class="title" x="8" y="${top + 6}">${escape(title)}</text><text class="faint" x="${WIDTH - 8}" y="${top + 6}" text-anchor="end">1 = ${escape(base)}</text>`,
    ...rows,
    line,
  ].join('\n');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
