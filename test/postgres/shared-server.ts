/**
 * Runs a PostgreSQL server for the parent process and prints its URL on one line. Stops the server when stdin is
 * closed, which also happens when the parent is killed.
 */
import { rm } from 'node:fs/promises';
import { createPostgresServer, UNSAFE_BUT_FAST } from './postgres-server.js';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: shared-server.ts FOLDER');
// Ctrl-C reaches the whole process group. The parent exits first and closes the pipe, which stops this process.
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
