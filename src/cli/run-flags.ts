import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { omitUndefined } from '../base/index.js';
import type { RunSpec, StoredRunSpec } from '../store/records/index.js';
import { CONTEXT_OPTIONS } from './command-context.js';
import type { CommandIo } from './command-io.js';
import { MisuseError } from './failure.js';
import type { FlagsOf } from './command.js';
import { nameInput, readInput, readSchemaFile } from './read-input.js';

/** The options that make a contract, besides its schema. */
export const CONTRACT_OPTIONS = {
  '--profile <name>': ['parsing rules', ['default', 'generic', 'tagged', 'unified']],
  '--allow-partial': 'accept a truncated value',
  '--align': 'convert near misses to match the schema',
} as const;

export const RUN_OPTIONS = {
  '--engine <name>': [
    'agent to run: a built-in, preset or configured engine (sluice agents lists them)',
    { required: true },
  ],
  '--format <engine>': 'with --engine command: the engine whose output format the command uses',
  '--session <id>': 'engine session to resume instead of starting a new one',
  '--schema <file>': 'JSON Schema (draft 2020-12) for the answer',
  ...CONTRACT_OPTIONS,
  '--no-thinking': 'do not ask the agent for its reasoning before the result',
  '--mode <mode>': ['interactive lets the agent ask questions (default: auto)', ['auto', 'interactive']],
  '--permissions <which>': [
    'what the agent may do: safe (only read), workspace (also edit the working folder), bypass (everything) or ask (what you or the configured rules allow) (default: safe)',
    ['safe', 'workspace', 'bypass', 'ask'],
  ],
  '--sandbox <use>': [
    'run the agent in a bubblewrap sandbox: auto (if available), required or off (default: auto)',
    ['auto', 'required', 'off'],
  ],
  '--network <hosts...>': 'network access in the sandbox: host (unrestricted), none, or host names (default: host)',
  '--placement <where>': [
    'run the agent on this host (local) or in a container of Podman or Docker (default: local)',
    ['local', 'container'],
  ],
  '--image <name>': 'image of the container (default: placements.container.image of the configuration)',
  '--cpu <cores>': ['processor cores of the container', parseCores],
  '--memory <size>': 'memory of the container, such as 512Mi or 4Gi',
  '--model <name>': 'model for the agent to use',
  '--max-retries <n>': ['retries after an invalid answer (default: 0)', parseRetries],
  '--timeout <seconds>': ['stop the run after this time', parseSeconds],
  '--idle-timeout <seconds>': ['stop the run after this time without output', parseSeconds],
  '--workdir <dir>': 'working folder (default: the current folder)',
  '--no-wait': 'fail if another run uses the working folder, instead of waiting for it',
  '--prompt-file <file>':
    "read the prompt from a file, or - for standard input; with --engine command: the command's input",
  '--input-file <files...>': 'files the answer depends on, for --cache',
  '--env <names...>': 'environment variables to pass to the agent; patterns such as OPENAI_* are allowed',
  '--cache': 'reuse the result of an earlier identical run',
  '--terminal': 'capture through a terminal instead of pipes',
  '--terminal-beside': 'capture through pipes, and also through a terminal to fill gaps in stdout',
  '--watch-json': 'print FCMP events as JSON lines on stderr instead of text',
  '--summary': 'print the result as Markdown instead of JSON, for a CI job summary',
  '--summary-file <file>': 'append the same Markdown to a file, such as "$GITHUB_STEP_SUMMARY"',
  '--data <dir>': 'data folder, where runs are stored (default: one per project in your data directory)',
  '--config <file>': CONTEXT_OPTIONS['--config <file>'],
} as const;

export type RunFlags = FlagsOf<typeof RUN_OPTIONS>;

/** Longer input belongs in a file in the working folder. */
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

export async function readRunSpec(args: readonly string[], flags: RunFlags, io: CommandIo): Promise<RunSpec> {
  if (flags.inputFile !== undefined && flags.cache !== true)
    throw new MisuseError('--input-file needs --cache. Add --cache, or omit --input-file.');
  const contract = await readContract(flags, io);
  const input = flags.engine === 'command' ? await readCommand(args, flags, io) : await readPrompt(args, flags, io);
  if (flags.terminal === true && flags.terminalBeside === true)
    throw new MisuseError('--terminal and --terminal-beside cannot be combined. Omit one of them.');
  const { format, session, mode, permissions, sandbox, placement, image, cpu, memory, model, env } = flags;
  const sameNames = { format, session, mode, permissions, sandbox, placement, image, cpu, memory, model, env };
  const terminal = flags.terminalBeside === true ? ('beside' as const) : flags.terminal;
  return {
    engine: flags.engine,
    workdir: resolve(flags.workdir ?? '.'),
    limits: omitUndefined({ time_s: flags.timeout, idle_s: flags.idleTimeout }),
    ...input,
    ...omitUndefined({
      ...sameNames,
      contract,
      network: readNetwork(flags.network),
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
): Promise<StoredRunSpec['contract']> {
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

function parseCores(value: string): number {
  const cores = Number(value);
  if (!(cores > 0 && cores <= 1024)) throw new InvalidArgumentError('Use a number of cores, such as 2 or 0.5.');
  return cores;
}

export function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0 && seconds <= 7 * 24 * 3600))
    throw new InvalidArgumentError('Use a number of seconds, more than 0 and at most 604800 (a week).');
  return seconds;
}

export function parseCount(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('Use a whole number from 1 to 9999.');
  return Number(value);
}
