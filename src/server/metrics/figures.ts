/** Names and values that tell one series of a figure from another. */
export type Labels = Readonly<Record<string, string>>;

/** Something that only grows. */
export interface Counter {
  add(labels: Labels, by?: number): void;
}

/** How long things took, in buckets. */
export interface Histogram {
  observe(labels: Labels, seconds: number): void;
}

/** All figures of a process, as Prometheus reads them. */
export interface Figures {
  counter(name: string, help: string): Counter;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
  /** The text exposition format, with the gauges of this moment. */
  render(gauges: readonly Gauge[]): string;
}

/** What a thing is right now. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly values: readonly (readonly [labels: Labels, value: number])[];
}

/** Agents name versions and codes: whoever makes up new ones must not fill the memory. What is beyond counts as `other`. */
const MOST_SERIES = 500;
const LONGEST_LABEL = 100;
const OTHER = 'other';

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly lines: () => string[];
}

/** Makes an empty set of figures. */
export function createFigures(): Figures {
  const families: Family[] = [];
  return {
    counter(name, help) {
      const series = createSeries(() => ({ value: 0 }));
      const lines = () => series.map((labels, { value }) => [`${name}${labels([])} ${value}`]);
      families.push({ name, help, type: 'counter', lines });
      return {
        add(labels, by = 1) {
          series.of(labels).value += by;
        },
      };
    },
    histogram(name, help, buckets) {
      const series = createSeries(() => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }));
      const lines = () =>
        series.map((labels, { counts, count, sum }) => [
          ...buckets.map((most, index) => `${name}_bucket${labels([['le', String(most)]])} ${counts[index] ?? 0}`),
          `${name}_bucket${labels([['le', '+Inf']])} ${count}`,
          `${name}_sum${labels([])} ${sum}`,
          `${name}_count${labels([])} ${count}`,
        ]);
      families.push({ name, help, type: 'histogram', lines });
      return {
        observe(labels, seconds) {
          const one = series.of(labels);
          one.count += 1;
          one.sum += seconds;
          for (let index = 0; index < buckets.length; index += 1) {
            if (seconds <= (buckets[index] ?? 0)) one.counts[index] = (one.counts[index] ?? 0) + 1;
          }
        },
      };
    },
    render(gauges) {
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

type RenderLabels = (more: readonly (readonly [string, string])[]) => string;

function createSeries<T>(make: () => T) {
  const series = new Map<string, { readonly labels: Labels; readonly value: T }>();
  const find = (labels: Labels): T => {
    const key = keyOf(labels);
    const known = series.get(key);
    if (known !== undefined) return known.value;
    if (series.size >= MOST_SERIES && !isOther(labels)) {
      return find(Object.fromEntries(Object.keys(labels).map((name) => [name, OTHER])));
    }
    const value = make();
    series.set(key, { labels, value });
    return value;
  };
  return {
    // Nearly always a series that is known: every answer goes through here.
    of: (labels: Labels): T => series.get(keyOf(labels))?.value ?? find(cut(labels)),
    map: (tell: (labels: RenderLabels, value: T) => string[]): string[] =>
      [...series.values()].flatMap(({ labels, value }) =>
        tell((more) => renderLabels({ ...labels, ...Object.fromEntries(more) }), value),
      ),
  };
}

/** The values, each behind its length, so that none can pass for two; their names are the same in all of a figure's series. */
function keyOf(labels: Labels): string {
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

function cut(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, value.slice(0, LONGEST_LABEL)]));
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
