import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findExecutable, parseJson } from '../../../base/files/index.js';
import { getErrorMessage } from '../../../base/index.js';
import { PlacementError } from './placement-error.js';

/** The operator's settings for containers. */
export interface ContainerSettings {
  /** The engine and its global options, such as `['podman', '--runtime', 'runc']`; by default Podman, or else Docker. */
  readonly command?: readonly string[];
  /** The image of runs that name none. */
  readonly image?: string;
  /** Images that requests may name besides; `*` matches any characters. */
  readonly images?: readonly string[];
}

/** A container engine that answers. */
export interface ContainerEngine {
  readonly name: 'podman' | 'docker';
  readonly version: string;
  /** Whether it runs without root: the user's own id is then mapped into its containers. */
  readonly isRootless: boolean;
  /** Runs one of its commands; resolves also if that fails. */
  run(args: readonly string[], options?: EngineCall): Promise<EngineAnswer>;
  readonly command: readonly [string, ...string[]];
}

interface EngineCall {
  readonly timeoutMs?: number;
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The exit code of an engine's command and its output; `null` if the engine did not answer in time. */
export interface EngineAnswer {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The last line that it printed to stderr, without its prefix. */
  readonly problem: string;
}

/** The state of a container. `absent`: the engine has none with this id; `pending`: it was created, but never started. */
export interface ContainerState {
  readonly state: 'absent' | 'pending' | 'alive' | 'gone';
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
}

const ANSWER_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const engines = new Map<string, Promise<ContainerEngine>>();

/**
 * Finds the container engine of this host, once per process and command. Throws `PlacementError` if there is none, or
 * it does not answer.
 *
 * @example
 * const engine = await findContainerEngine({ command: ['podman', '--runtime', 'runc'] });
 * engine.version // '4.3.1'
 */
export async function findContainerEngine({ command }: ContainerSettings = {}): Promise<ContainerEngine> {
  const key = JSON.stringify(command ?? null);
  const found = engines.get(key) ?? probeEngine(command);
  engines.set(key, found);
  // It might be installed or started later.
  found.catch(() => engines.delete(key));
  return found;
}

async function probeEngine(configured: readonly string[] | undefined): Promise<ContainerEngine> {
  const [program = await findDefaultProgram(), ...options] = configured ?? [];
  if (program === undefined)
    throw new PlacementError(
      'unknown',
      'no container engine is installed; install one (apt-get install podman), or name it in "placements.container.command"',
    );
  const run: ContainerEngine['run'] = async (args, call) => askEngine(program, [...options, ...args], call);
  const answer = await run(['--version']);
  const [, product = '', version = ''] = /(podman|docker) version (\d[^\s,]*)/i.exec(answer.stdout) ?? [];
  if (version === '')
    throw new PlacementError(
      'unknown',
      `"${program}" is neither Podman nor Docker: ${answer.problem || answer.stdout}`,
    );
  const name = product.toLowerCase() === 'docker' ? 'docker' : 'podman';
  const info = await run([
    'info',
    '--format',
    name === 'docker' ? '{{json .SecurityOptions}}' : '{{.Host.Security.Rootless}}',
  ]);
  if (info.exitCode !== 0) throw new PlacementError('unknown', `${name} does not answer: ${info.problem}`);
  return { name, version, isRootless: /true|rootless/.test(info.stdout), run, command: [program, ...options] };
}

async function findDefaultProgram(): Promise<string | undefined> {
  const search = { path: process.env['PATH'] ?? '', cwd: '/' };
  return (await findExecutable('podman', search)) ?? findExecutable('docker', search);
}

async function askEngine(
  program: string,
  args: readonly string[],
  { timeoutMs = ANSWER_MS, env }: EngineCall = {},
): Promise<EngineAnswer> {
  return new Promise((resolve) => {
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MAX_ANSWER_BYTES } as const;
    execFile(program, [...args], { ...limits, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      if (error === null) return resolve({ exitCode: 0, stdout, problem: '' });
      const exitCode = typeof error.code === 'number' ? error.code : null;
      const timedOut = error.killed === true ? `no answer within ${timeoutMs / 1000} s` : getErrorMessage(error);
      resolve({ exitCode, stdout, problem: findProblem(stderr) ?? timedOut });
    });
  });
}

/** Returns the last line of an engine's errors, which names the reason, without its prefix. */
export function findProblem(stderr: string): string | undefined {
  const line = stderr
    .split('\n')
    .map((each) => each.trim())
    .findLast((each) => each !== '' && !each.startsWith('time=') && !each.startsWith("See '"));
  return line?.replace(/^(?:Error:|docker:|Error response from daemon:|\s)+/, '').slice(0, 1000);
}

/** The states of both engines, by their names. */
const STATES: Readonly<Record<string, ContainerState['state']>> = {
  created: 'pending',
  configured: 'pending',
  initialized: 'pending',
  exited: 'gone',
  stopped: 'gone',
  dead: 'gone',
};

/** Asks the engine for a container, by its id or name; undefined if it does not answer. */
export async function inspectContainer(engine: ContainerEngine, id: string): Promise<ContainerState | undefined> {
  const answer = await engine.run(['container', 'inspect', '--format', '{{json .State}}', id]);
  if (answer.exitCode !== 0)
    return /no such (?:container|object)/i.test(answer.problem)
      ? { state: 'absent', exitCode: 0, isOutOfMemory: false }
      : undefined;
  const found = parseJson(answer.stdout);
  if (typeof found !== 'object' || found === null) return undefined;
  const { Status: status, ExitCode: exitCode, OOMKilled: isOutOfMemory } = found as Readonly<Record<string, unknown>>;
  return {
    state: (typeof status === 'string' ? STATES[status] : undefined) ?? 'alive',
    exitCode: typeof exitCode === 'number' ? exitCode : 0,
    isOutOfMemory: isOutOfMemory === true,
  };
}

/** An engine records a kill only after the container has ended: it is asked several times. */
const KILL_TRIES = 6;
const KILL_PAUSE_MS = 500;

/** Whether the engine has killed a container; false if it keeps no events, or does not answer. */
export async function wasKilled(engine: ContainerEngine, id: string): Promise<boolean> {
  const filters = ['--filter', `container=${id}`, '--filter', 'event=kill', '--format', '{{.Type}}'];
  for (let tries = 1; ; tries += 1) {
    // Podman can wait for the end of `--until`, and Docker has no other way not to wait.
    const past = engine.name === 'podman' ? ['--stream=false'] : ['--until', new Date().toISOString()];
    const { exitCode, stdout } = await engine.run(['events', '--since', '0', ...past, ...filters]);
    const isKilled = stdout.includes('container');
    if (isKilled || exitCode !== 0 || tries === KILL_TRIES) return isKilled;
    await sleep(KILL_PAUSE_MS);
  }
}

/** Removes a container; returns whether the engine attests that it no longer exists. */
export async function removeContainer(engine: ContainerEngine, id: string): Promise<boolean> {
  await engine.run(['rm', '--force', '--volumes', id]);
  return (await inspectContainer(engine, id))?.state === 'absent';
}

/** Returns how the names of a run's containers start; the number of the attempt follows. */
export function getContainerPrefix(run: string): string {
  return `sluice-${run}-`;
}
