import type { Finding, Place } from './findings.js';
import type { Random } from './random.js';

/** Typical defects of models' JSON. */
export const DEFECTS = [
  'trailing_comma',
  'single_quotes',
  'unquoted_key',
  'comment',
  'unescaped_quote',
  'control_character',
] as const;

/** One of {@link DEFECTS}. */
export type Defect = (typeof DEFECTS)[number];

/** The layout of the findings: a member per line, or a finding per line. */
export type Layout = 'indented' | 'lines';

/** How broken a text is. */
export interface Damage {
  readonly defects: readonly Defect[];
  /** Chance of a finding to show a defect, for each of them. */
  readonly probability: number;
  readonly layout: Layout;
}

interface Style {
  readonly defects: ReadonlySet<Defect>;
  readonly layout: Layout;
}

/** Writes findings with the errors of a model. The intended value stays clear to a person, so that there is one right reading. */
export function writeBroken(
  findings: readonly (Finding | Place)[],
  { defects, probability, layout }: Damage,
  random: Random,
): string {
  const items = findings.map((finding) => {
    const style: Style = { defects: new Set(defects.filter(() => random.chance(probability))), layout };
    return `    ${writeValue(finding, style, '    ')}`;
  });
  return `{\n  "findings": [\n${items.join(',\n')}\n  ]\n}`;
}

/** Writes findings of which `count`, evenly spread, show one defect; most answers of models that err look like this. */
export function writeNearlyClean(
  findings: readonly (Finding | Place)[],
  { defect, count, layout }: { readonly defect: Defect; readonly count: number; readonly layout: Layout },
): string {
  const damaged = new Set(
    Array.from({ length: count }, (_, index) => Math.floor(((index + 0.5) * findings.length) / count)),
  );
  const items = findings.map((finding, index) => {
    const defects = new Set(damaged.has(index) ? [defect] : []);
    return `    ${writeValue(finding, { defects, layout }, '    ')}`;
  });
  return `{\n  "findings": [\n${items.join(',\n')}\n  ]\n}`;
}

/** The same findings without a defect, laid out alike. */
export function writeClean(findings: readonly (Finding | Place)[], layout: Layout): string {
  if (layout === 'indented') return JSON.stringify({ findings }, null, 2);
  return `{\n  "findings": [\n${findings.map((finding) => `    ${JSON.stringify(finding)}`).join(',\n')}\n  ]\n}`;
}

function writeValue(value: unknown, style: Style, indent: string): string {
  if (typeof value === 'string') return writeString(value, style.defects);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => writeValue(item, style, inner));
    return items.length === 0 ? '[]' : `[${join(items, style, indent)}]`;
  }
  const members = Object.entries(value).map(
    ([key, member]) => `${writeKey(key, style.defects)}: ${writeValue(member, style, inner)}`,
  );
  if (style.defects.has('comment')) members.splice(0, 1, `${writeComment(style, inner)}${members[0] ?? ''}`);
  return `{${join(members, style, indent)}}`;
}

function join(parts: readonly string[], { defects, layout }: Style, indent: string): string {
  const comma = defects.has('trailing_comma') ? ',' : '';
  if (layout === 'lines') return parts.join(', ') + comma;
  return `\n${parts.map((part) => `${indent}  ${part}`).join(',\n')}${comma}\n${indent}`;
}

function writeComment({ layout }: Style, indent: string): string {
  return layout === 'lines' ? '/* checked */ ' : `// checked\n${indent}`;
}

function writeKey(key: string, defects: ReadonlySet<Defect>): string {
  if (defects.has('unquoted_key')) return key;
  return defects.has('single_quotes') ? `'${key}'` : `"${key}"`;
}

/** In single quotes unless the text holds an apostrophe, as Python prints it. */
function writeString(text: string, defects: ReadonlySet<Defect>): string {
  const quote = defects.has('single_quotes') && !text.includes("'") ? "'" : '"';
  const escaped = text.replaceAll('\\', '\\\\');
  const quoted = quote === '"' && !defects.has('unescaped_quote') ? escaped.replaceAll('"', '\\"') : escaped;
  return quote + (defects.has('control_character') ? quoted : quoted.replaceAll('\n', '\\n')) + quote;
}
