import type { RunContext } from '../attempts/run-context.js';
import type { RunEngine } from '../../records/index.js';
import type { ConversationRequest, LaunchRequest, LaunchFile } from '../launchers/launcher.js';
import { RUN_MARKER } from '../process/process-record.js';
import { makeFoldersInside } from '../workspace/make-folders.js';
import { createAttemptSecrets } from '../secrets/compile-secrets.js';
import type { AttemptSecrets } from '../secrets/compile-secrets.js';
import { selectEnvironment } from '../secrets/environment.js';
import { isVersionIn } from '../launchers/version.js';
import { engineVersion } from './engine-version.js';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openNew } from '../../files/index.js';

/** A process that can be launched. */
export interface PreparedLaunch {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Words that the caller or the configuration chose: in a sandbox the files they name are shown. */
  readonly named: readonly string[];
  readonly stdin: string | undefined;
  readonly converse: ConversationRequest | undefined;
  readonly secrets: AttemptSecrets;
}

/** What an attempt asks. */
export interface LaunchInput {
  readonly workdir: string;
  readonly prompt: string;
  /** The session to resume. */
  readonly sessionId: string | null;
}

/** Prepares the launch of the engine, and writes the settings it needs into the run folder. */
export async function prepareLaunch(context: RunContext, wish: LaunchInput): Promise<PreparedLaunch> {
  const { spec, launcher, runDir, ports } = context;
  const request: LaunchRequest = {
    prompt: wish.prompt,
    workdir: wish.workdir,
    runDir,
    permissions: spec.permissions === 'ask' ? 'safe' : (spec.permissions ?? 'safe'),
    ...(spec.permissions === 'ask' ? { asks: true } : {}),
    ...((await isTalkedWith(context)) ? { converses: true } : {}),
    ...(spec.model === undefined ? {} : { model: spec.model }),
    ...(wish.sessionId === null ? {} : { sessionId: wish.sessionId }),
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.terminal === undefined ? {} : { terminal: spec.terminal !== false }),
  };
  await launcher.inspect?.(request);
  const launch = launcher.launch(request);
  const env = { ...selectAgentEnvironment(context), ...launch.env, [RUN_MARKER]: runDir };
  const [program, ...args] = launch.command;
  const [first, ...words] = getProgramCommand(context, program);
  await writeSettings(runDir, launch.files ?? []);
  return {
    command: [first, ...words, ...args],
    env,
    named: listNamed(context, [first, ...words]),
    stdin: launch.stdin,
    converse: launch.converse,
    secrets: createAttemptSecrets(env, ports.secretPatterns),
  };
}

/**
 * Whether the program is to be talked with instead of listened to. Permissions cannot be asked for otherwise; a question in
 * words can, by starting the program again: then only versions are talked with of which it is known that they can be.
 */
async function isTalkedWith(context: RunContext): Promise<boolean> {
  const { spec, launcher } = context;
  if (spec.permissions === 'ask') return true;
  if (spec.mode !== 'interactive' || launcher.canAsk !== true || launcher.drives === '') return false;
  const words = getProgramCommand(context, launcher.program);
  const version = await engineVersion(launcher, words, selectAgentEnvironment(context)).catch(() => undefined);
  return version !== undefined && isVersionIn(version, launcher.drives);
}

/** Never a word that was made from a prompt. */
function listNamed({ spec, ports }: RunContext, program: readonly string[]): readonly string[] {
  if (spec.engine === 'command') return spec.command ?? program;
  const agent = Object.hasOwn(ports.agents, spec.engine) ? ports.agents[spec.engine] : undefined;
  if (agent === undefined) return program;
  return 'acp' in agent ? agent.acp : agent.command;
}

/** The environment of an engine: what every process needs, what it may need, and what the spec names in `env`. */
export function selectAgentEnvironment({ spec, launcher, ports }: Pick<RunContext, 'spec' | 'launcher' | 'ports'>) {
  return selectEnvironment([...launcher.environment, ...(spec.env ?? []), 'TRACEPARENT'], ports.environment);
}

/** The words that start an engine's program. */
export function getProgramCommand(
  { spec, ports }: Pick<RunContext, 'spec' | 'ports'>,
  program: string,
): readonly [string, ...string[]] {
  // An agent of the configuration names its program itself.
  const isPlaced = spec.engine === 'command' || Object.hasOwn(ports.agents, spec.engine);
  const configured = isPlaced ? undefined : ports.programs[spec.engine as RunEngine];
  if (configured === undefined) return [program];
  const [first, ...rest] = typeof configured === 'string' ? [configured] : configured;
  return [first ?? program, ...rest];
}

/**
 * Writes the settings files of an engine into the run folder. An agent may have worked there before: a link it
 * left would choose where we write, so links are not followed and files are created again.
 */
export async function writeSettings(runDir: string, files: readonly LaunchFile[]): Promise<void> {
  for (const { path, text } of files) {
    await makeFoldersInside(runDir, dirname(path));
    await rm(path, { force: true });
    const file = await openNew(path);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  }
}
