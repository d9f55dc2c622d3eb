/**
 * A server of the Model Context Protocol with one tool, `lookup`, for the rich scenario: the smallest that every agent
 * accepts. Requests and responses are lines of JSON on stdin and stdout. Once its tools were listed, it writes the file
 * named by the variable `LISTED_FILE`.
 */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly q?: string } };
}

const TOOL = {
  name: 'lookup',
  description: 'Looks a word up.',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const request = JSON.parse(line) as Request;
  // A notification gets no response.
  if (request.id === undefined) continue;
  const result = respond(request);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, result })}\n`);
}

function respond({ method, params }: Request): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion ?? '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'exam', version: '1.0.0' },
      };
    case 'tools/list':
      if (process.env['LISTED_FILE'] !== undefined) writeFileSync(process.env['LISTED_FILE'], 'listed');
      return { tools: [TOOL] };
    case 'tools/call':
      return { content: [{ type: 'text', text: `looked up ${params?.arguments?.q ?? ''}` }] };
    default:
      return {};
  }
}
