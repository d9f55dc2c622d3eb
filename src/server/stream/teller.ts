import { createAcpProjection, createAgUiProjection } from '../../events/index.js';
import type { Emitted, Projection } from '../../events/index.js';
import type { StreamProtocol } from './stream-protocol.js';

/** Tells events in the words of a protocol, one after the other. */
export interface Teller {
  /** What an event becomes, which may be nothing. */
  tell(emitted: Emitted): readonly object[];
  /** What is still open once no more will come. */
  finish(): readonly object[];
  /** Whether what an event becomes depends on those before it. */
  readonly remembers: boolean;
}

/** Makes a teller that has heard nothing yet. */
export function createTeller(protocol: StreamProtocol): Teller {
  switch (protocol) {
    case 'fcmp':
    case 'rasp':
      return { tell: ({ event }) => [event], finish: () => [], remembers: false };
    case 'agui':
      return projecting(createAgUiProjection());
    case 'acp':
      return projecting(createAcpProjection());
  }
}

function projecting(projection: Projection<object>): Teller {
  return {
    tell: (emitted) => (emitted.protocol === 'fcmp' ? projection.push(emitted.event) : []),
    finish: () => projection.end(),
    remembers: true,
  };
}
