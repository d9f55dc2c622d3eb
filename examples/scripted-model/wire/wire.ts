/** A chunk of an answer, before it is encoded in a provider's protocol. */
export interface Utterance {
  readonly kind: 'thinking' | 'text' | 'error';
  readonly piece: string;
}

/** One event in the answer's stream. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** Encodes chunks of an answer in a provider's protocol. */
export type Wire = (model: string, utterances: AsyncIterable<Utterance>) => AsyncGenerator<ServerSentEvent>;
