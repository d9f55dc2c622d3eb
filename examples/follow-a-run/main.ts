/**
 * A small platform: starts the server, runs a command on it, follows the run over HTTP, disconnects in the middle,
 * resumes at the same position, and reads the raw bytes of an event.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from 'sluice/client';

const SLUICE = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'sluice-example-'));
// Over HTTP only commands listed in the configuration may be started, in folders under its roots.
await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ commands: ['sh'], roots: [folder] }));
const serve = ['serve', '--port', '0', '--no-demo', '--config', 'sluice.config.json', '--data', 'data'];
const server = spawn(process.execPath, [SLUICE, ...serve], { cwd: folder });
try {
  const [address] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string];
  const client = createClient({ url: address.split('\n')[0] ?? '' });

  const { id } = await client.startRun({
    body: {
      engine: 'command',
      command: ['sh', '-c', 'echo "I looked. <json>{\\"answer\\": 42,}</json>"'],
      workdir: folder,
      contract: { profile: 'tagged', schema: { type: 'object', properties: { answer: { type: 'integer' } } } },
    },
  });

  let position: string | undefined;
  const onPosition = (reached: string): void => {
    position = reached;
  };
  for await (const event of client.followRun({ id, onPosition })) {
    console.log(event.seq, event.type);
    if (event.type === 'assistant.message.final') break;
  }
  console.log(`stopped after ${position}`);
  for await (const event of client.followRun({ id, ...(position === undefined ? {} : { after: position }) })) {
    console.log(event.seq, event.type);
  }

  const { result } = await client.getRun({ id });
  console.log(result?.status, result?.value, result?.repair_level);
  const bytes = await client.readRaw({ id, attempt: 1, stream: 'stdout', from: 0, to: 9 });
  console.log(new TextDecoder().decode(bytes));
} finally {
  server.kill('SIGINT');
  await once(server, 'close');
  await rm(folder, { recursive: true, force: true });
}
