import type { Finding, ShortFinding } from './findings.js';
import type { Random } from './random.js';

/** Typical defects in JSON written by models. */
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

/** How the JSON is damaged. */
export interface Damage {
  readonly defects: readonly Defect[];
  /** The probability of each defect in a finding. */
  readonly probability: number;
  readonly layout: Layout;
}

interface Style {
  readonly defects: ReadonlySet<Defect>;
  readonly layout: Layout;
}

/** Writes findings with typical model errors. The intended value is still unambiguous. */
export function writeBroken(
  findings: readonly (Finding | ShortFinding)[],
  { defects, probability, layout }: Damage,
  random: Random,
): string {
  const items = findings.map((finding) => {
    const style: Style = { defects: new Set(defects.filter(() => random.chance(probability))), layout };
    return `    ${writeValue(finding, style, '    ')}`;
  });
  return `{\n  "findings": [\n${items.join(',\n')}\n  ]\n}`;
}

/** Writes findings where `count` of them, evenly spread, have one defect, as in most broken model answers. */
export function writeNearlyClean(
  findings: readonly (Finding | ShortFinding)[],
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

/** Writes the same findings without defects, in the same layout. */
export function writeClean(findings: readonly (Finding | ShortFinding)[], layout: Layout): string {
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

/** Writes a string in single quotes unless it contains an apostrophe, as Python does. */
function writeString(text: string, defects: ReadonlySet<Defect>): string {
  const quote = defects.has('single_quotes') && !text.includes("'") ? "'" : '"';
  const escaped = text.replaceAll('\\', '\\\\');
  const quoted = quote === '"' && !defects.has('unescaped_quote') ? escaped.replaceAll('"', '\\"') : escaped;
  return quote + (defects.has('control_character') ? quoted : quoted.replaceAll('\n', '\\n')) + quote;
}
