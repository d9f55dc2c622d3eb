/**
 * Runs an agent in a separate folder, follows it live, and accepts its answer only if it matches the schema. The first
 * answer is rejected and the error sent back; the second passes after a repair.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRun } from 'sluice/runs';

const folder = await mkdtemp(join(tmpdir(), 'sluice-example-'));
try {
  const run = startRun(
    {
      engine: 'command',
      command: [process.execPath, fileURLToPath(new URL('./agent.mjs', import.meta.url))],
      prompt: 'How many words does this have?',
      workdir: folder,
      contract: {
        profile: 'tagged',
        schema: { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] },
      },
      max_retries: 1,
      limits: { time_s: 60 },
    },
    { data: join(folder, 'data') },
  );

  for await (const { protocol, event } of run.events) {
    if (protocol !== 'fcmp') continue;
    if (event.type === 'assistant.message.final') console.log(event.data.text);
    else if (event.type === 'diagnostic.warning') console.log(`warning ${event.data.code}`);
    else if (event.type === 'conversation.completed') console.log(`completed ${event.data.reason_code}`);
  }

  const { status, value, repair_level, attempts } = await run.result;
  console.log({ status, value, repair_level, attempts });
} finally {
  await rm(folder, { recursive: true, force: true });
}
