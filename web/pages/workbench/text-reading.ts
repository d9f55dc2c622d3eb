import type { Suggestion } from './suggest-options.js';
import type { Inspection, InspectionInput, SchemaProblem } from './inspection.js';
import type { StreamView } from './stream-session.js';
import type { WorkerLink } from './worker-link.js';
import type { WorkerAnswer, WorkerQuestion } from './text-reader.js';

/** A parsed text: what the page shows of it, and what can be requested while no other text is read. */
export interface TextReading {
  readonly kind: 'reading';
  readonly text: string;
  readonly inspection: Inspection;
  readonly tookMs: number;
  /** Changes of options that would help. */
  readonly suggestions: readonly Suggestion[];
  /** The whole value as JSON text; null when another text was read since. */
  writeValue(): Promise<string | null>;
  /** Restarts reading the text in chunks. */
  restartStream(): Promise<StreamView | null>;
  pushStream(characters: number, pieces: number): Promise<StreamView | null>;
}

/** A schema that cannot be read with. */
export interface SchemaRefusal {
  readonly kind: 'refusal';
  readonly problem: SchemaProblem;
}

/** Parses a text; null when that was aborted. */
export async function readText(link: WorkerLink, input: InspectionInput): Promise<TextReading | SchemaRefusal | null> {
  const number = link.next;
  const answer = await link.ask({ kind: 'read', input });
  if (answer?.kind === 'schema') return { kind: 'refusal', problem: answer.problem };
  if (answer?.kind !== 'read') return null;
  const askForView = async (question: WorkerQuestion): Promise<StreamView | null> => viewIn(await link.ask(question));
  return {
    kind: 'reading',
    text: input.text,
    inspection: answer.inspection,
    tookMs: answer.tookMs,
    suggestions: answer.suggestions,
    async writeValue() {
      const written = await link.ask({ kind: 'write', reading: number });
      return written?.kind === 'written' ? written.text : null;
    },
    restartStream: async () => askForView({ kind: 'stream', reading: number }),
    pushStream: async (characters, pieces) => askForView({ kind: 'push', reading: number, characters, pieces }),
  };
}

function viewIn(answer: WorkerAnswer | null): StreamView | null {
  return answer?.kind === 'streamed' ? answer.view : null;
}
