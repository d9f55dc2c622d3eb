import { describe, expect, it } from 'vitest';
import { createFigures } from './figures.js';

describe('figures', () => {
  it('are rendered in the format of Prometheus', () => {
    const figures = createFigures();
    const eggs = figures.counter('eggs_total', 'Eggs laid.');
    const naps = figures.histogram('nap_seconds', 'Naps.', [1, 5]);
    eggs.add({ hen: 'Ada' });
    eggs.add({ hen: 'Ada' }, 2);
    naps.observe({}, 0.5);
    naps.observe({}, 3);
    naps.observe({}, 60);
    expect(figures.render([{ name: 'hens', help: 'Hens.', values: [[{ state: 'awake' }, 2]] }])).toBe(
      [
        '# HELP hens Hens.',
        '# TYPE hens gauge',
        'hens{state="awake"} 2',
        '# HELP eggs_total Eggs laid.',
        '# TYPE eggs_total counter',
        'eggs_total{hen="Ada"} 3',
        '# HELP nap_seconds Naps.',
        '# TYPE nap_seconds histogram',
        'nap_seconds_bucket{le="1"} 1',
        'nap_seconds_bucket{le="5"} 2',
        'nap_seconds_bucket{le="+Inf"} 3',
        'nap_seconds_sum 63.5',
        'nap_seconds_count 3',
        '',
      ].join('\n'),
    );
  });

  it('keep hostile labels inside their quotes', () => {
    const figures = createFigures();
    figures.counter('x_total', 'X.').add({ version: '1"} 7\nfake_total 1\\' });
    expect(figures.render([]).split('\n').slice(2)).toEqual(['x_total{version="1\\"} 7\\nfake_total 1\\\\"} 1', '']);
  });

  it('are bounded in number, no matter how many labels there are', () => {
    const figures = createFigures();
    const counter = figures.counter('x_total', 'X.');
    for (let version = 0; version < 2000; version += 1) counter.add({ version: `${version} ${'x'.repeat(1000)}` });
    const lines = figures.render([]).trimEnd().split('\n').slice(2);
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toBe('x_total{version="other"} 1500');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200);
  });
});
