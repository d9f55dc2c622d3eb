import { getField, getName, getObject, getString } from '../../reading/record-fields.js';
import type { Engine } from '../engine.js';
import { createAcpReader } from './acp-reader.js';
import { readRpcMessage, getResultFields } from '../json-rpc.js';

/**
 * Any agent that implements the Agent Client Protocol over its streams: JSON-RPC, one message per line. The agent's
 * messages are on stdout, messages to it on stdin; both are needed to match responses to requests.
 */
export const acpEngine: Engine = {
  name: 'acp',
  parser: 'acp_jsonrpc',
  parserVersion: '1',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true },
  readsInput: true,
  detect,
  readSession(value) {
    const message = readRpcMessage(value);
    if (message?.kind === 'notification' || message?.kind === 'request') return getName(message.params, 'sessionId');
    return message?.kind === 'result' ? getName(getResultFields(message.result), 'sessionId') : null;
  },
  createReader: createAcpReader,
};

/** Methods that exist only in this protocol. */
const METHODS: ReadonlySet<string> = new Set(['session/update', 'session/request_permission']);

function detect(value: object): number {
  const message = readRpcMessage(value);
  if (message === null) return 0;
  const isJsonRpc = getField(value, 'jsonrpc') === '2.0';
  switch (message.kind) {
    case 'notification':
    case 'request': {
      if (METHODS.has(message.method) && getName(message.params, 'sessionId') !== null) return 1;
      return isJsonRpc ? 0.5 : 0;
    }
    case 'result': {
      const result = getResultFields(message.result);
      const isAcp = getObject(result, 'agentCapabilities') !== null || getString(result, 'stopReason') !== null;
      if (isJsonRpc && isAcp) return 1;
      return isJsonRpc ? 0.5 : 0;
    }
    case 'error':
      return isJsonRpc ? 0.5 : 0;
  }
}
