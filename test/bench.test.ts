import { describe, expect, it } from 'vitest';
import { DEFECTS, writeBroken, writeClean } from '../bench/break-json.js';
import { chooseParts } from '../bench/choose-parts.js';
import { makeFindings } from '../bench/findings.js';
import { compare, median } from '../bench/measure.js';
import { makeProse, VERDICT } from '../bench/prose.js';
import { readSizeTargets } from '../bench/part-size.js';
import { Random } from '../bench/random.js';
import { renderChart } from '../bench/render-chart.js';
import { renderResults } from '../bench/render-results.js';
import { parseOrThrow } from '../src/json/index.js';

const { findings } = makeFindings(5000, 1, JSON.stringify);

describe('the texts of the bench', () => {
  it.each(['indented', 'lines'] as const)('are JSON when written cleanly (%s)', (layout) => {
    expect(JSON.parse(writeClean(findings, layout))).toEqual({ findings });
  });

  it.each(DEFECTS.flatMap((defect) => [[defect, 'indented'] as const, [defect, 'lines'] as const]))(
    'are invalid JSON with the defect %s (%s), but keep their meaning',
    (defect, layout) => {
      const text = writeBroken(findings, { defects: [defect], probability: 0.5, layout }, new Random(1));
      expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
      expect(parseOrThrow(text)).toEqual({ findings });
    },
  );

  it('are the same for the same seed', () => {
    expect(makeProse(2000, true, 7)).toBe(makeProse(2000, true, 7));
    expect(makeProse(2000, true, 7)).not.toBe(makeProse(2000, true, 8));
  });

  it('embed one object in prose of the requested length', () => {
    const text = makeProse(2000, false, 7);
    expect(Math.abs(text.length - 2000)).toBeLessThan(500);
    expect(text.split(JSON.stringify(VERDICT))).toHaveLength(2);
  });
});

describe('chooseParts', () => {
  const choose = (...args: readonly string[]) => chooseParts(args, ['a', 'b', 'h'], ['a', 'b']);

  it('returns the named parts, or the default ones', () => {
    expect(choose('--only', 'h,a')).toEqual({ parts: ['h', 'a'] });
    expect(choose()).toEqual({ parts: ['a', 'b'] });
  });

  it.each([
    [['--only', 'a,x,y'], 'Unknown part "x", "y". The parts are a, b, h.'],
    [['a'], /^Unexpected argument 'a'.*; usage: npm run bench \[-- --only a,b\]$/],
    [['--part', 'a'], /^Unknown option '--part'; usage: /],
    [['--only'], /^Option '--only <value>' argument missing; usage: /],
  ])('explains in one line why it cannot use %j', (args, problem) => {
    const { problem: found } = choose(...args) as { readonly problem: string };
    expect(found).toMatch(problem);
    expect(found).not.toContain('\n');
  });
});

describe('compare', () => {
  it('returns the ratio 1 for the first subject and waits for promises', async () => {
    let awaited = 0;
    const timings = await compare(
      [
        { name: 'base', run: () => JSON.stringify(findings) },
        { name: 'later', run: async () => Promise.resolve().then(() => awaited++) },
      ],
      { rounds: 3, budget: 50 },
    );
    expect(timings.map(({ name }) => name)).toEqual(['base', 'later']);
    expect(timings[0]?.ratio).toBe(1);
    expect(awaited).toBeGreaterThan(0);
  });

  it('takes the median of the rounds', () => {
    expect(median([5, 1, 100])).toBe(5);
    expect(median([1, 2, 3, 100])).toBe(2.5);
  });
});

describe('the report of the bench', () => {
  const result = {
    title: 'Part',
    targets: [
      { what: 'fast', limit: '≤ 2 ×', measured: '1.50 ×', met: true },
      { what: 'slow', limit: '≤ 2 ×', measured: '3.00 ×', met: false },
    ],
    tables: [{ title: 'Table', columns: ['', 'a | b'], rows: [['x', 'y | z']] }],
    groups: [
      {
        title: 'a < b',
        base: 'JSON.parse',
        limit: 8,
        bars: [
          { name: 'slow', ratio: 100 },
          { name: 'parse', ratio: 10 },
        ],
      },
    ],
  };

  it('marks the targets that were missed', () => {
    const page = renderResults([{ result, environment: 'somewhere' }]);
    expect(page).toContain('| fast | ≤ 2 × | 1.50 × | met |');
    expect(page).toContain('| slow | ≤ 2 × | 3.00 × | **missed** |');
    expect(page).toContain('| x | y \\| z |');
  });

  it('draws bars on a logarithmic scale, shortest first', () => {
    const chart = renderChart(result.groups);
    const bars = [...chart.matchAll(/<rect class="(own|peer)" .*?width="([\d.]+)"/g)].map(([, kind, width]) => [
      kind,
      Number(width),
    ]);
    expect(bars).toEqual([
      ['own', 240],
      ['peer', 480],
    ]);
    expect(chart).toContain('a &lt; b');
  });
});

it('reports a size that is over its limit', () => {
  const printed = [
    'sluice/json: 24.41 kB minified and gzipped, limit 24.3 kB, goal 20 kB   over the limit',
    'parse of sluice/json alone: 16.90 kB minified and gzipped, limit 19.8 kB, goal 17 kB',
    'sluice/client: 17.02 kB minified and gzipped, limit 18.2 kB',
  ];
  expect(readSizeTargets(printed.join('\n'))).toEqual([
    { what: 'sluice/json, minified and gzipped', limit: '≤ 20 kB', measured: '24.41 kB', met: false },
    { what: 'parse of sluice/json alone, minified and gzipped', limit: '≤ 17 kB', measured: '16.90 kB', met: true },
  ]);
});
