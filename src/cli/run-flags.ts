import { omitUndefined } from '../base/index.js';
import { resolve } from 'node:path';
import type { Profile } from '../json/index.js';
import type { RunEngine, RunSpec } from '../records/index.js';
import type { CommandIo } from './command-io.js';
import { MisuseError } from './misuse-error.js';
import { nameInput, readInput } from './read-input.js';
import { readSchemaFile } from './read-schema.js';

/** The options of `sluice run`, as commander hands them over. */
export interface RunFlags {
  readonly engine: RunEngine;
  readonly schema?: string;
  readonly profile?: Profile;
  readonly allowPartial?: boolean;
  readonly align?: boolean;
  readonly mode?: 'auto' | 'interactive';
  readonly permissions?: 'safe' | 'workspace' | 'bypass';
  readonly model?: string;
  readonly maxRetries?: number;
  readonly timeout?: number;
  readonly idleTimeout?: number;
  readonly workdir?: string;
  readonly inputFile?: readonly string[];
  readonly promptFile?: string;
  readonly env?: readonly string[];
  readonly cache?: boolean;
  readonly terminal?: boolean;
  readonly watchJson?: boolean;
  readonly data?: string;
  readonly config?: string;
}

/** A prompt is written by a person or a script; more than this is an input file. */
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

/** What is to be run, from what was typed. */
export async function specOf(words: readonly string[], flags: RunFlags, io: CommandIo): Promise<RunSpec> {
  if (flags.inputFile !== undefined && flags.cache !== true)
    throw new MisuseError('--input-file is for --cache: add it');
  const contract = await contractOf(flags, io);
  const asked = flags.engine === 'command' ? await commandOf(words, flags, io) : await promptOf(words, flags, io);
  const { engine, mode, permissions, model, env, terminal } = flags;
  return {
    engine,
    workdir: resolve(flags.workdir ?? '.'),
    limits: omitUndefined({ time_s: flags.timeout, idle_s: flags.idleTimeout }),
    ...asked,
    ...omitUndefined({ contract, mode, permissions, model, env, terminal, max_retries: flags.maxRetries }),
    // Who asks for the cache on the command line says with it that nothing else counts.
    ...(flags.cache === true ? { cache: true, input_files: flags.inputFile ?? [] } : {}),
  };
}

async function contractOf(flags: RunFlags, io: CommandIo): Promise<RunSpec['contract']> {
  const { profile, allowPartial, align } = flags;
  const rules = omitUndefined({ profile, allow_partial: allowPartial, align });
  if (flags.schema === undefined) {
    if (align === true) throw new MisuseError('--align needs a --schema to align to');
    if (profile !== undefined) return rules;
    if (allowPartial === true)
      throw new MisuseError('--allow-partial needs a --schema or a --profile: no value is due');
    return undefined;
  }
  const schema = await readSchemaFile(flags.schema, io);
  if (typeof schema === 'boolean')
    throw new MisuseError(
      `${flags.schema}: a schema that is only true or false decides nothing; say what the answer must be, or leave it out`,
    );
  return { schema: { ...schema }, ...rules };
}

async function commandOf(
  words: readonly string[],
  flags: RunFlags,
  io: CommandIo,
): Promise<Partial<Pick<RunSpec, 'command' | 'prompt'>>> {
  if (words.length === 0)
    throw new MisuseError('name the program to run: sluice run --engine command -- PROGRAM ARGS…');
  return flags.promptFile === undefined
    ? { command: words }
    : { command: words, prompt: await readPrompt(flags.promptFile, io) };
}

async function promptOf(
  words: readonly string[],
  flags: RunFlags,
  io: CommandIo,
): Promise<Partial<Pick<RunSpec, 'prompt'>>> {
  if (words.length > 0 && flags.promptFile !== undefined) {
    throw new MisuseError('the prompt is given twice: as words and as --prompt-file; leave one out');
  }
  const prompt = flags.promptFile === undefined ? words.join(' ') : await readPrompt(flags.promptFile, io);
  if (prompt === '') {
    throw new MisuseError(
      'there is no prompt: give it as an argument, after -- if --env or --input-file would take it, or with --prompt-file',
    );
  }
  return { prompt };
}

async function readPrompt(file: string, io: CommandIo): Promise<string> {
  const input = await readInput(file, MAX_PROMPT_BYTES, io);
  if ('tooLong' in input)
    throw new MisuseError(
      `the prompt (${nameInput(file)}) is longer than ${MAX_PROMPT_BYTES} bytes; put the material into files of the working folder`,
    );
  return input.text;
}
