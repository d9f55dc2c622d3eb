/** A piece of an answer, before a provider's protocol is put around it. */
export interface Utterance {
  readonly kind: 'thinking' | 'text' | 'error';
  readonly piece: string;
}

/** One event of the answer's stream. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** A provider's protocol: utterances in, events out. */
export type Wire = (model: string, utterances: AsyncIterable<Utterance>) => AsyncGenerator<ServerSentEvent>;
