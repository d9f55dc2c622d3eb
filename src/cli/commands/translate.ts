import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { rewriteRunLogs, translateRunFolder } from '../../run-folder/index.js';
import type { TranslateOptions } from '../../run-folder/index.js';
import { createAcpProjection, createAgUiProjection } from '../../events/index.js';
import type { Emitted, EngineName, Projection } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { listenForInterruption } from '../interruption.js';
import { MisuseError } from '../misuse-error.js';
import { escapeControls } from '../render-json.js';
import { collectWarnings, engineOption } from '../run-folder.js';

interface TranslateFlags {
  readonly engine?: EngineName | 'auto';
  readonly attempt?: number;
  readonly to: 'rasp' | 'fcmp' | 'agui' | 'acp';
  readonly write?: boolean;
  readonly follow?: boolean;
}

/** Adds `sluice translate` to the program. */
export function addTranslateCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('translate')
    .description('print the events of a run folder, one JSON object a line')
    .argument('<dir>', 'the run folder: its files are in .audit or directly in it')
    .addOption(engineOption())
    .addOption(new Option('--attempt <n>', 'only this attempt').argParser(parseAttempt))
    .addOption(new Option('--to <protocol>', 'what to print').choices(['rasp', 'fcmp', 'agui', 'acp']).default('fcmp'))
    .option('--write', 'also write events.jsonl, fcmp.jsonl and parser_diagnostics.jsonl anew')
    .option('--follow', 'go on while the folder grows, until the attempt has ended or Ctrl-C')
    .addHelpText(
      'after',
      '\nExit codes: 0 translated (also after Ctrl-C), 2 the folder cannot be read or the call is wrong.',
    )
    .action(async (dir: string, flags: TranslateFlags) => {
      end(await runTranslate(dir, flags, io));
    });
}

async function runTranslate(dir: string, flags: TranslateFlags, io: CommandIo): Promise<ExitCode> {
  if (flags.write === true && (flags.follow === true || flags.attempt !== undefined)) {
    throw new MisuseError('--write rebuilds the logs of a whole run that has ended: leave out --follow and --attempt');
  }
  const warnings = collectWarnings();
  const options: TranslateOptions = {
    onWarning: warnings.add,
    ...(flags.engine === undefined ? {} : { engine: flags.engine }),
    ...(flags.attempt === undefined ? {} : { attempt: flags.attempt }),
  };
  const interruption = flags.follow === true ? listenForInterruption() : undefined;
  try {
    if (flags.write === true) await print(rewriteRunLogs(dir, options), flags, io);
    else if (interruption === undefined) await print(translateRunFolder(dir, options), flags, io);
    else {
      const { signal } = interruption;
      await printAtOnce(translateRunFolder(dir, { ...options, follow: signal }), flags, io, signal);
    }
  } finally {
    interruption?.stopListening();
    await io.stderr.write(warnings.text());
  }
  return EXIT.success;
}

function parseAttempt(word: string): number {
  if (!/^[1-9]\d{0,5}$/.test(word)) throw new InvalidArgumentError('Attempts are numbered from 1.');
  return Number(word);
}

/** Enough text for one write; the cost of a write is that of many lines. */
const BATCH = 64 * 1024;

/** Prints many lines with one write. Goes on without a reader only for what else is done with the events. */
async function print(
  events: AsyncIterable<Emitted>,
  { to, write = false }: TranslateFlags,
  io: CommandIo,
): Promise<void> {
  const tell = createTeller(to);
  let text = '';
  for await (const emitted of events) {
    if (io.stdout.isGone?.() === true) {
      if (write) continue;
      return;
    }
    text += asLines(tell.push(emitted));
    if (text.length < BATCH) continue;
    await io.stdout.write(text);
    text = '';
  }
  await io.stdout.write(text + asLines(tell.end()));
}

/** Prints each event as soon as it is there. */
async function printAtOnce(
  events: AsyncIterable<Emitted>,
  { to }: TranslateFlags,
  io: CommandIo,
  interrupted: AbortSignal,
): Promise<void> {
  const tell = createTeller(to);
  for await (const emitted of events) {
    const text = asLines(tell.push(emitted));
    if (text !== '') await io.stdout.write(text);
    if (io.stdout.isGone?.() === true) return;
  }
  // An interrupted reader does not know the end, so it tells none.
  if (!interrupted.aborted) await io.stdout.write(asLines(tell.end()));
}

interface Teller {
  push(emitted: Emitted): readonly object[];
  end(): readonly object[];
}

function createTeller(to: TranslateFlags['to']): Teller {
  switch (to) {
    case 'rasp':
    case 'fcmp':
      return { push: ({ protocol, event }) => (protocol === to ? [event] : []), end: () => [] };
    case 'agui':
      return projected(createAgUiProjection());
    case 'acp':
      return projected(createAcpProjection());
  }
}

function projected(projection: Projection<object>): Teller {
  return {
    push: (emitted) => (emitted.protocol === 'fcmp' ? projection.push(emitted.event) : []),
    end: () => projection.end(),
  };
}

/** Events are plain and of bounded depth, so the built-in writer can do it, many times faster than `renderJson`. */
function asLines(values: readonly object[]): string {
  let lines = '';
  for (const value of values) lines += `${escapeControls(JSON.stringify(value))}\n`;
  return lines;
}
