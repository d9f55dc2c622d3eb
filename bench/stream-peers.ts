import { requireFunction, loadModule, loadPeers } from './peers.js';

/** Another library that reads input in chunks: computes a value after each chunk and returns the last value. */
export interface StreamPeer {
  readonly name: string;
  readonly follow: (chunks: readonly string[], deadline: number) => Promise<unknown>;
}

/** Thrown at the time limit, with the fraction of the input that was read. */
export class TimeLimitReached extends Error {
  readonly share: number;

  constructor(share: number) {
    super('The time limit was reached.');
    this.share = share;
  }
}

/** Libraries that reread all input so far with each chunk. */
const REREADING_PEERS = ['AI SDK', 'partial-json', 'best-effort'];

/** Loads the peers that can return a value before the input is complete. */
export async function loadStreamPeers(): Promise<StreamPeer[]> {
  const rereadingPeers = (await loadPeers(REREADING_PEERS)).map(({ name, read }): StreamPeer => ({
    name,
    async follow(chunks, deadline) {
      let text = '';
      let value: unknown;
      for (const chunk of yieldUntil(chunks, deadline)) {
        text += chunk;
        value = await read(text);
      }
      return value;
    },
  }));
  return [...rereadingPeers, await loadJsonriver(), await loadStreamparser()];
}

async function loadJsonriver(): Promise<StreamPeer> {
  const parse = requireFunction((await loadModule('jsonriver'))['parse']);
  return {
    name: 'jsonriver',
    async follow(chunks, deadline) {
      let last: unknown;
      const source = (async function* () {
        yield* yieldUntil(chunks, deadline);
      })();
      for await (const value of parse(source) as AsyncIterable<unknown>) last = value;
      return last;
    },
  };
}

/** A value event of `@streamparser/json`; the root is the second entry on the stack, the parent or the value itself. */
interface ValueEvent {
  readonly value: unknown;
  readonly parent: unknown;
  readonly stack: readonly { readonly value: unknown }[];
}

async function loadStreamparser(): Promise<StreamPeer> {
  const Parser = (await loadModule('@streamparser/json'))['JSONParser'] as new (options: object) => {
    onValue: (found: ValueEvent) => void;
    write(chunk: string): void;
  };
  return {
    name: '@streamparser/json',
    async follow(chunks, deadline) {
      let root: unknown;
      const parser = new Parser({ emitPartialTokens: true, emitPartialValues: true });
      parser.onValue = ({ value, parent, stack }) => {
        root = stack[1]?.value ?? parent ?? value;
      };
      for (const chunk of yieldUntil(chunks, deadline)) parser.write(chunk);
      return root;
    },
  };
}

function* yieldUntil(chunks: readonly string[], deadline: number): Generator<string> {
  for (const [index, chunk] of chunks.entries()) {
    if (performance.now() > deadline) throw new TimeLimitReached(index / chunks.length);
    yield chunk;
  }
}
