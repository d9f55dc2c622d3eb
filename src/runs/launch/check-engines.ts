import { listLaunchers, getLauncher, LAUNCHERS } from '../launchers/launchers.js';
import type { AgentSettings } from '../launchers/acp.js';
import type { Launcher } from '../launchers/launcher.js';
import type { RunEngine } from '../../store/records/index.js';
import { isVersionIn } from '../launchers/version.js';
import { findExecutable, parseJson, readSmallFile } from '../../base/files/index.js';
import { runProgram } from './engine-version.js';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { get, isRecord } from '../../events/index.js';
import { AcpClient } from '../conversation/acp-client.js';
import { resolvePorts, type RunPorts } from '../ports/run-ports.js';
import { ACCEPTS_TEXT_ONLY, type AcceptedInputs } from '../ports/run-inputs.js';
import { launchProcess, type RunningProcess } from '../process/launch-process.js';
import { getProgramCommand, selectAgentEnvironment } from './prepare-launch.js';

/** An engine's status on this host, with advice if it cannot be used. */
export interface EngineReport {
  readonly engine: string;
  readonly program: string;
  readonly path?: string;
  readonly version?: string;
  /** The tested versions, such as `>=0.166.0 <0.167.0`; absent if no version was tested. */
  readonly tested?: string;
  /**
   * `unproven_version`: an untested version, which will probably work. `broken`: installed, but does not print its
   * version. `slow`: did not exit in time, so its state is unknown.
   */
  readonly status: 'ready' | 'missing' | 'unproven_version' | 'broken' | 'slow';
  readonly next?: string;
}

export interface ExamineOptions {
  /** The environment for finding and running engine CLIs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The path of an engine's CLI, or its command; others are looked up in PATH. */
  readonly programs?: Readonly<Partial<Record<RunEngine, string | readonly string[]>>>;
  /** Configured agents. */
  readonly agents?: Readonly<Record<string, AgentSettings>>;
  /** Additional launchers. */
  readonly launchers?: readonly Launcher[];
  /** The time limit for a CLI to print its version. */
  readonly timeoutMs?: number;
}

/** These CLIs take seconds to start under load. */
const DEFAULT_TIMEOUT_MS = 20_000;

/**
 * Finds the CLI of every engine, determines its version and suggests the next step. `command` is omitted, because it
 * has no fixed CLI.
 *
 * @example
 * for (const { engine, status, next } of await checkEngines({ env: process.env, cwd: process.cwd() })) show(engine, status, next)
 */
export async function checkEngines(options: ExamineOptions): Promise<EngineReport[]> {
  const { agents, launchers } = options;
  const listed = Object.values(listLaunchers(agents, launchers)).filter(({ engine }) => engine !== 'command');
  const outputs = new Map<string, ReturnType<typeof runProgram>>();
  // Two engines can use the same CLI, which prints its version only once.
  const run: typeof runProgram = async (command, settings) => {
    const key = command.join('\0');
    const output = outputs.get(key) ?? runProgram(command, settings);
    outputs.set(key, output);
    return output;
  };
  return Promise.all(listed.map(async (launcher) => examine(launcher, options, run)));
}

async function examine(launcher: Launcher, options: ExamineOptions, run: typeof runProgram): Promise<EngineReport> {
  const { engine, installHint } = launcher;
  const { env, cwd, programs = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const [program = launcher.program, ...words] = [programs[engine as RunEngine] ?? launcher.program].flat();
  // A CLI that is also a built-in engine prints its version; other ACP agents report it when they are started.
  const source = findVersionSource(launcher);
  const { versionCommand, testedVersions } = source;
  const tested = testedVersions === '' ? getTestedRange(installHint) : testedVersions;
  const common = { engine, program, ...(tested === '' ? {} : { tested }) };
  const path = await findExecutable(program, { path: env['PATH'] ?? '', cwd });
  if (path === undefined) return { ...common, status: 'missing', next: installHint };

  let version: string | undefined;
  if (versionCommand.length === 0) {
    version = await readPackageVersion(path);
    if (version === undefined) return { ...common, path, status: 'ready' };
  } else {
    const output = await run([path, ...words, ...versionCommand], { env, cwd, timeoutMs });
    version = source.readVersion(output.text);
    if (output.problem !== undefined || version === undefined) {
      const reason = output.problem ?? 'it does not print its version';
      const command = [program, ...words, ...versionCommand].join(' ');
      if (output.isTimeout === true)
        return { ...common, path, status: 'slow', next: `${reason}; try again when the host is idle` };
      return { ...common, path, status: 'broken', next: `${reason}; run \`${command}\` yourself, or install it again` };
    }
  }
  if (isVersionIn(version, tested)) return { ...common, path, version, status: 'ready' };
  const next =
    tested === ''
      ? 'no version was tested; check its first results closely'
      : `tested with ${tested}; check its first results closely, or ${installHint}`;
  return { ...common, path, version, status: 'unproven_version', next };
}

function findVersionSource(launcher: Launcher): Launcher {
  if (launcher.versionCommand.length > 0) return launcher;
  return Object.values(LAUNCHERS).find(({ program }) => program !== '' && program === launcher.program) ?? launcher;
}

/** Returns the range for the last version in an installation hint: this one, and later ones with the same minor version. */
function getTestedRange(hint: string): string {
  const [, major, minor, patch] = [...hint.matchAll(/@(\d+)\.(\d+)\.(\d+)/gu)].at(-1) ?? [];
  return major === undefined ? '' : `>=${major}.${minor}.${patch} <${major}.${Number(minor) + 1}.0`;
}

const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Returns the version of the npm package that an executable belongs to, without starting it. */
async function readPackageVersion(path: string): Promise<string | undefined> {
  const file = await realpath(path).catch(() => path);
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//u.exec(file) ?? [];
  const text = folder === undefined ? undefined : await readSmallFile(join(folder, 'package.json'), MAX_MANIFEST_BYTES);
  const manifest = text === undefined ? undefined : parseJson(text);
  return isRecord(manifest) ? (get.name(manifest, 'version') ?? undefined) : undefined;
}

const STATUS_LABELS: Readonly<Record<EngineReport['status'], string>> = {
  ready: 'ready',
  missing: 'missing',
  unproven_version: 'untested version',
  broken: 'broken',
  slow: 'too slow to say',
};

/** Formats the reports as text: a line with engine, status, version, modes and path, and the next step below it. */
export function renderDoctor(reports: readonly (EngineReport & { readonly modes?: readonly string[] })[]): string {
  const engineWidth = getMaxWidth(reports.map(({ engine }) => engine));
  const statusWidth = getMaxWidth(Object.values(STATUS_LABELS));
  const versionWidth = getMaxWidth(reports.map(({ version = '' }) => version));
  const modesWidth = getMaxWidth(reports.map(({ modes = [] }) => modes.join(', ')));
  return reports
    .map(({ engine, status, version = '', modes = [], path = '', next }) => {
      const columns = [
        engine.padEnd(engineWidth),
        STATUS_LABELS[status].padEnd(statusWidth),
        version.padEnd(versionWidth),
        ...(modesWidth === 0 ? [] : [modes.join(', ').padEnd(modesWidth)]),
        path,
      ];
      const line = columns.join('  ').trimEnd();
      return next === undefined ? `${line}\n` : `${line}\n${' '.repeat(engineWidth)}  → ${next}\n`;
    })
    .join('');
}

function getMaxWidth(values: readonly string[]): number {
  return Math.max(0, ...values.map((text) => text.length));
}

/** The time an agent has to report its capabilities. */
const TIMEOUT_MS = 20_000;

/** Detects which inputs an ACP agent accepts besides text, by starting it; only text if it does not respond in time. */
export async function findAcceptedInputs(
  engine: string,
  ports: RunPorts,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<AcceptedInputs> {
  const resolved = resolvePorts(ports);
  const launcher = getLauncher(engine, resolved.agents, resolved.launchers);
  if (launcher.format !== 'acp') return launcher.accepts ?? ACCEPTS_TEXT_ONLY;
  const folder = tmpdir();
  const spec = { engine, workdir: folder };
  const { command, env } = launcher.launch({ prompt: '-', workdir: folder, runDir: folder, permissions: 'safe' });
  const [program, ...args] = command;
  const words = getProgramCommand({ spec, ports: resolved }, program);
  const environment = { ...selectAgentEnvironment({ spec, launcher, ports: resolved }), ...env };
  try {
    const running = await launchProcess(
      { command: [...words, ...args], cwd: folder, env: environment, keepInput: true },
      { graceMs: 500 },
    );
    try {
      return await readCapabilities(running, folder, timeoutMs);
    } finally {
      await running.stop();
    }
  } catch {
    return ACCEPTS_TEXT_ONLY;
  }
}

/** The agent has no access to files before a run has started. */
async function refuse(): Promise<never> {
  throw new Error('No run has started.');
}

/** Rejects if the agent does not report its capabilities. */
async function readCapabilities(
  { input, output }: RunningProcess,
  workdir: string,
  handshakeMs: number,
): Promise<AcceptedInputs> {
  return new Promise((resolve, reject) => {
    const client = new AcpClient(
      { prompt: '', workdir, sessionId: null, keepMode: true, handshakeMs },
      {
        send: (message) => input.write(Buffer.from(`${JSON.stringify(message)}\n`)),
        onPermission: () => undefined,
        onWithdrawn: () => undefined,
        readFile: refuse,
        writeFile: refuse,
        onEnd: reject,
        onFailure: reject,
      },
    );
    const read = async (): Promise<void> => {
      for await (const { stream, bytes } of output) if (stream === 'stdout') client.receive(bytes);
    };
    read().then(reject, reject);
    client.findAccepted((accepts) => {
      client.close();
      resolve(accepts);
    });
  });
}
