/**
 * Runs one PostgreSQL for its parent process, prints its URL in one line, and ends it when its stdin is closed, also
 * when the parent was killed, since the system then closes the pipe.
 */
import { rm } from 'node:fs/promises';
import { createPostgresServer, UNSAFE_BUT_FAST } from './postgres-server.js';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: shared-server.ts FOLDER');
// Ctrl-C reaches the whole group: the parent ends first, which closes the pipe and so ends this process.
process.on('SIGINT', () => undefined);
const server = await createPostgresServer(folder, UNSAFE_BUT_FAST);
try {
  await server.start();
  process.stdout.write(`${server.url}\n`);
  for await (const _ of process.stdin);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
