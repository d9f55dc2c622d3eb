import { describe, expect, it } from 'vitest';
import { createMetricRegistry } from './metric-registry.js';

describe('metrics', () => {
  it('are rendered in the format of Prometheus', () => {
    const metrics = createMetricRegistry();
    const runs = metrics.counter('runs_total', 'Runs ended.');
    const durations = metrics.histogram('run_seconds', 'Duration.', [1, 5]);
    runs.add({ engine: 'codex' });
    runs.add({ engine: 'codex' }, 2);
    durations.observe({}, 0.5);
    durations.observe({}, 3);
    durations.observe({}, 60);
    expect(metrics.render([{ name: 'workers', help: 'Workers.', values: [[{ state: 'alive' }, 2]] }])).toBe(
      [
        '# HELP workers Workers.',
        '# TYPE workers gauge',
        'workers{state="alive"} 2',
        '# HELP runs_total Runs ended.',
        '# TYPE runs_total counter',
        'runs_total{engine="codex"} 3',
        '# HELP run_seconds Duration.',
        '# TYPE run_seconds histogram',
        'run_seconds_bucket{le="1"} 1',
        'run_seconds_bucket{le="5"} 2',
        'run_seconds_bucket{le="+Inf"} 3',
        'run_seconds_sum 63.5',
        'run_seconds_count 3',
        '',
      ].join('\n'),
    );
  });

  it('keep malicious labels inside their quotes', () => {
    const metrics = createMetricRegistry();
    metrics.counter('x_total', 'X.').add({ version: '1"} 7\nfake_total 1\\' });
    expect(metrics.render([]).split('\n').slice(2)).toEqual(['x_total{version="1\\"} 7\\nfake_total 1\\\\"} 1', '']);
  });

  it('are bounded in number, no matter how many labels there are', () => {
    const metrics = createMetricRegistry();
    const counter = metrics.counter('x_total', 'X.');
    for (let version = 0; version < 2000; version += 1) counter.add({ version: `${version} ${'x'.repeat(1000)}` });
    const lines = metrics.render([]).trimEnd().split('\n').slice(2);
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toBe('x_total{version="other"} 1500');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200);
  });
});
