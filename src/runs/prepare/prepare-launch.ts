import type { RunContext } from '../conduct/run-context.js';
import type { LaunchRequest } from '../launchers/launcher.js';
import { RUN_MARKER } from '../process/process-record.js';
import { createAttemptSecrets } from '../secrets/attempt-secrets.js';
import type { AttemptSecrets } from '../secrets/attempt-secrets.js';
import { selectEnvironment } from '../secrets/select-environment.js';
import { writeSettings } from './write-settings.js';

/** A process that can be started. */
export interface PreparedLaunch {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | undefined;
  readonly secrets: AttemptSecrets;
}

/** What an attempt is asked. */
export interface LaunchWish {
  readonly workdir: string;
  readonly prompt: string;
  /** The session to go on with. */
  readonly sessionId: string | null;
}

/** Finds out how the engine is started for this, and writes the settings it needs into the run folder. */
export async function prepareLaunch(context: RunContext, wish: LaunchWish): Promise<PreparedLaunch> {
  const { spec, launcher, runDir, ports } = context;
  const request: LaunchRequest = {
    prompt: wish.prompt,
    workdir: wish.workdir,
    runDir,
    permissions: spec.permissions ?? 'safe',
    ...(spec.model === undefined ? {} : { model: spec.model }),
    ...(wish.sessionId === null ? {} : { sessionId: wish.sessionId }),
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.terminal === undefined ? {} : { terminal: spec.terminal }),
  };
  await launcher.inspect?.(request);
  const launch = launcher.launch(request);
  const env = { ...environmentOf(context), ...launch.env, [RUN_MARKER]: runDir };
  const [program, ...args] = launch.command;
  const [first, ...words] = programOf(context, program);
  await writeSettings(runDir, launch.files ?? []);
  return {
    command: [first, ...words, ...args],
    env,
    stdin: launch.stdin,
    secrets: createAttemptSecrets(env, ports.secretPatterns),
  };
}

/** What an engine inherits: what every process needs, what it may need, and what the spec hands on. */
export function environmentOf({ spec, launcher, ports }: Pick<RunContext, 'spec' | 'launcher' | 'ports'>) {
  return selectEnvironment([...launcher.environment, ...(spec.env ?? [])], ports.environment);
}

/** The words that start an engine's program. */
export function programOf(
  { spec, ports }: Pick<RunContext, 'spec' | 'ports'>,
  program: string,
): readonly [string, ...string[]] {
  const configured = spec.engine === 'command' ? undefined : ports.programs[spec.engine];
  if (configured === undefined) return [program];
  const [first, ...rest] = typeof configured === 'string' ? [configured] : configured;
  return [first ?? program, ...rest];
}
