/**
 * Runs one PostgreSQL for the program that started it, prints its address in one line, and ends it when its input ends:
 * also when the starter was killed, since the system closes the pipe then.
 */
import { rm } from 'node:fs/promises';
import { createPostgresServer, UNSAFE_BUT_FAST } from './postgres-server.js';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: shared-server.ts FOLDER');
// An interrupt at the keyboard reaches the whole group: the starter ends first, then the pipe, then this.
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
