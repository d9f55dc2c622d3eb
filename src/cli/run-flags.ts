import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { omitUndefined } from '../base/index.js';
import type { Profile } from '../json/index.js';
import type { RunSpec } from '../store/records/index.js';
import type { CommandIo } from './command-io.js';
import { MisuseError } from './failure.js';
import { nameInput, readInput, readSchemaFile } from './read-input.js';

/** The parsed options of `sluice run`. */
export interface RunFlags {
  readonly engine: string;
  readonly format?: string;
  readonly session?: string;
  readonly schema?: string;
  readonly profile?: Profile;
  readonly allowPartial?: boolean;
  readonly align?: boolean;
  readonly mode?: 'auto' | 'interactive';
  readonly permissions?: 'safe' | 'workspace' | 'bypass' | 'ask';
  readonly sandbox?: 'auto' | 'required' | 'off';
  readonly network?: readonly string[];
  readonly placement?: 'local' | 'container';
  readonly image?: string;
  readonly cpu?: number;
  readonly memory?: string;
  readonly model?: string;
  /** False with `--no-wait`. */
  readonly wait?: boolean;
  readonly maxRetries?: number;
  readonly timeout?: number;
  readonly idleTimeout?: number;
  readonly workdir?: string;
  readonly inputFile?: readonly string[];
  readonly promptFile?: string;
  readonly env?: readonly string[];
  readonly cache?: boolean;
  /** False with `--no-thinking`. */
  readonly thinking?: boolean;
  readonly terminal?: boolean;
  readonly terminalBeside?: boolean;
  readonly watchJson?: boolean;
  readonly summary?: boolean;
  readonly summaryFile?: string;
  readonly data?: string;
  readonly config?: string;
}

/** Longer input belongs in a file in the working folder. */
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

export async function readRunSpec(args: readonly string[], flags: RunFlags, io: CommandIo): Promise<RunSpec> {
  if (flags.inputFile !== undefined && flags.cache !== true)
    throw new MisuseError('--input-file needs --cache. Add --cache, or omit --input-file.');
  const contract = await readContract(flags, io);
  const input = flags.engine === 'command' ? await readCommand(args, flags, io) : await readPrompt(args, flags, io);
  if (flags.terminal === true && flags.terminalBeside === true)
    throw new MisuseError('--terminal and --terminal-beside cannot be combined. Omit one of them.');
  const { engine, format, session, mode, permissions, sandbox, placement, image, cpu, memory, model, env } = flags;
  const terminal = flags.terminalBeside === true ? ('beside' as const) : flags.terminal;
  return {
    engine,
    workdir: resolve(flags.workdir ?? '.'),
    limits: omitUndefined({ time_s: flags.timeout, idle_s: flags.idleTimeout }),
    ...input,
    ...omitUndefined({
      format,
      session,
      contract,
      mode,
      permissions,
      sandbox,
      network: readNetwork(flags.network),
      placement,
      image,
      cpu,
      memory,
      model,
      env,
      terminal,
      max_retries: flags.maxRetries,
    }),
    // On the command line, --cache without --input-file means that the result does not depend on any files.
    ...(flags.cache === true ? { cache: true, input_files: flags.inputFile ?? [] } : {}),
  };
}

/** Parses `--network`: `host` and `none` are keywords, anything else is a list of hosts. */
function readNetwork(hosts: RunFlags['network']): RunSpec['network'] {
  const [first] = hosts ?? [];
  return hosts?.length === 1 && (first === 'host' || first === 'none') ? first : hosts;
}

export async function readContract(
  flags: Pick<RunFlags, 'schema' | 'profile' | 'allowPartial' | 'align' | 'thinking'>,
  io: CommandIo,
): Promise<RunSpec['contract']> {
  const { profile, allowPartial, align } = flags;
  const thinking = flags.thinking === false ? { thinking: false } : {};
  const rules = { ...omitUndefined({ profile, allow_partial: allowPartial, align }), ...thinking };
  if (flags.schema === undefined) {
    if (align === true) throw new MisuseError('--align needs --schema. Add a schema, or omit --align.');
    if (profile !== undefined) return rules;
    if (allowPartial === true)
      throw new MisuseError('--allow-partial needs --schema or --profile. Add one, or omit --allow-partial.');
    return undefined;
  }
  const schema = await readSchemaFile(flags.schema, io);
  if (typeof schema === 'boolean')
    throw new MisuseError(`The schema "${flags.schema}" is only a boolean. Describe the answer, or omit --schema.`);
  return { schema: { ...schema }, ...rules };
}

async function readCommand(
  command: readonly string[],
  flags: RunFlags,
  io: CommandIo,
): Promise<Partial<Pick<RunSpec, 'command' | 'prompt'>>> {
  if (command.length === 0)
    throw new MisuseError('No command given. Use: sluice run --engine command -- COMMAND ARGS…');
  return flags.promptFile === undefined ? { command } : { command, prompt: await readPromptFile(flags.promptFile, io) };
}

async function readPrompt(
  words: readonly string[],
  flags: RunFlags,
  io: CommandIo,
): Promise<Partial<Pick<RunSpec, 'prompt'>>> {
  if (words.length > 0 && flags.promptFile !== undefined) {
    throw new MisuseError('The prompt was given twice, as arguments and with --prompt-file. Omit one of them.');
  }
  const prompt = flags.promptFile === undefined ? words.join(' ') : await readPromptFile(flags.promptFile, io);
  if (prompt === '') {
    throw new MisuseError(
      'No prompt given. Pass it as an argument (after -- if it follows --env, --input-file or --network), or with --prompt-file.',
    );
  }
  return { prompt };
}

async function readPromptFile(file: string, io: CommandIo): Promise<string> {
  const input = await readInput(file, MAX_PROMPT_BYTES, io);
  if ('tooLong' in input)
    throw new MisuseError(
      `The prompt ("${nameInput(file)}") is longer than ${MAX_PROMPT_BYTES} bytes. Put long input into files in the working folder.`,
    );
  return input.text;
}

export function parseRetries(value: string): number {
  if (!/^\d{1,3}$/.test(value)) throw new InvalidArgumentError('Use a whole number from 0 to 999.');
  return Number(value);
}

export function parseCores(value: string): number {
  const cores = Number(value);
  if (!(cores > 0 && cores <= 1024)) throw new InvalidArgumentError('Use a number of cores, such as 2 or 0.5.');
  return cores;
}

/** Parses a time limit. */
export function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0 && seconds <= 7 * 24 * 3600))
    throw new InvalidArgumentError('Use a number of seconds, more than 0 and at most 604800 (a week).');
  return seconds;
}

/** Parses an option that is a positive number. */
export function parseCount(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('Use a whole number from 1 to 9999.');
  return Number(value);
}
