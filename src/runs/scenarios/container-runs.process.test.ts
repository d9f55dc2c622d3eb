import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { TEST_IMAGE, probePodman } from '../../../test/install-podman.js';
import type { RunSpec } from '../../store/records/index.js';
import type { RunPorts } from '../ports/run-ports.js';
import { startRun } from '../start-run.js';
import { runToEnd } from './run.contract.js';

const canRunContainers = (await probePodman()).works;

function podman(...args: readonly string[]): string {
  return execFileSync('podman', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** A working folder with a repository, and files around it that a container must not reach. */
async function makeContainerSite(ports: Partial<RunPorts> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-container-site-')));
  onTestFinished(async () => rm(root, { recursive: true, force: true }));
  const [workdir, data] = [join(root, 'work'), join(root, 'data')];
  await mkdir(workdir);
  await writeFile(join(root, 'outside.txt'), 'the outside');
  const all: RunPorts = { data, sandbox: { container: { image: TEST_IMAGE } }, ...ports };
  const spec = (script: string, more: Partial<RunSpec> = {}): RunSpec => ({
    engine: 'command',
    command: ['sh', '-c', `exec 2>&1\n${script}`],
    workdir,
    placement: 'container',
    network: 'none',
    sandbox: 'required',
    ...more,
  });
  return {
    root,
    workdir,
    data,
    ports: all,
    spec,
    run: async (script: string, more?: Partial<RunSpec>) => (await runToEnd(spec(script, more), all)).result,
    shell: async (script: string, more?: Partial<RunSpec>) => {
      const { text, error } = await startRun(spec(script, more), all).result;
      if (error?.code === 'PLACEMENT_FAILED') throw new Error(error.message);
      return text ?? '';
    },
  };
}

/** The containers that are left of a run. */
function listContainers(run: string): string {
  return podman('ps', '--all', '--quiet', '--filter', `label=sluice.run=${run}`);
}

describe.runIf(canRunContainers)('a run in a container', () => {
  it('has the output, exit code and signal of its command, and leaves nothing behind', async () => {
    const { spec, ports, data, workdir } = await makeContainerSite();
    const ended = await runToEnd(spec('echo out; pwd; echo made > made.txt; exit 7'), ports);
    expect(ended.result).toMatchObject({
      error: { code: 'PROCESS_EXIT_NON_ZERO' },
      text: `out\n${workdir}`,
      process: { exit_code: 7, signal: null },
      artifacts: { created: ['made.txt'] },
      sandbox: { used: true, network: 'none', image: TEST_IMAGE, engine: expect.stringMatching(/^podman \d/) },
    });
    expect(listContainers(ended.run.id)).toBe('');
    expect(existsSync(join(data, 'homes', ended.run.id))).toBe(false);
    expect((await runToEnd(spec('kill -9 $$'), ports)).result.process).toMatchObject({ signal: 'SIGKILL' });
  });

  it('gets the prompt on stdin and only the variables that are allowed', async () => {
    const environment = { PATH: '/host/bin', HOME: '/host/home', GIVEN: 'given $value', SECRET_OTHER: 'other' };
    const { run } = await makeContainerSite({ environment });
    const { text } = await run('cat; env', { prompt: 'Hello.\n', env: ['GIVEN'] });
    expect(text).toMatch(/^Hello\.\n/);
    expect(text).toContain('\nGIVEN=given $value');
    expect(text).toContain('\nHOME=/home/agent');
    expect(text).not.toMatch(/\/host\/|SECRET_OTHER|CONTAINERS_CONF/);
  });

  it('keeps its home between attempts, and no longer', async () => {
    const { ports, spec, data } = await makeContainerSite();
    const script = 'if [ -e ~/seen ]; then echo {\\"again\\": true}; else touch ~/seen; echo no; fi';
    const schema = { type: 'object', properties: { again: { const: true } }, required: ['again'] };
    const { result, run } = await runToEnd(spec(script, { contract: { schema }, max_retries: 1 }), ports);
    expect(result).toMatchObject({ status: 'success', attempts: 2, value: { again: true } });
    expect(existsSync(join(data, 'homes', run.id))).toBe(false);
  });

  it('lets its process clean up when it is canceled, and kills one that does not end', async () => {
    const { ports, spec, workdir } = await makeContainerSite();
    const cancel = {
      onEvent: (event: { readonly type: string }, run: { cancel(): Promise<void> }) =>
        event.type === 'assistant.message.delta' && void run.cancel(),
    };
    const tidy = 'trap "echo tidied > tidied.txt; exit 3" TERM; echo ready; while :; do sleep 0.1; done';
    const tidied = await runToEnd(spec(tidy), ports, cancel);
    expect(tidied.result.status).toBe('canceled');
    expect(await tidied.meta(1)).toMatchObject({ exit_code: 3, verdict: 'canceled' });
    expect(readFileSync(join(workdir, 'tidied.txt'), 'utf8')).toBe('tidied\n');
    const stubborn = await runToEnd(spec('trap "" TERM; echo ready; while :; do sleep 0.1; done'), ports, cancel);
    expect(stubborn.result.status).toBe('canceled');
    expect(await stubborn.meta(1)).toMatchObject({ signal: 'SIGKILL' });
    expect(listContainers(stubborn.run.id)).toBe('');
  });

  it('ends when its container is killed or removed by someone else', async () => {
    const { ports, spec } = await makeContainerSite();
    const during = (command: readonly string[]) => ({
      onEvent: (event: { readonly type: string }, { id }: { readonly id: string }) =>
        event.type === 'assistant.message.delta' && void podman(...command, `sluice-${id}-1`),
    });
    const hang = spec('echo ready; sleep 600');
    const killed = await runToEnd(hang, ports, during(['kill']));
    expect(killed.result).toMatchObject({
      error: {
        code: 'PLACEMENT_FAILED',
        cause: 'evicted',
        message: expect.stringContaining('killed through podman') as unknown,
      },
      process: { signal: 'SIGKILL' },
    });
    const removed = await runToEnd(hang, ports, during(['rm', '--force', '--time', '0']));
    expect(removed.result.error).toMatchObject({
      category: 'process',
      code: 'PLACEMENT_FAILED',
      cause: 'evicted',
      message: expect.stringContaining('removed while it was running'),
    });
  });

  it.each([
    ['an image that does not exist', { image: 'localhost/no-such-image:1' }, 'no-such-image'],
    ['a command that the image does not have', { command: ['no-such-program'] }, 'No such file'],
  ] as const)('reports %s with the reason of the engine', async (_, more, reason) => {
    const { run } = await makeContainerSite();
    const { error, status } = await run('true', more);
    expect(status).toBe('failed');
    expect(error).toMatchObject({
      category: 'process',
      code: 'PLACEMENT_FAILED',
      cause: 'image',
      message: expect.stringContaining(reason),
    });
  });

  it('is ended by the next process of Sluice if its own was killed', async () => {
    const site = await makeContainerSite();
    const program = await bundleProgram(new URL('./fixtures/run-in-container.js', import.meta.url));
    const sluice = program.start([site.root, TEST_IMAGE]);
    const id = await new Promise<string>((resolve) => {
      sluice.stdout.once('data', (bytes: Buffer) => resolve(String(bytes).trim()));
    });
    expect(listContainers(id)).not.toBe('');
    sluice.kill('SIGKILL');
    await new Promise((resolve) => {
      sluice.once('exit', resolve);
    });
    await site.run('true');
    expect(listContainers(id)).toBe('');
  });
});

describe.runIf(canRunContainers)('an agent in a container', () => {
  it('sees nothing of the host but its working folder and its run folder, and writes nowhere else', async () => {
    const { shell, root } = await makeContainerSite();
    const text = await shell(`
      ls -A ${root}; cat ${root}/outside.txt; ls -A ${root}/data; ls -A "$SLUICE_RUN_DIR/.audit" | wc -l
      for file in /x /etc/x /bin/x /dev/x /proc/sys/kernel/core_pattern /run/x "$SLUICE_RUN_DIR/.audit/x"; do
        (echo bad > "$file") 2>/dev/null && echo "wrote $file"
      done
      find / -type s 2>/dev/null | head; ls /run; ls /home; echo end`);
    expect(text).not.toContain('the outside');
    expect(text).not.toMatch(/^wrote \/(?!run)/m);
    expect(text).not.toMatch(/\.sock/);
    expect(text.split('\n').slice(0, 1)).toEqual(['data']);
    expect(text).toMatch(/^0$/m);
    expect(text).toMatch(/^agent$/m);
  });

  it('cannot write to control groups, which would end its limits and those of others', async () => {
    const { shell } = await makeContainerSite();
    for (const network of ['none', 'host'] as const) {
      const files = 'find /sys -type f \\( -name cgroup.procs -o -name tasks \\)';
      const text = await shell(
        `for file in $(${files}); do (: >> "$file") 2>/dev/null && echo "opened $file"; done; echo end`,
        {
          network,
        },
      );
      expect(text).toBe('end');
    }
  });

  it('sees nothing of a folder that is hidden in its working folder', async () => {
    const { shell, workdir, ports } = await makeContainerSite();
    const hidden = join(workdir, 'hidden');
    await mkdir(hidden);
    await writeFile(join(hidden, 'token'), 'a secret');
    Object.assign(ports.sandbox ?? {}, { hidden: [hidden] });
    expect(await shell('cat hidden/token; ls -A hidden; echo end')).not.toMatch(/secret|^token$/m);
  });

  it('has no capabilities, is not root, and cannot see or signal processes outside', async () => {
    const { shell } = await makeContainerSite();
    const text = await shell(
      `id; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; ps | wc -l; mount -t tmpfs x /tmp; kill -9 ${process.pid}; echo end`,
    );
    expect(text).toMatch(/^uid=[1-9]/);
    expect(text).toMatch(/CapEff:\s0{16}\nCapBnd:\s0{16}\nNoNewPrivs:\s1/);
    expect(text).toMatch(/permission denied|must be superuser|Operation not permitted/i);
    expect(text).toMatch(/No such process/i);
    expect(text).toContain('end');
  });

  it('commits nothing to the configuration or the hooks of its repository', async () => {
    const { shell, workdir } = await makeContainerSite();
    execFileSync('git', ['-C', workdir, 'init', '--quiet']);
    const before = readFileSync(join(workdir, '.git', 'config'), 'utf8');
    await shell(`
      echo x >> .git/config; echo x > .git/hooks/post-checkout; echo ../evil > .git/commondir
      mv .git/hooks .git/old; mv .git .git2; rm -rf .git/config; echo x > .git/index; true`);
    expect(readFileSync(join(workdir, '.git', 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(workdir, '.git', 'hooks', 'post-checkout'))).toBe(false);
    expect(existsSync(join(workdir, '.git', 'commondir'))).toBe(false);
    expect(existsSync(join(workdir, '.git', 'index'))).toBe(true);
  });

  it('reaches no network with "none", and with a list only what is listed', async () => {
    const server = createServer((_, response) => response.end('served'));
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done);
    });
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const ask = `
      const http = require('http');
      const proxy = new URL(process.env.HTTP_PROXY ?? 'http://127.0.0.1:3128');
      const get = (path) => new Promise((done) => http.get({ host: proxy.hostname, port: proxy.port, path }, (answer) => {
        let text = ''; answer.on('data', (bytes) => text += bytes); answer.on('end', () => done(answer.statusCode + ' ' + text));
      }).on('error', (error) => done(error.code)));
      const direct = () => new Promise((done) => http.get('http://127.0.0.1:${port}/', () => done('reached')).on('error', (error) => done(error.code)));
      (async () => console.log([await get('http://127.0.0.1:${port}/a'), await get('http://localhost:${port}/b'), await direct()].join('\\n')))();`;
    const { run } = await makeContainerSite();
    const command = ['node', '-e', ask];
    const listed = await run('', { command, network: [`127.0.0.1:${port}`] });
    expect(listed.text).toBe('200 served\n403 \nECONNREFUSED');
    expect(listed.diagnostics).toContainEqual(expect.objectContaining({ code: 'HOST_DENIED' }));
    expect((await run('', { command })).text).toBe('ECONNREFUSED\nECONNREFUSED\nECONNREFUSED');
    expect((await run('', { command, network: 'host' })).text).toMatch(/reached$/);
    const stopped = await runToEndOnOutput(port);
    expect(stopped).toMatchObject({ exit_code: 4, verdict: 'canceled' });
  });

  /** Cancels a run behind the proxy, whose forwarder must pass the signal on. */
  async function runToEndOnOutput(port: number) {
    const { ports, spec } = await makeContainerSite();
    const script = 'trap "exit 4" TERM; echo ready; while :; do sleep 0.1; done';
    const { meta } = await runToEnd(spec(script, { network: [`127.0.0.1:${port}`] }), ports, {
      onEvent: (event, run) => event.type === 'assistant.message.delta' && void run.cancel(),
    });
    return meta(1);
  }

  it('cannot use more processor or memory than it was given', async () => {
    const { run } = await makeContainerSite();
    const hog = {
      command: ['node', '-e', 'const a = []; for (;;) a.push(Buffer.alloc(1e6, 1))'],
      memory: '64Mi',
      cpu: 0.5,
    };
    const { error } = await run('', hog);
    // With PLACEMENT_FAILED where the engine reports the reason, and otherwise with PROCESS_SIGNALED.
    expect(error?.message).toMatch(/used more than its memory \(64Mi\)/);
  });
});

describe('a run that asks for what its placement does not have', () => {
  const spec = { engine: 'command', command: ['true'], workdir: '.' } as const;

  it.each<[string, Partial<RunSpec>, RegExp]>([
    ['an image on this host', { image: 'x' }, /image: needs placement container/],
    ['memory on this host', { placement: 'local', memory: '1Gi', cpu: 2 }, /cpu: needs .*memory: needs/],
    ['a terminal in a container', { placement: 'container', terminal: true }, /terminal: is not available/],
    ['a cached result of a container', { placement: 'container', cache: true, input_files: [] }, /cache: is not/],
    ['Kubernetes', { placement: 'kubernetes' }, /kubernetes is not available/],
    ['an image that is an option', { placement: 'container', image: '--privileged' }, /image: /],
  ])('is refused: %s', async (_, more, message) => {
    expect(() => startRun({ ...spec, ...more })).toThrow(message);
  });

  it.each<[string, RunPorts['sandbox'], string]>([
    ['without an image', {}, 'no image is named'],
    ['without an engine', { container: { image: 'x', command: ['/no/such/engine'] } }, 'neither Podman nor Docker'],
  ])('fails %s, and says what to do', async (_, sandbox, message) => {
    const { ports, workdir } = await makeContainerSite({ sandbox: { ...sandbox } });
    const { result } = await runToEnd({ ...spec, workdir, placement: 'container' }, ports);
    expect(result.error).toMatchObject({ code: 'PLACEMENT_FAILED', message: expect.stringContaining(message) });
  });
});
