import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatCount } from '../../ui/format.js';
import { Badge } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import type { InspectionHandle } from './use-inspection.js';
import { getErrorMessage } from '../../../src/base/index.js';

const OUTCOME_LABELS = {
  same: { tone: 'good', label: 'Same value' },
  different: { tone: 'warn', label: 'Different value' },
  error: { tone: 'bad', label: 'Error' },
} as const;

/** The results of `JSON.parse` and jsonrepair for the same input, computed when the panel is opened. */
export function OtherParsers({ state }: Readonly<{ state: InspectionHandle }>) {
  const isOpen = useSignal(false);
  const readings = useSignal<readonly OtherResult[]>([]);
  const { reading } = state;
  const text = reading?.text ?? '';
  const isTooLong = text.length > MAX_TEXT_LENGTH;
  useEffect(() => {
    if (!isOpen.value || reading === null || isTooLong) return;
    let isWanted = true;
    const compare = async (): Promise<void> => {
      const results = await compareAll(text, reading.inspection.value === null ? null : await reading.formatValue());
      if (isWanted) readings.value = results;
    };
    compare().catch(state.fail);
    return () => {
      isWanted = false;
    };
  }, [isOpen.value, reading]);
  return (
    <details class="card" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>
        <strong>Other parsers</strong> <span class="dim">Results of JSON.parse and jsonrepair for this output</span>
      </summary>
      {isTooLong ? (
        <p class="dim">Only output of up to {formatCount(MAX_TEXT_LENGTH)} characters is compared.</p>
      ) : (
        <div class="other-parsers">
          {readings.value.map(({ parser, outcome, text: shown }) => (
            <section key={parser} class="stack" aria-label={parser}>
              <div class="row">
                <h2>{parser}</h2>
                <Badge tone={OUTCOME_LABELS[outcome].tone}>{OUTCOME_LABELS[outcome].label}</Badge>
              </div>
              <pre class="code" tabIndex={0} role="region" aria-label={`Result of ${parser}`}>
                <SafeText text={shown} />
              </pre>
            </section>
          ))}
        </div>
      )}
    </details>
  );
}

async function compareAll(text: string, sluiceValue: string | null): Promise<readonly OtherResult[]> {
  const { jsonrepair } = await import('jsonrepair');
  return [
    parseWith('JSON.parse', JSON.parse, text, sluiceValue),
    parseWith('jsonrepair', (input) => JSON.parse(jsonrepair(input)) as unknown, text, sluiceValue),
  ];
}

interface OtherResult {
  readonly parser: 'JSON.parse' | 'jsonrepair';
  readonly outcome: 'same' | 'different' | 'error';
  readonly text: string;
}

/** Longer input would block the page, because these parsers do not run in the worker. */
const MAX_TEXT_LENGTH = 20_000;
const MAX_OUTPUT_LENGTH = 4000;

/** Parses the input with another parser and compares the value. */
export function parseWith(
  parser: OtherResult['parser'],
  parse: (text: string) => unknown,
  text: string,
  sluiceValue: string | null,
): OtherResult {
  try {
    const value = parse(text);
    const isSame = sluiceValue !== null && JSON.stringify(value) === JSON.stringify(JSON.parse(sluiceValue));
    return { parser, outcome: isSame ? 'same' : 'different', text: shorten(JSON.stringify(value, null, 2) ?? '') };
  } catch (error) {
    return { parser, outcome: 'error', text: shorten(getErrorMessage(error)) };
  }
}

function shorten(text: string): string {
  return text.length > MAX_OUTPUT_LENGTH ? `${text.slice(0, MAX_OUTPUT_LENGTH)} …` : text;
}
