import { mkdir, readFile, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findCodexState } from '../launchers/engine-state.js';
import { defineLauncher } from '../launchers/launcher.js';
import { resolvePorts } from '../ports/run-ports.js';
import { collectSession, restoreSession } from './saved-session.js';

const SESSION = '7d0f2a1c-3f5e-4b8f-9a3d-5c1f0f0a0001';
const ROLLOUT = `sessions/2026/rollout-${SESSION}.jsonl`;
const NO_CHANGES = { created: [], modified: [], deleted: [] };
const launcher = defineLauncher({
  engine: 'keeper',
  program: 'keeper',
  format: 'codex',
  canResume: true,
  listStateFolders: findCodexState,
  launch: () => ({ command: ['keeper'], env: {} }),
});

/** A host with a run folder, a working folder and a home folder. */
async function openHost(files: Readonly<Record<string, string>> = {}) {
  const root = await realpath(
    await makeFolder({ 'home/.keep': '', 'work/.keep': '', 'runs/r1/.audit/.keep': '', ...files }),
  );
  const runDir = join(root, 'runs/r1');
  const ports = resolvePorts({ data: root, environment: { HOME: join(root, 'home') } });
  const spec = { engine: 'keeper', prompt: 'x', workdir: join(root, 'work') };
  const context = { id: 'r1', spec, launcher, ports, runDir } as never;
  return {
    root,
    collect: async (artifacts: Partial<typeof NO_CHANGES> = {}, warnings: readonly string[] = []) =>
      collectSession(
        {
          ...(context as object),
          progress: { sessionId: SESSION, artifacts: { ...NO_CHANGES, ...artifacts } },
          warnings: new Map(warnings.map((code) => [code, {}])),
        } as never,
        spec.workdir,
      ),
    restore: async (bytes: Uint8Array, ownsFolder = true) =>
      restoreSession(context, bytes, { workdir: spec.workdir, ownsFolder }),
    read: async (path: string) => readFile(join(root, path), 'utf8'),
  };
}

/** Formats a session as another host might have written it. */
function format(files: Readonly<Record<string, string>>, changes: object = {}): Buffer {
  const entries = Object.entries(files);
  const listed = entries.map(([path, text]) => ({ path, size: Buffer.byteLength(text), executable: false }));
  const header = Buffer.from(
    JSON.stringify({ session: SESSION, workdir: '/w', deleted: [], files: listed, ...changes }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  return Buffer.concat([length, header, ...entries.map(([, text]) => Buffer.from(text))]);
}

it('moves the recorded bytes, the files of the session and the changed files, and nothing else', async () => {
  const from = await openHost({
    [`home/.codex/${ROLLOUT}`]: 'mine\n',
    'home/.codex/sessions/2026/rollout-another.jsonl': 'not mine\n',
    'home/.codex/auth.json': 'secret',
    'runs/r1/.audit/stdout.1.log': 'said\n',
    'runs/r1/.audit/meta.1.json': '{}',
    'work/made.txt': 'made\n',
  });
  const saved = await from.collect({ created: ['made.txt'] as never, deleted: ['old.txt'] as never });
  const to = await openHost({ 'work/old.txt': 'x', 'runs/r1/.audit/stdout.7.log': 'older\n' });
  await to.restore('bytes' in saved ? saved.bytes : Buffer.alloc(0));
  expect(await to.read(`home/.codex/${ROLLOUT}`)).toBe('mine\n');
  expect(await to.read('work/made.txt')).toBe('made\n');
  expect(await readdir(join(to.root, 'runs/r1/.audit'))).toEqual(['meta.1.json', 'stdout.1.log']);
  expect(await readdir(join(to.root, 'work'))).toEqual(['.keep', 'made.txt']);
  expect(await readdir(join(to.root, 'home/.codex'))).toEqual(['sessions']);
  expect(await readdir(join(to.root, 'home/.codex/sessions/2026'))).toEqual([`rollout-${SESSION}.jsonl`]);
});

it('does not collect a session if not all changed files are known', async () => {
  const host = await openHost({ [`home/.codex/${ROLLOUT}`]: 'mine\n' });
  expect(await host.collect({}, ['ARTIFACTS_INCOMPLETE'])).toEqual({ reason: 'its working folder has too many files' });
});

it('does not collect a session with links, or without files that are known', async () => {
  const host = await openHost({ 'elsewhere/secret.txt': 'secret' });
  expect(await host.collect()).toEqual({ reason: expect.stringContaining('not known') });
  await mkdir(join(host.root, 'home/.codex/sessions/2026'), { recursive: true });
  await symlink(join(host.root, 'elsewhere/secret.txt'), join(host.root, `home/.codex/${ROLLOUT}`));
  expect(await host.collect()).toEqual({ reason: expect.stringContaining('not known') });
  const other = await openHost({ [`home/.codex/${ROLLOUT}`]: 'mine\n' });
  await symlink(join(host.root, 'elsewhere/secret.txt'), join(other.root, 'work/link.txt'));
  expect(await other.collect({ created: ['link.txt'] as never })).toEqual({
    reason: expect.stringContaining('not a regular file'),
  });
});

it.each([
  ['a path above', { 'work/../../x': 'x' }],
  ['an absolute path', { 'work//etc/x': 'x' }],
  ['the git folder', { 'work/.git/hooks/post-checkout': 'x' }],
  ['a login', { 'state/0/auth.json': 'x' }],
  ['settings', { [`state/0/config.toml/${SESSION}`]: 'x' }],
  ['a path above the state', { [`state/0/sessions/../${SESSION}`]: 'x' }],
  ['another state folder', { [`state/1/sessions/${SESSION}`]: 'x' }],
  ['a file of the run folder that Sluice does not write', { 'run/work_result.json': 'x' }],
  ['a derived log', { 'run/.audit/events.jsonl': 'x' }],
  ['an unknown root', { 'x/y': 'x' }],
])('refuses %s, and writes nothing', async (_, files) => {
  const host = await openHost({ 'runs/r1/.audit/stdout.1.log': 'kept' });
  const bytes = format({ 'work/fine.txt': 'x', ...files });
  await expect(host.restore(bytes)).rejects.toMatchObject({ code: 'SESSION_LOST' });
  expect(await readdir(join(host.root, 'work'))).toEqual(['.keep']);
  expect(await host.read('runs/r1/.audit/stdout.1.log')).toBe('kept');
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['a header that is too long', Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7b])],
  ['no JSON', Buffer.from([0, 0, 0, 1, 0x78])],
  ['fewer bytes than listed', format({ 'work/x': 'abc' }).subarray(0, -1)],
  ['more bytes than listed', Buffer.concat([format({ 'work/x': 'abc' }), Buffer.from('d')])],
  ['a negative size', format({}, { files: [{ path: 'work/x', size: -1, executable: false }] })],
  ['a session id that is part of other names', format({}, { session: 'sessions' })],
  ['a deletion outside', format({}, { deleted: ['../x'] })],
])('refuses %s', async (_, bytes) => {
  const host = await openHost();
  await expect(host.restore(bytes)).rejects.toMatchObject({ code: 'SESSION_LOST' });
});

it('follows no link that an agent has left', async () => {
  const host = await openHost({ 'elsewhere/.keep': '' });
  await mkdir(join(host.root, 'home/.codex'));
  await symlink(join(host.root, 'elsewhere'), join(host.root, 'home/.codex/sessions'));
  await expect(host.restore(format({ [`state/0/${ROLLOUT}`]: 'x' }))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  await symlink(join(host.root, 'elsewhere'), join(host.root, 'work/linked'));
  await expect(host.restore(format({ 'work/linked/x': 'x' }))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  expect(await readdir(join(host.root, 'elsewhere'))).toEqual(['.keep']);
});

it('replaces no file in a folder that others use', async () => {
  const host = await openHost({ 'work/made.txt': 'theirs' });
  await expect(host.restore(format({ 'work/made.txt': 'mine' }), false)).rejects.toMatchObject({
    code: 'SESSION_LOST',
  });
  expect(await host.read('work/made.txt')).toBe('theirs');
  await writeFile(join(host.root, 'work/made.txt'), 'mine');
  await host.restore(format({ 'work/made.txt': 'mine' }), false);
});
