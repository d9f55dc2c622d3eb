import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ParseOutput } from '../../../src/api/parse-output.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';
import type { InspectionInput, SchemaProblem } from './inspection.js';
import type { SchemaRefusal, TextReading } from './read-text.js';
import { options, schemaText, text } from './workbench-state.js';

/** Time for a person to go on typing before the text is read. */
const PAUSE_MS = 150;
/** A text up to here is read in some tenths of a second at most; a longer one would hold up the page. */
const LONGEST_READ_HERE = 200_000;

/** What is known of the text; the last reading stays while the next one is made. */
export interface InspectionState {
  readonly reading: TextReading | null;
  readonly schemaProblem: SchemaProblem | null;
  readonly failure: string | null;
  /** A text is being read now. */
  readonly busy: boolean;
  /** The text is too long to be read here, and nobody has said yet that the server may. */
  readonly tooLong: boolean;
}

const NOTHING: InspectionState = { reading: null, schemaProblem: null, failure: null, busy: false, tooLong: false };

/**
 * Reads the text of the workbench whenever it, the schema or an option changes. A long one waits until the person has the
 * server read it: nothing leaves the page unasked.
 */
export function useInspection(): InspectionState & { readonly readByServer: () => void } {
  const state = useSignal<InspectionState>({ ...NOTHING, busy: true });
  const allowed = useSignal<string | null>(null);
  const input: InspectionInput = { text: text.value, schemaText: schemaText.value, options: options.value };
  const mayAsk = allowed.value === input.text;

  useEffect(() => {
    const control = new AbortController();
    const isHere = input.text.length <= LONGEST_READ_HERE;
    if (!isHere && !mayAsk) {
      state.value = { ...NOTHING, tooLong: true };
      return undefined;
    }
    const timer = setTimeout(() => {
      void (async () => {
        state.value = { ...state.peek(), busy: true, tooLong: false };
        const next = await read(input, isHere, control.signal).catch((error: unknown) => asFailure(error).message);
        if (!control.signal.aborted) state.value = stateAfter(state.peek(), next);
      })();
    }, PAUSE_MS);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [input.text, input.schemaText, input.options, mayAsk]);

  return { ...state.value, readByServer: () => (allowed.value = text.value) };
}

/** What reads is loaded with the first text, not with the page. */
async function read(
  input: InspectionInput,
  isHere: boolean,
  signal: AbortSignal,
): Promise<TextReading | SchemaRefusal> {
  if (isHere) return (await import('./read-text.js')).readText(input);
  const { readByServer } = await import('./read-by-server.js');
  // On the wire codes and kinds are plain words; the server takes them from the same closed lists.
  return readByServer(input, async (body) => (await client.parse({ body, signal })) as ParseOutput);
}

function stateAfter(before: InspectionState, next: TextReading | SchemaRefusal | string): InspectionState {
  if (typeof next === 'string') return { ...NOTHING, failure: next };
  if (next.ok) return { ...NOTHING, reading: next };
  return { ...before, busy: false, tooLong: false, failure: null, schemaProblem: next.problem };
}
