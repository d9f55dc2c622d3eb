import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../server/use-resource.js';
import type { InspectionInput, SchemaProblem } from './inspection.js';
import { startWorker } from './start-worker.js';
import { readText } from './text-reading.js';
import type { SchemaRefusal, TextReading } from './text-reading.js';
import { openWorker } from './worker-link.js';
import { options, schemaText, text } from './workbench-state.js';

/** How long after the last key press the input is parsed. */
const DEBOUNCE_MS = 150;

/** The parser state; the last result stays while the next one is computed. */
export interface InspectionState {
  readonly reading: TextReading | null;
  readonly schemaProblem: SchemaProblem | null;
  readonly failure: string | null;
  /** Whether parsing is in progress. */
  readonly busy: boolean;
}

/** The parser state and functions to handle failures. */
export interface InspectionHandle extends InspectionState {
  /** Parses the same input again. */
  readonly retry: () => void;
  /** Called when a request about the reading failed. */
  readonly fail: (error: unknown) => void;
}

const NOTHING: InspectionState = { reading: null, schemaProblem: null, failure: null, busy: false };

/**
 * Parses the workbench input in a worker whenever it, the schema or an option changes, so the page stays responsive.
 * Obsolete requests are canceled.
 */
export function useInspection(): InspectionHandle {
  const state = useSignal<InspectionState>({ ...NOTHING, busy: true });
  const retryCount = useSignal(0);
  const [link] = useState(() => openWorker(startWorker));
  // A canceled worker has lost the last reading, which the page still shows until the next one is available.
  const isLost = useRef(false);
  const input: InspectionInput = { text: text.value, schemaText: schemaText.value, options: options.value };

  useEffect(() => () => link.close(), []);
  useEffect(() => {
    let isWanted = true;
    const read = async (): Promise<void> => {
      state.value = { ...state.peek(), busy: true };
      const next = await readText(link, input).catch((error: unknown) => asFailure(error).message);
      if (!isWanted || next === null) return;
      state.value = updateState(isLost.current ? NOTHING : state.peek(), next);
      isLost.current = false;
    };
    const timer = setTimeout(() => void read(), DEBOUNCE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
      if (link.cancel()) isLost.current = true;
    };
  }, [input.text, input.schemaText, input.options, retryCount.value]);

  return {
    ...state.value,
    retry: () => (retryCount.value += 1),
    fail: (error) => (state.value = updateState(state.peek(), asFailure(error).message)),
  };
}

function updateState(before: InspectionState, next: TextReading | SchemaRefusal | string): InspectionState {
  if (typeof next === 'string') return { ...NOTHING, failure: next };
  switch (next.kind) {
    case 'reading':
      return { ...NOTHING, reading: next };
    case 'refusal':
      return { ...before, busy: false, failure: null, schemaProblem: next.problem };
  }
}
