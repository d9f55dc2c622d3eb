import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readRunEvents } from './logs/run-logs.js';
import { openRunFolder } from './open-run-folder.js';
import { replayRunFolder } from './replay-run-folder.js';
import { translateRunFolder } from './translate-run-folder.js';

/* Run folders as Sluice 0.1.0 wrote them, with rasp/1.0 and fcmp/1.0. */
const FOLDERS = ['codex-two-attempts', 'claude-write'].map((name) => ({
  name,
  dir: fileURLToPath(new URL(`./fixtures/0.1.0/${name}`, import.meta.url)),
}));

describe.each(FOLDERS)('a run folder of 0.1.0, $name', ({ dir }) => {
  it('has its attempts and their meta', async () => {
    const folder = await openRunFolder(dir);
    for (const attempt of await folder.attempts()) {
      expect(await folder.meta(attempt)).toMatchObject({ run_id: expect.any(String), exit_code: 0 });
    }
  });

  it.each(['rasp', 'fcmp'] as const)('has its stored %s events', async (protocol) => {
    const versions: string[] = [];
    for await (const { event } of readRunEvents(await openRunFolder(dir), protocol))
      versions.push(event.protocol_version);
    expect(versions.length).toBeGreaterThan(0);
    expect(new Set(versions)).toEqual(new Set([`${protocol}/1.0`]));
  });

  it('is translated with the events of this version', async () => {
    const types: string[] = [];
    for await (const { protocol, event } of translateRunFolder(dir)) if (protocol === 'fcmp') types.push(event.type);
    expect(types).toContain('conversation.started');
    expect(types.at(-1)).toMatch(/^(?:conversation\.completed|user\.input\.required)$/u);
  });

  it('is replayed', async () => {
    const result = await replayRunFolder(dir);
    expect(result).toMatchObject({
      status: 'older_version',
      recorded: 'rasp/1.0',
      message: expect.stringContaining('older'),
    });
    const paths = result.status === 'older_version' ? result.differences.map(({ path }) => path.join('.')) : [];
    // Version 1.1 only adds fields and events: no stored data is missing.
    expect(paths.every((path) => path === '' || path.startsWith('data'))).toBe(true);
  });
});

/* A run folder as Sluice 0.2.0 wrote it, with fcmp/1.1. */
describe('a run folder of 0.2.0', () => {
  const dir = fileURLToPath(new URL('./fixtures/0.2.0/claude-write', import.meta.url));

  it('is replayed: its bytes give the events in its logs, to which version 1.2 only adds fields and events', async () => {
    const result = await replayRunFolder(dir);
    expect(result).toMatchObject({ status: 'older_version', recorded: 'fcmp/1.1' });
    const differences = result.status === 'older_version' ? result.differences : [];
    expect(differences.filter(({ log }) => log !== 'fcmp.jsonl')).toEqual([]);
    expect(differences.map((difference) => difference.stored)).toEqual(differences.map(() => undefined));
  });
});
