import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunInputs } from '../../src/runs/index.js';

/** The command that starts the server of `mcp-server/`. */
export const MCP_SERVER: readonly [string, ...string[]] = [
  process.execPath,
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('./mcp-server/mcp-server.ts', import.meta.url)),
];

/** The smallest image: one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** An answer that takes seconds: some agents do not wait for their servers. Gemini ends a turn that repeats itself. */
export const SLOW_ANSWER = {
  reply: { content: `Seen. ${Array.from({ length: 80 }, (_, index) => index).join(' ')}` },
  options: { pauseMs: 150 },
} as const;

/** Creates an image, and the server of `mcp-server/`, which writes a file once its tools were listed. */
export function makeInputs({ workdir }: { readonly workdir: string }): {
  readonly inputs: RunInputs;
  readonly listed: string;
} {
  const listed = join(workdir, 'listed.txt');
  const [command, ...args] = MCP_SERVER;
  const env = [{ name: 'LISTED_FILE', value: listed }];
  const attachments = [{ kind: 'image', mimeType: 'image/png', data: PIXEL.toString('base64') }] as const;
  return { inputs: { attachments, mcpServers: [{ type: 'stdio', name: 'exam', command, args, env }] }, listed };
}
