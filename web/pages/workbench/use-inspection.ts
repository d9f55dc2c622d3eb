import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { asFailure } from '../../server/use-resource.js';
import type { Inspection, SchemaProblem } from './inspection.js';
import { openWorker } from './worker-link.js';
import type { WorkerLink } from './worker-link.js';
import { options, schemaText, text } from './workbench-state.js';

/** Time for a person to go on typing before the text is read. */
const PAUSE_MS = 120;
/** Each megabyte is copied to the worker: long texts wait for a longer pause. */
const PAUSE_MS_PER_CHARACTER = 1 / 20_000;

/** What is known of the text; the last inspection stays while the next one is made. */
export interface InspectionState {
  readonly inspection: Inspection | null;
  readonly tookMs: number;
  readonly schemaProblem: SchemaProblem | null;
  readonly failure: string | null;
  /** A text is being read now. */
  readonly busy: boolean;
  /** Counts inspections, so that what follows from one can begin anew with the next. */
  readonly turn: number;
  readonly link: WorkerLink | null;
}

/** Reads the text of the workbench whenever it, the schema or an option changes, away from the page's own thread. */
export function useInspection(): InspectionState {
  const state = useSignal<InspectionState>({
    inspection: null,
    tookMs: 0,
    schemaProblem: null,
    failure: null,
    busy: true,
    turn: 0,
    link: null,
  });
  const link = useRef<WorkerLink | null>(null);
  const change = (changes: Partial<InspectionState>): void => {
    state.value = { ...state.peek(), ...changes };
  };

  useEffect(() => {
    try {
      link.current = openWorker();
      change({ link: link.current });
    } catch (error) {
      change({ failure: asFailure(error).message, busy: false });
    }
    return () => link.current?.close();
  }, []);

  const input = { text: text.value, schemaText: schemaText.value, options: options.value };
  useEffect(() => {
    const worker = link.current;
    if (worker === null) return;
    let wanted = true;
    let asked = false;
    let answered = false;
    const read = async (): Promise<void> => {
      asked = true;
      change({ busy: true });
      const answer = await worker.ask({ kind: 'inspect', input });
      answered = true;
      if (!wanted || answer === null) return;
      if (answer.kind === 'inspected') {
        const { inspection, tookMs } = answer;
        const turn = state.peek().turn + 1;
        change({ inspection, tookMs, schemaProblem: null, failure: null, busy: false, turn });
      } else if (answer.kind === 'schema') {
        change({ schemaProblem: answer.problem, failure: null, busy: false });
      } else if (answer.kind === 'broken') {
        change({ failure: answer.message, busy: false });
      }
    };
    const timer = setTimeout(() => void read(), PAUSE_MS + input.text.length * PAUSE_MS_PER_CHARACTER);
    return () => {
      wanted = false;
      clearTimeout(timer);
      if (asked && !answered) worker.replace();
    };
  }, [input.text, input.schemaText, input.options]);

  return state.value;
}
