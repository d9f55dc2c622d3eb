import { createFramer } from '../../framing/framer.js';
import { acpEngine } from './acp-engine.js';
import { readRpcMessage } from './json-rpc.js';
import type { RpcMessage } from './json-rpc.js';

/** Finds the messages in what an agent prints; `null` stands for something else. */
export interface AcpMessageReader {
  push(bytes: Uint8Array): void;
}

/**
 * Reads the messages an agent prints exactly as the translator does, so that who talks with the agent and who reads the
 * recording never disagree on what was said.
 *
 * @example
 * const reader = createAcpMessageReader((message) => message?.kind === 'request' && answer(message))
 */
export function createAcpMessageReader(onMessage: (message: RpcMessage | null) => void): AcpMessageReader {
  const framer = createFramer({
    stream: 'stdout',
    framing: acpEngine.framing,
    recognises: (value) => acpEngine.detect(value) > 0,
    onFrame: (frame) => {
      if (frame.kind === 'json') onMessage(readRpcMessage(frame.value));
      else if (frame.kind === 'text') onMessage(null);
    },
  });
  return { push: (bytes) => framer.push(bytes) };
}
