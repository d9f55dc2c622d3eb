import { listLaunchers, getLauncher } from '../launchers/launchers.js';
import type { AgentSettings } from '../launchers/acp.js';
import type { Launcher } from '../launchers/launcher.js';
import type { RunEngine } from '../../store/records/index.js';
import { isVersionIn } from '../launchers/version.js';
import { findExecutable } from '../../base/files/index.js';
import { runProgram } from './engine-version.js';
import { tmpdir } from 'node:os';
import { getObject } from '../../events/index.js';
import { INITIALIZE, readAccepts } from '../conversation/acp-client.js';
import { RpcPeer } from '../conversation/rpc-peer.js';
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
  const launchers = Object.values(listLaunchers(options.agents)).filter(({ engine }) => engine !== 'command');
  return Promise.all(launchers.map(async (launcher) => examine(launcher, options)));
}

async function examine(launcher: Launcher, options: ExamineOptions): Promise<EngineReport> {
  const { engine } = launcher;
  const { env, cwd, programs = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const [program = launcher.program, ...words] = [programs[engine as RunEngine] ?? launcher.program].flat();
  const common = { engine, program };
  const path = await findExecutable(program, { path: env['PATH'] ?? '', cwd });
  if (path === undefined) return { ...common, status: 'missing', next: launcher.installHint };

  // An ACP agent reports its version when it is started.
  if (launcher.versionCommand.length === 0) return { ...common, path, status: 'ready' };
  const output = await runProgram([path, ...words, ...launcher.versionCommand], { env, cwd, timeoutMs });
  const version = launcher.readVersion(output.text);
  if (output.problem !== undefined || version === undefined) {
    const reason = output.problem ?? 'it does not print its version';
    const command = [program, ...words, ...launcher.versionCommand].join(' ');
    if (output.isTimeout === true)
      return { ...common, path, status: 'slow', next: `${reason}; try again when the host is idle` };
    return { ...common, path, status: 'broken', next: `${reason}; run \`${command}\` yourself, or install it again` };
  }
  if (isVersionIn(version, launcher.testedVersions)) return { ...common, path, version, status: 'ready' };
  const next =
    launcher.testedVersions === ''
      ? 'no version was tested; check its first results closely'
      : `tested with ${launcher.testedVersions}; check its first results closely, or ${launcher.installHint}`;
  return { ...common, path, version, status: 'unproven_version', next };
}

const STATUS_LABELS: Readonly<Record<EngineReport['status'], string>> = {
  ready: 'ready',
  missing: 'missing',
  unproven_version: 'untested version',
  broken: 'broken',
  slow: 'too slow to say',
};

/** Formats the reports as text: a line with engine, status, version and path, and the next step below it. */
export function renderDoctor(reports: readonly EngineReport[]): string {
  const engineWidth = getMaxWidth(reports.map(({ engine }) => engine));
  const statusWidth = getMaxWidth(Object.values(STATUS_LABELS));
  const versionWidth = getMaxWidth(reports.map(({ version = '' }) => version));
  return reports
    .map(({ engine, status, version = '', path = '', next }) => {
      const columns = [
        engine.padEnd(engineWidth),
        STATUS_LABELS[status].padEnd(statusWidth),
        version.padEnd(versionWidth),
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

/**
 * Detects which inputs an engine accepts besides text. An ACP agent has to be started for this and is then stopped; if
 * it does not respond in time, it gets only text.
 *
 * @example
 * await findAcceptedInputs('gemini-acp', ports) // { attachments: ['image', 'audio', 'file'], mcpServers: ['stdio', 'http', 'sse'] }
 */
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
      return await readCapabilities(running, timeoutMs);
    } finally {
      await running.stop();
    }
  } catch {
    return ACCEPTS_TEXT_ONLY;
  }
}

async function readCapabilities(running: RunningProcess, handshakeMs: number): Promise<AcceptedInputs> {
  return new Promise((resolve) => {
    const acceptTextOnly = (): void => resolve(ACCEPTS_TEXT_ONLY);
    const peer = new RpcPeer(
      {
        send: (message) => running.input.write(Buffer.from(`${JSON.stringify(message)}\n`)),
        onRequest: (id, method) => peer.rejectMethod(id, method),
        onNotification: () => undefined,
        onError: acceptTextOnly,
        onProtocolViolation: acceptTextOnly,
      },
      { engine: 'acp', envelope: { jsonrpc: '2.0' }, handshakeMs },
    );
    const read = async (): Promise<void> => {
      for await (const { stream, bytes } of running.output) if (stream === 'stdout') peer.receive(bytes);
    };
    read().then(acceptTextOnly, acceptTextOnly);
    peer.requestWithTimeout(
      'initialize',
      INITIALIZE,
      (result) => {
        peer.close();
        resolve(readAccepts(getObject(result, 'agentCapabilities') ?? {}));
      },
      acceptTextOnly,
    );
  });
}
