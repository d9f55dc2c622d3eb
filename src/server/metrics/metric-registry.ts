type Labels = Readonly<Record<string, string>>;

export type MetricRegistry = ReturnType<typeof createMetricRegistry>;

export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly values: readonly (readonly [labels: Labels, value: number])[];
}

/** The maximum number of series per metric: labels contain text from agents. Further series are counted as `other`. */
const MAX_SERIES = 500;
const MAX_LABEL_LENGTH = 100;
const OTHER = 'other';

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly lines: () => string[];
}

export function createMetricRegistry() {
  const families: Family[] = [];
  return {
    counter(name: string, help: string) {
      const series = createSeries(() => ({ value: 0 }));
      const lines = () => series.map((labels, { value }) => [`${name}${renderLabels(labels)} ${value}`]);
      families.push({ name, help, type: 'counter', lines });
      return {
        add(labels: Labels, by = 1): void {
          series.find(labels).value += by;
        },
      };
    },
    histogram(name: string, help: string, buckets: readonly number[]) {
      const series = createSeries(() => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }));
      const renderBucket = (labels: Labels, le: string, count = 0) =>
        `${name}_bucket${renderLabels({ ...labels, le })} ${count}`;
      const lines = () =>
        series.map((labels, { counts, count, sum }) => [
          ...buckets.map((bound, index) => renderBucket(labels, String(bound), counts[index])),
          renderBucket(labels, '+Inf', count),
          `${name}_sum${renderLabels(labels)} ${sum}`,
          `${name}_count${renderLabels(labels)} ${count}`,
        ]);
      families.push({ name, help, type: 'histogram', lines });
      return {
        observe(labels: Labels, seconds: number): void {
          const entry = series.find(labels);
          entry.count += 1;
          entry.sum += seconds;
          for (let index = 0; index < buckets.length; index += 1) {
            if (seconds <= (buckets[index] ?? 0)) entry.counts[index] = (entry.counts[index] ?? 0) + 1;
          }
        },
      };
    },
    render(gauges: readonly Gauge[]): string {
      const counted = families.map(({ name, help, type, lines }) => renderFamily(name, help, type, lines()));
      const measured = gauges.map(({ name, help, values }) =>
        renderFamily(
          name,
          help,
          'gauge',
          values.map(([labels, value]) => `${name}${renderLabels(labels)} ${value}`),
        ),
      );
      return [...measured, ...counted].join('');
    },
  };
}

function createSeries<T>(make: () => T) {
  const series = new Map<string, { readonly labels: Labels; readonly value: T }>();
  const findOrCreate = (labels: Labels): T => {
    const key = deriveKey(labels);
    const existing = series.get(key);
    if (existing !== undefined) return existing.value;
    if (series.size >= MAX_SERIES && !isOther(labels)) {
      return findOrCreate(Object.fromEntries(Object.keys(labels).map((name) => [name, OTHER])));
    }
    const value = make();
    series.set(key, { labels, value });
    return value;
  };
  return {
    // A fast path, because nearly every request uses an existing series.
    find: (labels: Labels): T => series.get(deriveKey(labels))?.value ?? findOrCreate(truncateLabels(labels)),
    map: (format: (labels: Labels, value: T) => string[]): string[] =>
      [...series.values()].flatMap(({ labels, value }) => format(labels, value)),
  };
}

/** Derives an unambiguous key from the values. The names are the same in all series of a metric. */
function deriveKey(labels: Labels): string {
  let key = '';
  for (const name in labels) {
    const value = labels[name] ?? '';
    key += `${value.length} ${value}`;
  }
  return key;
}

function isOther(labels: Labels): boolean {
  return Object.values(labels).every((value) => value === OTHER);
}

function truncateLabels(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, value.slice(0, MAX_LABEL_LENGTH)]));
}

function renderFamily(name: string, help: string, type: string, lines: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
