import { Badge } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { ValueText } from './value-text.js';

/** Most of what is wrong is seen in the first lines. */
const MOST_LINES = 50;

/** Why a run failed: the code, where the schema was not met, and what was tried. */
export function RunFailureView({ error }: { readonly error: Readonly<Record<string, unknown>> }) {
  const { category, code, message, issues, tried, ...rest } = error;
  return (
    <section>
      <h2>Error</h2>
      <p>
        <Badge tone="bad">{word(code)}</Badge> <span class="dim">{word(category)}</span>{' '}
        <SafeText text={word(message)} limit={4000} />
      </p>
      <Lines title="What the schema says" lines={issues} tell={issueText} />
      <Lines title="What was tried" lines={tried} tell={triedText} />
      {Object.keys(rest).length === 0 ? null : <ValueText value={rest} />}
    </section>
  );
}

function Lines({
  title,
  lines,
  tell,
}: {
  readonly title: string;
  readonly lines: unknown;
  readonly tell: (line: ReadonlyMap<string, unknown>) => string;
}) {
  if (!Array.isArray(lines) || lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain">
        {lines.slice(0, MOST_LINES).map((line: unknown, index) => (
          <li key={index}>
            <SafeText text={tell(fieldsOf(line))} limit={500} />
          </li>
        ))}
      </ul>
    </>
  );
}

function issueText(issue: ReadonlyMap<string, unknown>): string {
  const path = issue.get('path');
  const place = Array.isArray(path) && path.length > 0 ? path.map(word).join('.') : '(the whole value)';
  return `${place}: ${word(issue.get('message'))}`;
}

function triedText(one: ReadonlyMap<string, unknown>): string {
  return `${word(one.get('finder'))} ${word(one.get('start'))}–${word(one.get('end'))}: ${word(one.get('code'))} ${word(one.get('message'))}`;
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
