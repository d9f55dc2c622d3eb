import { fileURLToPath } from 'node:url';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { OutputChunk } from './output-queue.js';
import { canSignal, readProcessStat } from './process-identity.js';
import type { ProcessOptions, RunningProcess } from './launch-process.js';
import { launchProcess } from './launch-process.js';
import type { TerminalUse } from './spawn-process.js';

const HOLDER = fileURLToPath(new URL('fixtures/holder.mjs', import.meta.url));
const STUBBORN = fileURLToPath(new URL('fixtures/stubborn.mjs', import.meta.url));

const started: RunningProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map(async (running) => running.stop()));
});

async function startNode(
  args: readonly string[],
  extra: { readonly stdin?: string; readonly terminal?: TerminalUse } & ProcessOptions = {},
): Promise<RunningProcess> {
  const { stdin, terminal, ...options } = extra;
  const running = await launchProcess(
    {
      command: [process.execPath, ...args],
      cwd: process.cwd(),
      env: { PATH: process.env['PATH'] ?? '' },
      ...(stdin === undefined ? {} : { stdin }),
      ...(terminal === undefined ? {} : { terminal }),
    },
    options,
  );
  started.push(running);
  return running;
}

const run = async (program: string, extra?: Parameters<typeof startNode>[1]): Promise<RunningProcess> =>
  startNode(['-e', program], extra);

async function readAll(output: AsyncIterable<OutputChunk>): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {};
  for await (const { stream, bytes } of output)
    outputs[stream] = (outputs[stream] ?? '') + Buffer.from(bytes).toString();
  return outputs;
}

/** Reads until a complete line has arrived; the rest can be read later. */
async function readLine(running: RunningProcess): Promise<string> {
  let text = '';
  const chunks = running.output[Symbol.asyncIterator]();
  while (!text.includes('\n')) {
    const next = await chunks.next();
    if (next.done === true) break;
    text += Buffer.from(next.value.bytes).toString();
  }
  return text;
}

const isRunning = (pid: number): boolean => {
  const stat = process.platform === 'linux' ? readProcessStat(pid) : undefined;
  return canSignal(pid) && stat?.isZombie !== true;
};

describe('a launched process', () => {
  it('provides its output by stream and its exit code', async () => {
    const running = await run(`process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 7`);
    expect(await readAll(running.output)).toEqual({ stdout: 'out', stderr: 'err' });
    expect(await running.exited).toEqual({ exitCode: 7, signal: null });
  });

  it('keeps the order of its streams', async () => {
    const markers = await makeFolder({});
    const program = `const { existsSync } = require('node:fs');
      const say = (stream, text) => new Promise((resolve) => process[stream].write(text, () => {
        const waiting = setInterval(() => existsSync(${JSON.stringify(markers)} + '/' + text) && resolve(clearInterval(waiting)), 1);
      }));
      (async () => { await say('stdout', 'a'); await say('stderr', 'b'); await say('stdout', 'c'); })()`;
    const order: string[] = [];
    for await (const { stream, bytes } of (await run(program)).output) {
      const text = Buffer.from(bytes).toString();
      order.push(`${stream}:${text}`);
      await writeFile(join(markers, text), '');
    }
    expect(order).toEqual(['stdout:a', 'stderr:b', 'stdout:c']);
  });

  it('reports the signal that killed it', async () => {
    const running = await run(`process.kill(process.pid, 'SIGKILL')`);
    expect(await running.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });

  it('has an identity of process id and start time, and its own process group', async () => {
    const running = await run(`setInterval(() => {}, 1000)`);
    expect(running.identity).toEqual({ pid: expect.any(Number), started: expect.stringMatching(/./) });
    expect(() => process.kill(-running.identity.pid, 0)).not.toThrow();
  });

  it('gets exactly the given environment and folder, and an empty stdin', async () => {
    const cwd = await makeFolder({});
    const running = await launchProcess({
      command: [
        process.execPath,
        '-e',
        `process.stdin.on('data', () => {}).on('end', () => console.log(JSON.stringify([process.cwd(), process.env])))`,
      ],
      cwd,
      env: { ONLY: 'this' },
    });
    const { stdout = '' } = await readAll(running.output);
    expect(JSON.parse(stdout)).toEqual([cwd, { ONLY: 'this' }]);
  });

  it('gets its arguments unchanged, without a shell', async () => {
    const shellSyntax = `$(echo shell) "; \`ls\` '*' \n--flag`;
    const running = await startNode(['-e', 'process.stdout.write(process.argv[1])', shellSyntax]);
    expect(await readAll(running.output)).toEqual({ stdout: shellSyntax });
  });

  it('gets its complete stdin', async () => {
    const stdin = 'ä'.repeat(500_000);
    const running = await run(`process.stdin.pipe(process.stdout)`, { stdin });
    expect((await readAll(running.output))['stdout']).toBe(stdin);
  });

  it('can exit without reading its input, whatever its size', async () => {
    const running = await run(`process.exit(4)`, { stdin: 'x'.repeat(20_000_000) });
    expect(await running.exited).toEqual({ exitCode: 4, signal: null });
    expect(await readAll(running.output)).toEqual({});
  });

  it('can close its stdin early and continue', async () => {
    const program = `process.stdin.on('close', () => process.stdout.write('continued')).destroy()`;
    const running = await run(program, { stdin: 'x'.repeat(5_000_000) });
    expect(await readAll(running.output)).toEqual({ stdout: 'continued' });
  });

  it('loses no byte of a burst before its exit', async () => {
    const running = await run(`process.stdout.write('y'.repeat(400_000), () => process.exit(0))`);
    await running.exited;
    // Longer than the output stays open after the exit.
    await sleep(300);
    expect((await readAll(running.output))['stdout']).toHaveLength(400_000);
  });

  it('waits while its reader does not read, so memory is bounded', async () => {
    const program = `let sent = 0; const more = () => { while (sent < 160) { sent += 1;
      if (!process.stdout.write(Buffer.alloc(65536, 120))) { process.stdout.once('drain', more); break; } }
      process.stderr.write('.'); }; more();`;
    const running = await run(program);
    const chunks = running.output[Symbol.asyncIterator]();
    await chunks.next();
    // Meanwhile the child fills the queue and the pipe, and then has to wait.
    await sleep(300);
    const ended = await Promise.race([running.exited.then(() => 'ended'), turn('waiting')]);
    expect(ended).toBe('waiting');
    const { stdout = '' } = await readAll(running.output);
    expect(stdout.length).toBeGreaterThan(9_000_000);
    expect(await running.exited).toEqual({ exitCode: 0, signal: null });
  });

  it('continues when its reader stops reading', async () => {
    const running = await run(`process.stdout.write('x'.repeat(5_000_000), () => process.exit(5))`);
    running.output.abandon();
    expect(await running.exited).toEqual({ exitCode: 5, signal: null });
  });
});

describe('the leftovers of an exited process', () => {
  it.each([['in its group'], ['escaped'], ['chatty'], ['escaped chatty']])(
    'do not delay the end of the output: a child %s that has its stdout open',
    async (how) => {
      const running = await startNode([HOLDER, ...how.split(' ')], { drainMs: 300 });
      const { stdout = '' } = await readAll(running.output);
      expect(stdout).toMatch(/^\d+\n(?:still here\n)*last words\n/);
      expect(await running.exited).toEqual({ exitCode: 3, signal: null });
      const child = Number.parseInt(stdout, 10);
      expect(isRunning(child)).toBe(how.includes('escaped'));
      if (how.includes('escaped')) process.kill(child, 'SIGKILL');
    },
  );

  it('are terminated even if they do not have the output open', async () => {
    const program = `const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      process.stdout.write(String(c.pid), () => process.exit(0))`;
    const running = await run(program);
    const { stdout } = await readAll(running.output);
    await running.stop();
    expect(isRunning(Number(stdout))).toBe(false);
  });
});

describe('stopping', () => {
  it('sends SIGTERM, and later output is still read', async () => {
    const program = `process.on('SIGTERM', () => process.stdout.write('farewell', () => process.exit(0)));
      process.stdout.write('ready\\n'); setInterval(() => {}, 1000)`;
    const running = await run(program);
    expect(await readLine(running)).toBe('ready\n');
    await running.stop();
    expect(await readAll(running.output)).toEqual({ stdout: 'farewell' });
    expect(await running.exited).toEqual({ exitCode: 0, signal: null });
  });

  it('sends SIGKILL to the group after the grace period', async () => {
    const running = await startNode([STUBBORN], { graceMs: 100 });
    const [self, inside, outside] = JSON.parse(await readLine(running)) as number[];
    expect(self).toBe(running.identity.pid);
    await running.stop();
    expect(await running.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(isRunning(inside ?? 0)).toBe(false);
    process.kill(outside ?? 0, 'SIGKILL');
    expect(await readAll(running.output)).toEqual({});
  });

  it('terminates a process that waits for its reader', async () => {
    const running = await run(`process.stdout.write('x'.repeat(50_000_000)); setInterval(() => {}, 1000)`);
    await running.output[Symbol.asyncIterator]().next();
    await running.stop();
    expect(await running.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
    const { stdout = '' } = await readAll(running.output);
    expect(stdout.length).toBeGreaterThan(0);
  });

  it('has no further effect when repeated, even after the exit', async () => {
    const running = await run(`setInterval(() => {}, 1000)`);
    await Promise.all([running.stop(), running.stop()]);
    await running.stop();
    expect(await running.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
  });
});

describe('a command that cannot be launched', () => {
  const command = (program: string, cwd = process.cwd()): Parameters<typeof launchProcess>[0] => ({
    command: [program],
    cwd,
    env: { PATH: process.env['PATH'] ?? '' },
  });

  it('has a different message than a missing folder', async () => {
    await expect(launchProcess(command('no-such-program'))).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('Install it'),
    });
    await expect(launchProcess(command(process.execPath, '/no/such/folder'))).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('"/no/such/folder" does not exist'),
    });
    await expect(launchProcess(command(process.execPath, process.execPath))).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('is not a folder'),
    });
  });

  it('names the command that installs it, if that is known', async () => {
    const installHint = 'npm install --global agent@1.0.0';
    await expect(launchProcess({ ...command('no-such-program'), installHint })).rejects.toMatchObject({
      message: expect.stringContaining(`"no-such-program": command not found. To install it: ${installHint}.`),
    });
  });

  it('rejects even if the error occurs before the first await', async () => {
    const outcome = await new Promise<unknown>((resolve) => {
      setImmediate(() => void launchProcess(command('no-such-program')).then(resolve, resolve));
    });
    expect(outcome).toMatchObject({ code: 'PROCESS_NOT_STARTED' });
  });

  it('is reported when no file descriptor is free', async () => {
    const program = await bundleProgram(new URL('fixtures/launch-without-descriptors.ts', import.meta.url));
    const child = program.start([], { descriptors: 64 });
    const [printed] = await Promise.all([readText(child.stdout), once(child, 'close')]);
    expect(printed).toBe(
      'SluiceError: Cannot launch "true": the system cannot start another process (EMFILE). Start fewer runs at a time.',
    );
  });

  it('can exist without being executable', async () => {
    const folder = await makeFolder({ program: 'hello' });
    await chmod(join(folder, 'program'), 0o644);
    await expect(launchProcess(command(join(folder, 'program')))).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('chmod +x'),
    });
  });

  it('can have arguments that are too long or contain a NUL', async () => {
    const { cwd, env } = command('');
    const tooLong = launchProcess({ command: [process.execPath, 'x'.repeat(5_000_000)], cwd, env });
    await expect(tooLong).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('stdin'),
    });
    const withZero = launchProcess({ command: [process.execPath, 'a\0b'], cwd, env });
    await expect(withZero).rejects.toMatchObject({ code: 'PROCESS_NOT_STARTED' });
  });
});

describe('a process in a terminal', () => {
  it('has a terminal and one output stream', async () => {
    const program = `console.error(process.stdout.isTTY, process.stdin.isTTY); process.exitCode = 6`;
    const running = await run(program, { terminal: true });
    const { pty, ...others } = await readAll(running.output);
    expect(pty).toContain('true');
    expect(pty).toContain('\r\n');
    expect(others).toEqual({});
    expect(await running.exited).toEqual({ exitCode: 6, signal: null });
  });

  it('loses no byte when its reader is slow', async () => {
    const program = `process.stdout.write('x'.repeat(2_000_000) + 'end')`;
    const all = await Promise.all(
      [0, 100, 200, 300, 400].map(async (delay) => {
        const running = await run(program, { terminal: true });
        await sleep(delay);
        return (await readAll(running.output))['pty'] ?? '';
      }),
    );
    expect(all.map((pty) => [pty.length, pty.slice(-4)])).toEqual(all.map(() => [2_000_003, 'xend']));
  });

  it('is terminated with its group', async () => {
    const running = await startNode([STUBBORN], { terminal: true, graceMs: 100 });
    const [, inside, outside] = JSON.parse(await readLine(running)) as number[];
    await running.stop();
    expect(await running.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(isRunning(inside ?? 0)).toBe(false);
    process.kill(outside ?? 0, 'SIGKILL');
  });

  it('does not delay the end of its output if a child keeps the terminal open', async () => {
    const running = await startNode([HOLDER], { terminal: true });
    const { pty } = await readAll(running.output);
    expect(pty).toContain('last words');
    expect(await running.exited).toEqual({ exitCode: 3, signal: null });
  });

  it('can still get input', async () => {
    const running = await run(`process.stdin.pipe(process.stdout)`, { terminal: true, stdin: 'x'.repeat(10_000) });
    expect((await readAll(running.output))['pty']).toHaveLength(10_000);
  });

  it('leaks no descriptor', async () => {
    const count = (): number => readdirSync('/dev/fd').length;
    await readAll((await run(`process.stdout.write('warm')`, { terminal: true })).output);
    // The first terminal might still be open; descriptors leaked by the others would increase the count.
    const before = count();
    for (let time = 0; time < 3; time += 1) await readAll((await run(`1`, { terminal: true })).output);
    await expect.poll(count, { timeout: 30_000 }).toBeLessThanOrEqual(before);
  });

  it('is not launched if the executable does not exist', async () => {
    const command = { command: ['no-such-program'] as const, cwd: process.cwd(), env: {}, terminal: true };
    await expect(launchProcess(command)).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('Install it'),
    });
  });
});

describe('a process with a terminal besides its pipes', () => {
  const program = `
    const { writeSync, openSync } = require('node:fs');
    writeSync(1, 'out ' + process.stdout.isTTY + '\\n');
    writeSync(2, 'err ' + process.stderr.isTTY + '\\n');
    writeSync(openSync('/dev/tty', 'w'), 'shown\\n');`;

  it('prints to pipes, and its terminal output is a separate stream', async () => {
    const running = await run(program, { terminal: 'beside' });
    expect(await readAll(running.output)).toEqual({
      stdout: 'out undefined\n',
      stderr: 'err undefined\n',
      pty: 'shown\r\n',
    });
    expect(await running.exited).toEqual({ exitCode: 0, signal: null });
  });

  it('can get input, and its arguments are not parsed by a shell', async () => {
    const echo = `process.stdout.write(process.argv[1]); process.stdin.pipe(process.stdout)`;
    const running = await startNode(['-e', echo, '$(id); "x"'], { terminal: 'beside', stdin: ' and input' });
    expect(await readAll(running.output)).toEqual({ stdout: '$(id); "x" and input' });
  });

  it('is terminated with its group', async () => {
    const running = await startNode([STUBBORN], { terminal: 'beside', graceMs: 100 });
    const [, inside, outside] = JSON.parse(await readLine(running)) as number[];
    await running.stop();
    expect(await running.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(isRunning(inside ?? 0)).toBe(false);
    process.kill(outside ?? 0, 'SIGKILL');
  });

  it('is the only one that has its terminal: processes started meanwhile cannot read from it or write to it', async () => {
    const listDevices = `
      const { readdirSync, readlinkSync } = require('node:fs');
      const open = readdirSync('/proc/self/fd').map((fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } });
      process.stdout.write(JSON.stringify(open.filter((path) => /ptmx|pts/.test(path))));`;
    const first = await run(`console.log('ready'); setInterval(() => undefined, 1000)`, { terminal: 'beside' });
    await readLine(first);
    expect(await readAll((await run(listDevices)).output)).toEqual({ stdout: '[]' });
    expect(await readAll((await run(listDevices, { terminal: 'beside' })).output)).toEqual({
      stdout: expect.not.stringContaining('ptmx') as string,
    });
  });

  it('is not launched if the executable does not exist', async () => {
    const command = { command: ['no-such-program'] as const, cwd: process.cwd(), env: {}, terminal: 'beside' } as const;
    await expect(launchProcess(command)).rejects.toMatchObject({
      code: 'PROCESS_NOT_STARTED',
      message: expect.stringContaining('Install it'),
    });
  });
});
