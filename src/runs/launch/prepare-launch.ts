import type { RunContext } from '../attempts/run-context.js';
import type { RunEngine } from '../../store/records/index.js';
import { omitUndefined, SluiceError } from '../../base/index.js';
import { ACCEPTS_TEXT_ONLY, findUnsupported } from '../ports/run-inputs.js';
import { extractSecrets } from '../launchers/mcp-servers.js';
import type { ConversationRequest, LaunchRequest, LaunchFile } from '../launchers/launcher.js';
import { RUN_MARKER } from '../process/process-record.js';
import { createAttemptSecrets, type AttemptSecrets } from '../secrets/compile-secrets.js';
import { selectEnvironment } from '../secrets/environment.js';
import { isVersionIn } from '../launchers/version.js';
import { findEngineVersion } from './engine-version.js';
import { realpath, rm, stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { makeFolderBelow, openNew } from '../../base/files/index.js';

export interface PreparedLaunch {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Arguments whose files are mounted in a sandbox: from the configuration, or a trusted caller. */
  readonly trustedArguments: readonly string[];
  /** Files that the arguments of a request name, without links. */
  readonly requestedFiles: readonly string[];
  readonly stdin: string | undefined;
  readonly converse: ConversationRequest | undefined;
  readonly secrets: AttemptSecrets;
}

/** Prepares the engine's launch and writes its settings files to the run folder. `sessionId` is the session to resume. */
export async function prepareLaunch(
  context: RunContext,
  {
    workdir,
    prompt,
    sessionId,
  }: { readonly workdir: string; readonly prompt: string; readonly sessionId: string | null },
): Promise<PreparedLaunch> {
  const { spec, launcher, runDir, ports, progress } = context;
  const { mcpServers } = ports.inputs;
  // A resumed session already has them.
  const attachments = progress.attempts === 0 || sessionId === null ? ports.inputs.attachments : [];
  refuseUnsupported(context);
  const request: LaunchRequest = {
    prompt,
    workdir,
    runDir,
    permissions: spec.permissions === 'ask' ? 'safe' : (spec.permissions ?? 'safe'),
    asks: spec.permissions === 'ask',
    converses: await usesTwoWayMode(context),
    terminal: spec.terminal === true,
    ...omitUndefined({ model: spec.model, sessionId: sessionId ?? undefined, command: spec.command }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(mcpServers.length === 0 ? {} : { mcpServers }),
  };
  await launcher.inspect?.(request);
  const launch = launcher.launch(request);
  const env = { ...selectAgentEnvironment(context), ...launch.env, [RUN_MARKER]: runDir };
  const [program, ...args] = launch.command;
  const configured = getProgramCommand(context, program);
  await writeSettings(runDir, launch.files ?? []);
  return {
    command: [...configured, ...args],
    env,
    trustedArguments: [
      ...listTrustedArguments(context, configured),
      ...mcpServers.flatMap((server) => (server.type === 'stdio' ? [server.command, ...server.args] : [])),
    ],
    requestedFiles: await listRequestedFiles(context),
    stdin: launch.stdin,
    converse: launch.converse,
    secrets: createAttemptSecrets(env, ports.secretPatterns),
  };
}

/** Rejects inputs that an engine does not accept, because it would ignore them and still answer. */
function refuseUnsupported({ spec, launcher, ports }: RunContext): void {
  const unsupported = findUnsupported(ports.inputs, launcher.accepts ?? ACCEPTS_TEXT_ONLY);
  if (unsupported !== undefined)
    throw new SluiceError('INPUT_UNSUPPORTED', `${spec.engine} does not accept ${unsupported}. Use another engine.`);
  if (ports.inputs.attachments.length > 0 && spec.terminal === true)
    throw new SluiceError(
      'INPUT_UNSUPPORTED',
      'Attachments do not work in a terminal. Run the engine without a terminal.',
    );
}

/**
 * Whether the agent is started in its two-way mode, as one process for the entire run, instead of one process per
 * prompt. Permissions and attachments require it. Replies and retries do not: they use a new process if the version is
 * untested.
 */
async function usesTwoWayMode(context: RunContext): Promise<boolean> {
  const { spec, launcher, ports } = context;
  if (spec.permissions === 'ask' || ports.inputs.attachments.length > 0) return true;
  const canContinue = spec.mode === 'interactive' || (spec.contract !== undefined && (spec.max_retries ?? 0) > 0);
  // The version in a container is unknown.
  const isKnown = launcher.testedVersions !== '' && !isInContainer(context);
  if (!canContinue || launcher.canAsk !== true || !isKnown) return false;
  const words = getProgramCommand(context, launcher.program);
  const version = await findEngineVersion(launcher, words, selectAgentEnvironment(context)).catch(() => undefined);
  return version !== undefined && isVersionIn(version, launcher.testedVersions);
}

/** Lists the arguments whose files are mounted in a sandbox, excluding any that contain a prompt or come from a request. */
function listTrustedArguments({ spec, ports }: RunContext, program: readonly string[]): readonly string[] {
  if (spec.engine === 'command') {
    const { roots, configured = [] } = ports.sandbox;
    const [first = '', ...args] = spec.command ?? program;
    return [first, ...(roots === undefined ? args : configured)];
  }
  const agent = Object.hasOwn(ports.agents, spec.engine) ? ports.agents[spec.engine] : undefined;
  if (agent === undefined) return program;
  return 'acp' in agent ? agent.acp : agent.command;
}

/** Lists the files that the arguments of a request name by their real paths: a link could be changed meanwhile. */
async function listRequestedFiles({ spec, ports }: RunContext): Promise<readonly string[]> {
  if (spec.engine !== 'command' || ports.sandbox.roots === undefined) return [];
  const args = (spec.command ?? []).slice(1).filter((argument) => isAbsolute(argument));
  const files = await Promise.all(
    args.map(async (path) => {
      const real = await realpath(path).catch(() => undefined);
      return real === path && (await stat(path)).isFile() ? [path] : [];
    }),
  );
  return files.flat();
}

/** Returns the variables for every process, of the engine, and those named in the spec's `env`. */
export function selectAgentEnvironment({ spec, launcher, ports }: Pick<RunContext, 'spec' | 'launcher' | 'ports'>) {
  return {
    ...selectEnvironment([...launcher.environment, ...(spec.env ?? []), 'TRACEPARENT'], ports.environment),
    ...extractSecrets(ports.inputs.mcpServers).variables,
  };
}

/** Whether the agent runs in a container, with its executables, instead of on this host. */
export function isInContainer({ spec, ports }: Pick<RunContext, 'spec' | 'ports'>): boolean {
  return spec.placement === 'container' || ports.sandbox.sidecar !== undefined;
}

/** Returns an engine's command, without the launcher's arguments. */
export function getProgramCommand(
  { spec, ports }: Pick<RunContext, 'spec' | 'ports'>,
  program: string,
): readonly [string, ...string[]] {
  // A configured agent already names its executable, and the configured ones of this host do not exist in a container.
  const namesProgram =
    spec.engine === 'command' || Object.hasOwn(ports.agents, spec.engine) || isInContainer({ spec, ports });
  const configured = namesProgram ? undefined : ports.programs[spec.engine as RunEngine];
  if (configured === undefined) return [program];
  const [first, ...rest] = typeof configured === 'string' ? [configured] : configured;
  return [first ?? program, ...rest];
}

/** Writes an engine's settings files to the run folder, always as new files: an agent could have left links. */
export async function writeSettings(runDir: string, files: readonly LaunchFile[]): Promise<void> {
  for (const { path, text } of files) {
    await makeFolderBelow(dirname(path), runDir);
    await rm(path, { force: true });
    const file = await openNew(path);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  }
}
