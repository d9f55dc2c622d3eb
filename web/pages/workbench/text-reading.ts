import type { Suggestion } from './suggest-options.js';
import type { Inspection, InspectionInput, SchemaProblem } from './inspection.js';
import type { StreamView } from './stream-session.js';
import type { WorkerLink } from './worker-link.js';
import type { WorkerResponse, WorkerRequest } from './text-reader.js';

/** Parsed input. More data can be requested until other input is parsed. */
export interface TextReading {
  readonly kind: 'reading';
  readonly text: string;
  readonly inspection: Inspection;
  readonly tookMs: number;
  /** Option changes that would lead to a value. */
  readonly suggestions: readonly Suggestion[];
  /** Returns the complete value as JSON; null if other input was parsed since then. */
  formatValue(): Promise<string | null>;
  /** Starts streaming the input from the beginning. */
  restartStream(): Promise<StreamView | null>;
  pushStream(chunkLength: number, chunkCount: number): Promise<StreamView | null>;
}

/** A schema that cannot be used. */
export interface SchemaRefusal {
  readonly kind: 'refusal';
  readonly problem: SchemaProblem;
}

/** Parses the input; null if aborted. */
export async function readText(link: WorkerLink, input: InspectionInput): Promise<TextReading | SchemaRefusal | null> {
  const number = link.next;
  const response = await link.send({ kind: 'read', input });
  if (response?.kind === 'schema') return { kind: 'refusal', problem: response.problem };
  if (response?.kind !== 'read') return null;
  const requestView = async (request: WorkerRequest): Promise<StreamView | null> => readView(await link.send(request));
  return {
    kind: 'reading',
    text: input.text,
    inspection: response.inspection,
    tookMs: response.tookMs,
    suggestions: response.suggestions,
    async formatValue() {
      const formatted = await link.send({ kind: 'format', reading: number });
      return formatted?.kind === 'formatted' ? formatted.text : null;
    },
    restartStream: async () => requestView({ kind: 'stream', reading: number }),
    pushStream: async (chunkLength, chunkCount) =>
      requestView({ kind: 'push', reading: number, chunkLength, chunkCount }),
  };
}

function readView(response: WorkerResponse | null): StreamView | null {
  return response?.kind === 'streamed' ? response.view : null;
}
