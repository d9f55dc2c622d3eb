import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findContainerEngine, inspectContainer } from './container-engine.js';
import { openContainer, type ContainerRequest } from './open-container.js';

/** How the scripted engine answers, as shell commands by its own command. */
interface Answers {
  readonly version?: string;
  readonly info?: string;
  readonly create?: string;
  readonly inspect?: string;
  readonly events?: string;
}

const ID = '0123abcd';

/** A folder, and an engine that records its calls and has these answers. */
async function makeEngine({
  version = 'podman version 4.3.1',
  info = 'false',
  create = `echo ${ID}`,
  inspect = 'echo "Error: no such container x" >&2; exit 125',
  events = 'exit 1',
}: Answers = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-engine-')));
  onTestFinished(async () => rm(root, { recursive: true, force: true }));
  const [program, calls, workdir] = [join(root, 'engine'), join(root, 'calls'), join(root, 'work')];
  for (const name of ['work', 'run', 'run/.audit', 'home']) await mkdir(join(root, name));
  await writeFile(
    program,
    `#!/bin/sh
[ "$1" = --remote-free ] && shift
printf '%s\\n' "$@" >> ${calls}; echo "env $OPENAI_API_KEY $CONTAINERS_CONF" >> ${calls}
cd ${root}
case "$1" in
  --version) echo "${version}" ;;
  info) echo '${info}' ;;
  create) ${create} ;;
  container) ${inspect} ;;
  events) ${events} ;;
esac`,
  );
  await chmod(program, 0o755);
  const engine = await findContainerEngine({ command: [program, '--remote-free'] });
  const request: ContainerRequest = {
    name: 'sluice-1-1',
    labels: { 'sluice.run': '1' },
    image: 'localhost/agent:1',
    command: ['codex', 'exec'],
    workdir,
    env: { PATH: '/usr/bin', OPENAI_API_KEY: 'sk-secret', CONTAINERS_CONF: '/evil', SLUICE_RUN_DIR: join(root, 'run') },
    engineEnv: { SLUICE_RUN_DIR: join(root, 'run') },
    runDir: join(root, 'run'),
    home: join(root, 'home'),
    hidden: [join(root, 'run', '.audit')],
    isRequired: false,
    guards: { acquire: async () => undefined, release: async () => undefined },
    network: 'none',
    onDenied: () => undefined,
  };
  return { root, engine, request, calls: async () => (await readFile(calls, 'utf8')).split('\n') };
}

const state = (fields: object): string => `echo '${JSON.stringify(fields)}'`;

describe('the container of a process', () => {
  it('is created by Podman with nothing but the given folders, variables and limits', async () => {
    const { root, engine, request, calls } = await makeEngine();
    const { command, env, gaps } = await openContainer(engine, { ...request, cpu: 1.5, memory: '512Mi' });
    const args = await calls();
    expect(command.slice(1)).toEqual(['--remote-free', 'start', '--attach', '--interactive', ID]);
    expect(env).toMatchObject({ SLUICE_RUN_DIR: join(root, 'run') });
    expect(gaps).toEqual([]);
    const values = (option: string) => args.flatMap((word, index) => (args[index - 1] === option ? [word] : []));
    expect(values('--mount')).toEqual([
      `type=bind,source=${join(root, 'home')},target=/home/agent`,
      `type=bind,source=${join(root, 'work')},target=${join(root, 'work')}`,
      `type=bind,source=${join(root, 'run')},target=${join(root, 'run')}`,
    ]);
    expect(values('--tmpfs').at(-1)).toMatch(/run\/\.audit:ro,/);
    expect(values('--env')).toEqual(['OPENAI_API_KEY', 'CONTAINERS_CONF=/evil', 'SLUICE_RUN_DIR', 'HOME=/home/agent']);
    expect([values('--cpus'), values('--memory'), values('--memory-swap')]).toEqual([['1.5'], ['512m'], ['512m']]);
    expect([values('--cap-drop'), values('--pull')]).toEqual([['all'], ['never']]);
    expect(values('--security-opt')).toContain('no-new-privileges');
    expect(args).toEqual(
      expect.arrayContaining(['--read-only', '--network=none', '--http-proxy=false', '--label', 'sluice.run=1']),
    );
    const start = args.indexOf('--entrypoint=');
    expect(args.slice(start, start + 4)).toEqual(['--entrypoint=', 'localhost/agent:1', 'codex', 'exec']);
  });

  it('gets its secrets by name only, and none of its variables configure the engine', async () => {
    const { engine, request, calls } = await makeEngine();
    await openContainer(engine, request);
    const created = (await calls()).filter((line) => line.includes('sk-secret'));
    expect(created).toEqual([`env sk-secret ${process.env['CONTAINERS_CONF'] ?? ''}`]);
  });

  it('has the user of Sluice in a namespace with Podman, and a gap where Docker would make it root', async () => {
    const listUser = async (answers: Answers) => {
      const { engine, request, calls } = await makeEngine(answers);
      const { gaps } = await openContainer(engine, request);
      const args = await calls();
      return { gaps, args, user: args[args.indexOf('--user') + 1] };
    };
    const isRoot = process.getuid?.() === 0;
    const podman = await listUser({});
    expect(podman.user).toMatch(isRoot ? /^1000:1000$/ : /^[1-9]\d*:[1-9]\d*$/);
    expect(podman.args).toContain(isRoot ? '0:1000:1' : '0:0:65536');
    expect((await listUser({ info: 'true' })).args).toContain('keep-id');
    const docker = await listUser({ version: 'Docker version 27.1.1, build 1', info: '["name=seccomp"]' });
    expect(docker.args).not.toContain('--http-proxy=false');
    expect(docker.gaps).toHaveLength(isRoot ? 1 : 0);
    const rootless = await listUser({ version: 'Docker version 27.1.1, build 1', info: '["name=rootless"]' });
    expect([rootless.user, rootless.gaps]).toEqual(['0:0', []]);
  });

  it('with a gap is refused if a sandbox is required', async () => {
    const { engine, request } = await makeEngine({ version: 'Docker version 27.1.1, build 1', info: '[]' });
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(0);
    onTestFinished(() => getuid.mockRestore());
    const opened = openContainer(engine, { ...request, isRequired: true });
    await expect(opened).rejects.toThrow(/root on this host/);
  });

  it('replaces one of the same name, which a killed process of Sluice has left', async () => {
    const create = `[ -e first ] && echo ${ID} && exit; touch first; echo 'Error: the container name "sluice-1-1" is already in use by x' >&2; exit 125`;
    const { engine, request, calls } = await makeEngine({ create });
    await openContainer(engine, request);
    const args = await calls();
    expect(args.filter((word) => word === 'create')).toHaveLength(2);
    expect(args.slice(args.indexOf('rm'), args.indexOf('rm') + 4)).toEqual([
      'rm',
      '--force',
      '--volumes',
      'sluice-1-1',
    ]);
  });

  it.each([
    ['out of memory', { Status: 'exited', ExitCode: 137, OOMKilled: true }, 'oom', /more than its memory \(64Mi\)/],
    ['of one that was stopped', { Status: 'exited', ExitCode: 143 }, 'evicted', /by a signal, not by Sluice/],
    ['of a client that was killed', { Status: 'running' }, 'unknown', /connection to it was lost/],
    ['of a container that never started', { Status: 'created' }, 'image', /"codex" in .*: exec format error/],
  ])('explains the exit %s', async (_, fields, cause, reason) => {
    const { engine, request } = await makeEngine({ inspect: state(fields) });
    const { container } = await openContainer(engine, { ...request, memory: '64Mi' });
    const explained = await container?.explainExit('time="…" level=error\nError: exec format error\n');
    expect(explained).toEqual({ cause, reason: expect.stringMatching(reason) });
  });

  it('explains that the engine has killed it, which its process did not', async () => {
    const inspect = state({ Status: 'exited', ExitCode: 137 });
    const { engine, request, calls } = await makeEngine({
      inspect,
      events: '[ -e asked ] && echo container; touch asked',
    });
    const { container } = await openContainer(engine, request);
    expect(await container?.explainExit('')).toEqual({ cause: 'evicted', reason: 'it was killed through podman' });
    expect(await calls()).toEqual(expect.arrayContaining([`container=${ID}`, 'event=kill']));
  });

  it.each([
    ['an exit of the process itself', 3, {}],
    ['a kill that its limit can be the reason for', 137, { memory: '64Mi' }],
  ])('does not explain %s', async (_, ExitCode, limits) => {
    const { engine, request } = await makeEngine({ inspect: state({ Status: 'exited', ExitCode }) });
    const { container } = await openContainer(engine, { ...request, ...limits });
    expect(await container?.explainExit('')).toBeUndefined();
  });

  it('waits for the exit code, which Podman records after the end', async () => {
    const inspect = `if [ -e asked ]; then ${state({ Status: 'exited', ExitCode: 137 })}; else touch asked; ${state({ Status: 'exited', ExitCode: 0 })}; fi`;
    const { engine, request } = await makeEngine({ inspect });
    const { container } = await openContainer(engine, request);
    expect(await container?.explainExit('')).toMatchObject({ cause: 'evicted' });
  });

  it('is not reported as ended by an engine that does not answer', async () => {
    const { engine, request } = await makeEngine({ inspect: 'echo "Cannot connect to the engine" >&2; exit 125' });
    const opened = await openContainer(engine, request);
    const { container } = opened;
    await expect(container?.terminate(10)).rejects.toThrow(/does not confirm/);
    await expect(opened.close()).rejects.toThrow(/does not confirm/);
    expect(await container?.explainExit('')).toMatchObject({ cause: 'unknown' });
    expect(await inspectContainer(engine, ID)).toBeUndefined();
  });

  it('is not created with a path that the engine would read as several options', async () => {
    const { root, engine, request } = await makeEngine();
    const workdir = join(root, 'a,readonly=false');
    await mkdir(workdir);
    await expect(openContainer(engine, { ...request, workdir })).rejects.toThrow(/contains a comma/);
  });
});

describe('a container engine', () => {
  it('that is another program is refused with what it printed', async () => {
    await expect(makeEngine({ version: 'hello' })).rejects.toThrow(/neither Podman nor Docker: hello/);
  });
});
