import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../server/use-resource.js';
import type { InspectionInput, SchemaProblem } from './inspection.js';
import { startWorker } from './start-worker.js';
import { readText } from './text-reading.js';
import type { SchemaRefusal, TextReading } from './text-reading.js';
import { openWorker } from './worker-link.js';
import { options, schemaText, text } from './workbench-state.js';

/** Pause in typing after which the text is parsed. */
const PAUSE_MS = 150;

/** The state of parsing; the last result stays while the next one is computed. */
export interface InspectionState {
  readonly reading: TextReading | null;
  readonly schemaProblem: SchemaProblem | null;
  readonly failure: string | null;
  /** A text is being read now. */
  readonly busy: boolean;
}

/** The state, and what to do when the reader fails. */
export interface InspectionHandle extends InspectionState {
  /** Reads the same text again. */
  readonly retry: () => void;
  /** Called when a request about the reading failed. */
  readonly fail: (error: unknown) => void;
}

const NOTHING: InspectionState = { reading: null, schemaProblem: null, failure: null, busy: false };

/**
 * Reads the text of the workbench whenever it, the schema or an option changes, in a worker: the page stays responsive.
 * A reading that is no longer wanted is canceled.
 */
export function useInspection(): InspectionHandle {
  const state = useSignal<InspectionState>({ ...NOTHING, busy: true });
  const turn = useSignal(0);
  const [link] = useState(() => openWorker(startWorker));
  // An aborted worker lost the last reading; it is still shown, until the next one is known.
  const isLost = useRef(false);
  const input: InspectionInput = { text: text.value, schemaText: schemaText.value, options: options.value };

  useEffect(() => () => link.close(), []);
  useEffect(() => {
    let isWanted = true;
    const read = async (): Promise<void> => {
      state.value = { ...state.peek(), busy: true };
      const next = await readText(link, input).catch((error: unknown) => asFailure(error).message);
      if (!isWanted || next === null) return;
      state.value = stateAfter(isLost.current ? NOTHING : state.peek(), next);
      isLost.current = false;
    };
    const timer = setTimeout(() => void read(), PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
      if (link.giveUp()) isLost.current = true;
    };
  }, [input.text, input.schemaText, input.options, turn.value]);

  return {
    ...state.value,
    retry: () => (turn.value += 1),
    fail: (error) => (state.value = stateAfter(state.peek(), asFailure(error).message)),
  };
}

function stateAfter(before: InspectionState, next: TextReading | SchemaRefusal | string): InspectionState {
  if (typeof next === 'string') return { ...NOTHING, failure: next };
  switch (next.kind) {
    case 'reading':
      return { ...NOTHING, reading: next };
    case 'refusal':
      return { ...before, busy: false, failure: null, schemaProblem: next.problem };
  }
}
