import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import type { RunPorts } from '../ports/run-ports.js';
import { probeSandbox } from '../sandbox/index.js';
import { startRun } from '../start-run.js';
import { canSandbox, makeSandboxSite } from './fixtures/make-sandbox-site.js';

vi.setConfig({ testTimeout: 60_000 });

const isRoot = process.getuid?.() === 0;
/** A user without any rights, as on every Linux system. */
const ORDINARY_USER = 65_534;

describe.runIf(canSandbox)('kernel settings', () => {
  /** Lists what a process could write to below /proc, other than its own folder, also from a nested user namespace. */
  const FIND = `
    find /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null
    find /proc/self/net/ -type f -writable 2>/dev/null
    unshare --user --map-root-user --mount --pid --fork sh -c '
      echo nested
      umount /proc/sys; mount -o remount,rw,bind /proc/sys; mount -o remount,rw /proc; mount -t proc proc /tmp
      find /proc/sys /tmp -path "/tmp/[0-9]*" -prune -o -type f -writable -print 2>/dev/null' 2>/dev/null; true`;

  it('are read-only, also for root', async () => {
    const { shell } = await makeSandboxSite();
    expect(await shell(FIND)).toBe('nested');
  });

  // Without root, the tests themselves run as an ordinary user.
  it.runIf(isRoot)('are read-only for an ordinary user', async () => {
    const { root } = await makeSandboxSite();
    await chmod(root, 0o755);
    await mkdir(join(root, 'data'));
    for (const folder of ['work', 'data', 'home']) await chown(join(root, folder), ORDINARY_USER, ORDINARY_USER);
    const program = await bundleProgram(new URL('./fixtures/run-sandboxed-shell.js', import.meta.url));
    const child = program.start([root, FIND], { uid: ORDINARY_USER });
    let printed = '';
    child.stdout.on('data', (bytes) => (printed += String(bytes)));
    await new Promise((resolve) => {
      child.once('close', resolve);
    });
    expect(JSON.parse(printed)).toEqual({ text: 'nested', sandbox: { used: true, network: 'host' } });
  });

  it.runIf(isRoot)('that stay writable make a required sandbox fail, and any other one incomplete', async () => {
    const { run, root } = await makeSandboxSite();
    // This bubblewrap does what its arguments say, except for /proc.
    const program = join(root, 'bwrap');
    const { stdout } = spawnSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' });
    await writeFile(
      program,
      `#!/bin/sh\nfor word; do shift; case "$word" in --ro-bind-try) word=--bind-try;; esac; set -- "$@" "$word"; done\nexec ${stdout.trim()} "$@"\n`,
    );
    await chmod(program, 0o755);
    const support = await probeSandbox(program);
    expect(support).toMatchObject({ works: true, writableKernelFiles: expect.arrayContaining([expect.any(String)]) });
    const site = await makeSandboxSite({ sandbox: { program } });
    expect((await site.run(['true'])).error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('kernel settings'),
    });
    const { sandbox, warnings } = await site.run(['true'], { sandbox: 'auto' });
    expect(sandbox).toMatchObject({ used: true });
    expect(warnings).toMatchObject([{ code: 'SANDBOX_INCOMPLETE' }]);
    expect((await run(['true'])).warnings).toEqual([]);
  });
});

describe.runIf(canSandbox)('control groups', () => {
  it('cannot be mounted, although an agent may create the other namespaces', async () => {
    const { shell } = await makeSandboxSite();
    const nested = 'unshare --user --map-root-user --mount';
    const script = `
      ${nested} --pid --fork --ipc --uts --net echo nested
      for type in cgroup2 'cgroup -o memory'; do
        ${nested} --cgroup mount -t $type x /tmp 2>/dev/null && echo mounted
        ${nested} mount -t $type x /tmp 2>/dev/null && echo mounted
      done; true`;
    expect(await shell(script)).toBe('nested');
  });
});

describe.runIf(canSandbox)('the arguments of a request', () => {
  it('mount files inside `roots`, and none outside, not even through a link', async () => {
    const place = await makeSandboxSite();
    const shared = join(place.root, 'shared');
    await mkdir(shared);
    await writeFile(join(shared, 'input.txt'), 'the input');
    await symlink(join(place.root, 'outside.txt'), join(shared, 'link.txt'));
    const named = [join(shared, 'input.txt'), join(place.root, 'outside.txt'), join(shared, 'link.txt')];
    const read = async (roots?: readonly string[]) => {
      const site = await makeSandboxSite({ sandbox: roots === undefined ? {} : { roots } });
      return (await site.run(['sh', '-c', 'cat "$@" 2>/dev/null; true', 'sh', ...named])).text ?? '';
    };
    expect(await read([shared])).toBe('the input');
    expect(await read([])).toBe('');
    // A caller that is trusted may name any file.
    expect(await read()).toBe('the inputthe outsidethe outside');
  });

  it('mount no folder that a script in the working folder names as its interpreter', async () => {
    const { run, root, workdir } = await makeSandboxSite();
    const tools = join(root, 'tools');
    await mkdir(join(tools, 'bin'), { recursive: true });
    await mkdir(join(tools, 'lib'));
    await writeFile(join(tools, 'lib', 'secret'), 'the secret');
    await writeFile(join(tools, 'bin', 'tool'), '#!/bin/sh\ncat "$1"\n');
    await writeFile(join(workdir, 'agent'), `#!${join(tools, 'bin', 'tool')}\n`);
    for (const file of [join(tools, 'bin', 'tool'), join(workdir, 'agent')]) await chmod(file, 0o755);
    const result = await run(['sh', '-c', `./agent; cat ${tools}/lib/secret; true`]);
    expect(result).not.toHaveProperty('text');
    expect((await run(['./agent'])).status).toBe('failed');
  });
});

describe.runIf(canSandbox)('a request', () => {
  it('reads a repository above its folder only inside `roots`', async () => {
    const { root, ports } = await makeSandboxSite();
    const top = join(root, 'repository');
    const workdir = join(top, 'part');
    await mkdir(join(top, '.git'), { recursive: true });
    await mkdir(workdir);
    await writeFile(join(top, '.env'), 'the secret');
    const read = async (sandbox: NonNullable<RunPorts['sandbox']>) => {
      const command = ['sh', '-c', 'cat ../.env 2>/dev/null; true'] as const;
      const spec = { engine: 'command', command, workdir, sandbox: 'required' } as const;
      return (await startRun(spec, { ...ports, sandbox: { ...ports.sandbox, ...sandbox } }).result).text ?? '';
    };
    expect(await read({ roots: [workdir] })).toBe('');
    expect(await read({ roots: [top] })).toBe('the secret');
    expect(await read({})).toBe('the secret');
  });

  it('does not lose its sandbox by a folder that has none, unless no sandbox works here', async () => {
    const { root, home, ports } = await makeSandboxSite();
    const start = async (sandbox: RunPorts['sandbox']) => {
      const command = ['cat', join(root, 'outside.txt')] as const;
      const spec = { engine: 'command', command, workdir: home, sandbox: 'auto' } as const;
      return startRun(spec, { ...ports, sandbox: { ...sandbox } }).result;
    };
    expect(await start({ roots: [home] })).toMatchObject({
      status: 'failed',
      error: { code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('use a project folder') },
    });
    // A caller that is trusted may work anywhere.
    expect(await start({})).toMatchObject({ text: 'the outside', sandbox: { used: false } });
    expect(await start({ roots: [home], program: 'no-such-bwrap' })).toMatchObject({ sandbox: { used: false } });
  });
});

describe.runIf(canSandbox)('the data folder and the configuration', () => {
  const SECRET = 'the secret of Sluice';

  it('are not mounted, whatever names them', async () => {
    const place = await makeSandboxSite();
    const database = join(place.root, 'data', 'sluice.db');
    const file = join(place.root, 'sluice.config.json');
    await mkdir(join(place.root, 'data'));
    for (const path of [database, file]) await writeFile(path, SECRET);
    await symlink(join(place.root, 'data'), join(place.root, 'alias'));
    const environment = {
      ...place.ports.environment,
      NODE_EXTRA_CA_CERTS: file,
      PATH: `${process.env['PATH']}:${place.root}/data`,
    };
    const site = await makeSandboxSite({
      data: join(place.root, 'data'),
      environment,
      sandbox: { read: [database, file, join(place.root, 'alias')], configuration: { file, hasTokens: false } },
    });
    const files = [database, file, join(place.root, 'alias', 'sluice.db')];
    const { text, sandbox } = await site.run(['sh', '-c', 'cat "$@" 2>/dev/null; true', 'sh', ...files], {
      env: ['NODE_EXTRA_CA_CERTS'],
    });
    expect(sandbox).toMatchObject({ used: true });
    expect(text).toBeUndefined();
  });

  it.each([true, false])('in the working folder are hidden if they contain tokens: %s', async (hasTokens) => {
    const place = await makeSandboxSite();
    const file = join(place.workdir, 'sluice.config.json');
    await writeFile(file, SECRET);
    const site = await makeSandboxSite({ sandbox: { configuration: { file, hasTokens } } });
    const { text } = await site.run(['cat', file], { workdir: place.workdir });
    expect(text).toBe(hasTokens ? undefined : SECRET);
  });
});

describe.runIf(canSandbox)('a script', () => {
  it('is mounted alone, without the project around it', async () => {
    const { root, shell } = await makeSandboxSite();
    const project = join(root, 'project');
    await mkdir(join(project, 'bin'), { recursive: true });
    await writeFile(join(project, 'package.json'), '{}');
    await writeFile(join(project, 'secret.txt'), 'the secret');
    const script = join(project, 'bin', 'agent.sh');
    await writeFile(script, `echo started; cat ${project}/secret.txt ${project}/package.json`);
    const text = await shell(`sh ${script}`);
    expect(text).toContain('No such file');
    const { run } = await makeSandboxSite();
    expect((await run(['sh', script])).text).toBe('started');
  });

  it.each([
    ['below node_modules', 'node_modules/agent/cli.mjs', 'node_modules/part/index.mjs', '../part/index.mjs'],
    ['in the bin of an installation', 'tool/bin/cli.mjs', 'tool/lib/part.mjs', '../lib/part.mjs'],
  ])('%s keeps its installation', async (_, script, part, imported) => {
    const { root, run } = await makeSandboxSite();
    for (const path of [script, part]) await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, part), `export const answer = 'loaded';`);
    await writeFile(join(root, script), `import { answer } from '${imported}'; console.log(answer);`);
    expect((await run([process.execPath, join(root, script)])).text).toBe('loaded');
    // The way a package manager installs it.
    await mkdir(join(root, 'links'));
    await symlink(join(root, script), join(root, 'links', 'agent.mjs'));
    expect((await run([process.execPath, join(root, 'links', 'agent.mjs')])).text).toBe('loaded');
  });

  it.each([
    ['mjs', process.execPath, `import './part.mjs';`],
    ['cjs', process.execPath, `require('./part.cjs');`],
    ['sh', 'sh', `. "$(dirname "$0")/part.sh"`],
  ])('that fails because a file next to it is missing names the setting: .%s', async (ending, interpreter, text) => {
    const { root } = await makeSandboxSite();
    const [script, part] = [join(root, `agent.${ending}`), join(root, `part.${ending}`)];
    await writeFile(script, text);
    await writeFile(part, '');
    const mountsSetting = 'wrappers.lint.mounts';
    const site = await makeSandboxSite({ sandbox: { mountsSetting } });
    const { error } = await site.run([interpreter, script]);
    expect(error?.code).toBe('PROCESS_EXIT_NON_ZERO');
    expect(error?.message).toContain(
      `"${part}" exists, but is not visible in the sandbox. Add it to ${mountsSetting}.`,
    );
    const mounted = await makeSandboxSite({ sandbox: { mountsSetting, read: [part] } });
    expect((await mounted.run([interpreter, script])).status).toBe('success');
  });
});
