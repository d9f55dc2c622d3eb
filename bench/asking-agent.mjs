/*
 * An agent that supports the Agent Client Protocol and requests permissions one after another. Its only message, at the
 * end, lists how long each answer took, in milliseconds from writing the request to reading the answer.
 */
import { createInterface } from 'node:readline';

const COUNT = Number(process.argv[2]);
const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Deny', kind: 'reject_once' },
];
const print = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waits = [];
let askedAt = 0;
let promptId = null;

function ask() {
  const toolCall = { toolCallId: `c${waits.length}`, title: 'Write a file', kind: 'edit', rawInput: { path: 'a.txt' } };
  askedAt = performance.now();
  print({
    id: waits.length,
    method: 'session/request_permission',
    params: { sessionId: 's-1', toolCall, options: OPTIONS },
  });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === undefined) {
    waits.push(performance.now() - askedAt);
    if (waits.length < COUNT) return ask();
    const content = { type: 'text', text: JSON.stringify(waits) };
    const update = { sessionUpdate: 'agent_message_chunk', content };
    print({ method: 'session/update', params: { sessionId: 's-1', update } });
    return print({ id: promptId, result: { stopReason: 'end_turn' } });
  }
  if (method === 'initialize') print({ id, result: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] } });
  else if (method === 'session/prompt') {
    promptId = id;
    ask();
  } else if (id !== undefined) print({ id, result: { sessionId: 's-1' } });
});
