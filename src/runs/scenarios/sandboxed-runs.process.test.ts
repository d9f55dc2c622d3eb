import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import type { RunSpec } from '../../store/records/index.js';
import { defineLauncher } from '../launchers/launcher.js';
import { waitUntilGone, listPids } from '../process/process-group.js';
import { startRun } from '../start-run.js';
import { canSandbox, makeSandboxSite } from './fixtures/make-sandbox-site.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const HANG: Step = { sleep: 60_000 };

/** A site whose scripted agent can log its calls. */
async function makeSandboxedSite(...steps: readonly (readonly Step[])[]) {
  const site = await makeSite(...steps);
  const ports = { ...site, sandbox: { write: [site.root] } };
  const spec = (more: Partial<RunSpec> = {}): RunSpec => ({
    engine: 'command',
    command: site.agent,
    workdir: site.workdir,
    sandbox: 'required',
    ...more,
  });
  return { site, ports, spec };
}

/** Whether a process is running on the host with this site's script in its command. */
function isAgentRunning({ root }: Site): boolean {
  return listPids().some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(root, 'script.json'));
    } catch {
      return false;
    }
  });
}

describe('a run without bubblewrap', () => {
  const sandbox = { program: '/no/such/bwrap' };
  const spec = { engine: 'command', command: ['echo', 'done'] } as const;

  it('continues with `auto`, and reports why it was not sandboxed', async () => {
    const site = await makeSite();
    const { result, meta } = await runToEnd({ ...spec, workdir: site.workdir, sandbox: 'auto' }, { ...site, sandbox });
    const report = { used: false, reason: expect.stringContaining('bubblewrap') };
    expect(result).toMatchObject({ status: 'success', text: 'done', sandbox: report });
    expect(await meta(1)).toMatchObject({ sandbox: report });
  });

  it('is rejected if one is required, by the run or by the configuration', async () => {
    const site = await makeSite();
    const refused = {
      status: 'failed',
      error: { category: 'process', code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('bubblewrap') },
    };
    const requestedSpec = { ...spec, workdir: site.workdir };
    expect((await runToEnd({ ...requestedSpec, sandbox: 'required' }, { ...site, sandbox })).result).toMatchObject(
      refused,
    );
    const configured = { ...site, sandbox: { ...sandbox, use: 'required' } } as const;
    expect((await runToEnd({ ...requestedSpec, sandbox: 'off' }, configured)).result).toMatchObject(refused);
  });

  it('does not report a sandbox that is switched off', async () => {
    const site = await makeSite();
    const { result } = await runToEnd({ ...spec, workdir: site.workdir, sandbox: 'off' }, { ...site, sandbox });
    expect(result).not.toHaveProperty('sandbox');
  });

  it('cannot restrict its network if the sandbox is switched off', async () => {
    const site = await makeSite();
    const requestedSpec = { ...spec, workdir: site.workdir, sandbox: 'off', network: 'none' } as const;
    expect(() => startRun(requestedSpec, site)).toThrow(/only a sandbox can restrict the network/);
  });
});

describe.runIf(canSandbox)('a sandboxed run', () => {
  it('has the output, exit code and signal of its command', async () => {
    const { site, ports, spec } = await makeSandboxedSite([
      { print: 'out\n' },
      { print: 'err\n', on: 'stderr' },
      { exit: 7 },
    ]);
    const failedRun = await runToEnd(spec(), ports);
    expect(failedRun.result).toMatchObject({
      error: { code: 'PROCESS_EXIT_NON_ZERO' },
      process: { exit_code: 7, signal: null },
      sandbox: { used: true, network: 'host' },
    });
    expect(await failedRun.file('stderr.1.log')).toBe('err\n');
    await site.script([{ kill: 'SIGKILL' }]);
    const { result } = await runToEnd(spec(), ports);
    expect(result).toMatchObject({
      error: { code: 'PROCESS_SIGNALED' },
      process: { exit_code: null, signal: 'SIGKILL' },
    });
  });

  it('passes the prompt to stdin', async () => {
    const { site, ports, spec } = await makeSandboxedSite([{ print: 'ok\n' }]);
    await runToEnd(spec({ prompt: 'Hello.' }), ports);
    expect(await site.calls()).toMatchObject([{ input: 'Hello.', cwd: site.workdir }]);
  });

  it('reports a missing executable like any other run', async () => {
    const { ports, spec } = await makeSandboxedSite();
    const { result } = await runToEnd(spec({ command: ['no-such-program'] }), ports);
    expect(result.error).toMatchObject({ code: 'PROCESS_NOT_STARTED', message: expect.stringContaining('not found') });
  });

  it('lets its process clean up when it is canceled', async () => {
    const { site, ports } = await makeSandboxedSite();
    const script = 'trap "echo tidied > tidied.txt; exit 3" TERM; echo ready; while :; do sleep 0.1; done';
    const spec = {
      engine: 'command',
      command: ['sh', '-c', script],
      workdir: site.workdir,
      sandbox: 'required',
    } as const;
    const { result, meta } = await runToEnd(spec, ports, {
      onEvent: (event, run) => event.type === 'assistant.message.delta' && void run.cancel(),
    });
    expect(result.status).toBe('canceled');
    expect(await meta(1)).toMatchObject({ exit_code: 3, verdict: 'canceled' });
    expect(await readFile(join(site.workdir, 'tidied.txt'), 'utf8')).toBe('tidied\n');
  });

  it.each<[string, Partial<RunSpec>, string]>([
    ['that takes too long', { limits: { time_s: 1 } }, 'RUN_TIMED_OUT'],
    ['that prints too much', { limits: { output_bytes: 10 } }, 'RUN_LIMIT_EXCEEDED'],
  ])('%s is terminated, with everything it started', async (_, more, code) => {
    const { site, ports, spec } = await makeSandboxedSite([{ child: true }, { print: 'working on it\n' }, HANG]);
    const { result } = await runToEnd(spec(more), ports);
    expect(result.error?.code).toBe(code);
    expect(isAgentRunning(site)).toBe(false);
  });

  it('that ignores SIGTERM is killed', async () => {
    const { site, ports, spec } = await makeSandboxedSite([{ stubborn: true }, { print: 'ready\n' }, HANG]);
    const { result, meta } = await runToEnd(spec(), ports, {
      onEvent: (event, run) => event.type === 'assistant.message.delta' && void run.cancel(),
    });
    expect(result.status).toBe('canceled');
    expect(await meta(1)).toMatchObject({ signal: 'SIGKILL' });
    expect(isAgentRunning(site)).toBe(false);
  });

  it('ends when Sluice is killed', async () => {
    const { site } = await makeSandboxedSite([{ print: 'ready\n' }, { child: true, detached: true }, HANG]);
    const program = await bundleProgram(new URL('./fixtures/run-sandboxed.js', import.meta.url));
    const sluice = program.start([site.root]);
    await new Promise((resolve) => {
      sluice.stdout.once('data', resolve);
    });
    expect(isAgentRunning(site)).toBe(true);
    sluice.kill('SIGKILL');
    expect(await waitUntilGone(() => !isAgentRunning(site), 20_000)).toBe(true);
  });

  it('works in a terminal', async () => {
    const { ports, spec } = await makeSandboxedSite([{ print: 'shown\n' }]);
    const { result, file } = await runToEnd(spec({ terminal: true }), ports);
    expect(result).toMatchObject({ status: 'success', sandbox: { used: true } });
    expect(await file('pty-output.1.log')).toContain('shown\r\n');
  });

  it.each(['/var/tmp/of-an-agent', '/var/run/of-an-agent', '/tmp/of-an-agent', '/home/of-an-agent'])(
    'has a private home at %s, and a folder for temporary files',
    async (home) => {
      const { site, ports } = await makeSandboxedSite();
      const script = 'cd && pwd && touch here && touch /var/tmp/there && rm /var/tmp/there';
      const spec = {
        engine: 'command',
        command: ['sh', '-c', script],
        workdir: site.workdir,
        sandbox: 'required',
      } as const;
      const environment = { ...process.env, HOME: home };
      const { result } = await runToEnd(spec, { ...ports, environment });
      expect(result).toMatchObject({ status: 'success', text: home });
      expect(existsSync(home)).toBe(false);
    },
  );

  it('is not possible if the working folder contains the home folder', async () => {
    const { run, root } = await makeSandboxSite();
    const result = await run(['true'], { workdir: root });
    expect(result.error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('home folder'),
    });
  });
});

describe.runIf(canSandbox)('an engine’s stored data', () => {
  const engine = (folder: string) =>
    defineLauncher({
      engine: 'keeper',
      program: 'sh',
      format: 'generic',
      listStateFolders: () => [
        { folder, keep: ['sessions/', 'login'], read: ['settings', 'sessions/bin/'], copy: ['projects'] },
      ],
      launch: ({ prompt }) => ({ command: ['sh', '-c', prompt], env: {} }),
    });

  it('persists if it is a login or a session, and is read-only, private or absent otherwise', async () => {
    const { root, workdir, home, ports } = await makeSandboxSite();
    const folder = join(home, '.keeper');
    await mkdir(folder);
    for (const name of ['login', 'settings', 'projects', 'cache']) await writeFile(join(folder, name), `old ${name}\n`);
    const prompt = `cd ~/.keeper; cat login settings projects cache; echo new > sessions/one; echo new > login
      mkdir -p sessions/bin; echo new > sessions/bin/program; mv sessions/bin sessions/old
      echo new > projects && cat projects; echo new > settings; echo new > cache && cat cache; echo new > other; ls -A ~`;
    const spec = { engine: 'keeper', prompt, workdir, sandbox: 'required' } as const;
    const { result } = await startAndEnd(spec, { ...ports, launchers: [engine(folder)] });
    expect(result.text).toBe('old login\nold settings\nold projects\nnew\nnew\n.keeper');
    const read = async (name: string) => readFile(join(folder, name), 'utf8');
    expect([await read('sessions/one'), await read('login')]).toEqual(['new\n', 'new\n']);
    expect([await read('settings'), await read('projects'), await read('cache')]).toEqual([
      'old settings\n',
      'old projects\n',
      'old cache\n',
    ]);
    expect(existsSync(join(folder, 'other'))).toBe(false);
    // Without the folder, the agent could create one, and the engine would later run executables from it.
    expect([await readdir(join(folder, 'sessions')), await readdir(join(folder, 'sessions', 'bin'))]).toEqual([
      ['bin', 'one'],
      [],
    ]);
    expect(existsSync(join(root, 'home', '.keeper', 'sessions'))).toBe(true);
  });

  it.each([
    ['replaced', 'echo new > t; mv t login', 'new\n'],
    ['changed in place', 'echo new > login', 'new\n'],
    ['replaced by a link', 'ln -s /etc/hostname t; mv -f t login', 'old login\n'],
    ['deleted', 'rm login', 'old login\n'],
    ['left as it is', 'cat login', 'old login\n'],
  ])('has a login that can be renamed over: %s', async (_, script, expected) => {
    const { workdir, home, ports } = await makeSandboxSite();
    const folder = join(home, '.keeper');
    await mkdir(folder);
    for (const name of ['login', 'settings']) await writeFile(join(folder, name), `old ${name}\n`);
    const launcher = {
      ...engine(folder),
      listStateFolders: () => [{ folder, keep: ['sessions/'], replace: ['login'], copy: ['settings'] }],
    };
    // A copy can be replaced too, for this attempt.
    const prompt = `cd ~/.keeper; ${script}; echo mine > s && mv s settings && cat settings; echo x > sessions/one; ls`;
    const spec = { engine: 'keeper', prompt, workdir, sandbox: 'required' } as const;
    const { result } = await startAndEnd(spec, { ...ports, launchers: [launcher] });
    expect(result.text).toContain('mine');
    const read = async (name: string) => readFile(join(folder, name), 'utf8');
    expect(await Promise.all(['login', 'settings', 'sessions/one'].map(read))).toEqual([
      expected,
      'old settings\n',
      'x\n',
    ]);
    expect((await readdir(folder)).toSorted()).toEqual(['login', 'sessions', 'settings']);
  });

  async function startAndEnd(spec: RunSpec, ports: Parameters<typeof startRun>[1]) {
    const run = startRun(spec, ports);
    return { result: await run.result };
  }
});

describe.runIf(canSandbox)('a list of hosts', () => {
  async function serve(): Promise<number> {
    const server = createServer((request, response) => response.end(`served ${request.headers.host} ${request.url}`));
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done);
    });
    onTestFinished(() => void server.close());
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Sends a request through the proxy set in the environment. */
  const ASK = `
    const http = require('http');
    const proxy = new URL(process.env.HTTP_PROXY);
    const port = process.argv[1];
    const get = (path, done) => http.get({ host: proxy.hostname, port: proxy.port, path }, (answer) => {
      let text = ''; answer.on('data', (bytes) => text += bytes); answer.on('end', () => done(answer.statusCode + ' ' + text));
    });
    get('http://127.0.0.1:' + port + '/a', (one) => { console.log(one);
      get('http://localhost:' + port + '/b', (two) => { console.log(two);
        const tunnel = http.request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: '127.0.0.1:' + port });
        tunnel.on('connect', (answer, socket) => { console.log('tunnel ' + answer.statusCode);
          socket.end('GET /c HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'); socket.on('data', (bytes) => console.log(String(bytes).split('\\r\\n').at(-1)));
          socket.on('close', () => { const direct = require('net').connect(port, '127.0.0.1'); direct.on('error', (error) => console.log(error.code)); direct.on('connect', () => { console.log('reached'); direct.end() }) }) });
        tunnel.end(); }) });`;

  it('is all that a process can reach, only through the proxy; a denied host is a diagnostic', async () => {
    const port = await serve();
    const { run } = await makeSandboxSite();
    const result = await run([process.execPath, '-e', ASK, String(port)], { network: [`127.0.0.1:${port}`] });
    expect(result.text).toBe(
      [`200 served 127.0.0.1:${port} /a`, '403 ', 'tunnel 200', 'served x /c', 'ECONNREFUSED'].join('\n'),
    );
    expect(result.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'HOST_DENIED', message: expect.stringContaining(`localhost:${port}`) }),
    );
    expect(result.sandbox).toEqual({ used: true, network: [`127.0.0.1:${port}`] });
  });

  it('does not affect the exit code, signal and cancellation', async () => {
    const { run, ports, workdir } = await makeSandboxSite();
    const network = ['example.org'];
    expect((await run(['sh', '-c', 'exit 5'], { network })).process).toMatchObject({ exit_code: 5 });
    expect((await run(['sh', '-c', 'kill -9 $$'], { network })).process).toMatchObject({ signal: 'SIGKILL' });
    const command = ['sh', '-c', 'trap "exit 4" TERM; echo ready; while :; do sleep 0.1; done'];
    const { result, meta } = await runToEnd(
      { engine: 'command', command, workdir, network, sandbox: 'required' },
      ports,
      {
        onEvent: (event, started) => event.type === 'assistant.message.delta' && void started.cancel(),
      },
    );
    expect(result.status).toBe('canceled');
    expect(await meta(1)).toMatchObject({ exit_code: 4 });
  });
});
