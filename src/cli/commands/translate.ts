import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { RunFolderError, rewriteRunLogs, translateRunFolder } from '../../runs/run-folder/index.js';
import type { RunFolder, TranslateOptions } from '../../runs/run-folder/index.js';
import { createAcpProjection, createAgUiProjection } from '../../events/index.js';
import type { Emitted, EngineName, Projection } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { listenForInterruption } from '../interruption.js';
import { withProgress } from '../progress.js';
import { loadCommandConfig } from '../load-command-config.js';
import { openRunById } from '../open-run.js';
import { withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { escapeControls } from '../render-json.js';
import { collectWarnings, createEngineOption } from '../run-folder.js';

interface TranslateFlags extends ContextFlags {
  readonly engine?: EngineName | 'auto';
  readonly attempt?: number;
  readonly to: 'rasp' | 'fcmp' | 'agui' | 'acp';
  readonly write?: boolean;
  readonly follow?: boolean;
}

export function addTranslateCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('translate'))
    .description("print a run folder's events as JSON lines")
    .argument('<dir>', 'run folder (its files may be in .audit or directly in it), packed run, or run id')
    .addOption(createEngineOption())
    .addOption(new Option('--attempt <n>', 'only this attempt').argParser(parseAttempt))
    .addOption(
      new Option('--to <protocol>', 'protocol to print').choices(['rasp', 'fcmp', 'agui', 'acp']).default('fcmp'),
    )
    .option('--write', 'also rewrite events.jsonl, fcmp.jsonl and parser_diagnostics.jsonl')
    .option('--follow', 'print new events as they arrive, until the attempt has ended or Ctrl-C')
    .addHelpText('after', '\nExit codes: 0 success (also after Ctrl-C), 2 unreadable folder or usage error.')
    .action(async (dir: string, flags: TranslateFlags) => {
      end(await runTranslate(dir, flags, io));
    });
}

async function runTranslate(dir: string, flags: TranslateFlags, io: CommandIo): Promise<ExitCode> {
  if (flags.write === true && (flags.follow === true || flags.attempt !== undefined)) {
    throw new MisuseError('--write rebuilds the logs of a complete run. Omit --follow and --attempt.');
  }
  const run = existsSync(dir) || dir.includes('/') ? dir : await openRunById(await loadCommandConfig(flags, io), dir);
  const warnings = collectWarnings();
  const options: TranslateOptions = {
    onWarning: warnings.add,
    ...(flags.engine === undefined ? {} : { engine: flags.engine }),
    ...(flags.attempt === undefined ? {} : { attempt: flags.attempt }),
  };
  const interruption = flags.follow === true ? listenForInterruption() : undefined;
  try {
    if (interruption === undefined) {
      const translate = (translateOptions: TranslateOptions) =>
        flags.write === true
          ? rewriteRunLogs(getFolder(run), translateOptions)
          : translateRunFolder(run, translateOptions);
      // At a terminal the printed events are the progress.
      const progressIo = io.stdout.isTerminal ? { stderr: { ...io.stderr, isTerminal: false } } : io;
      await withProgress(progressIo, { label: 'translate', unit: 'bytes' }, async (onProgress) =>
        print(translate({ ...options, onProgress }), flags, io),
      );
    } else {
      const { signal } = interruption;
      await printImmediately(translateRunFolder(run, { ...options, follow: signal }), flags, io, signal);
    }
  } finally {
    interruption?.stopListening();
    await io.stderr.write(warnings.text());
  }
  return EXIT.success;
}

function getFolder(run: string | RunFolder): string {
  if (typeof run === 'string') return run;
  if (run.dir !== undefined) return run.dir;
  const message = `"${run.place}" is a packed run, which is never changed. Copy it to a folder with sluice export.`;
  throw new RunFolderError('RUN_PACKED', message);
}

function parseAttempt(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('Use an attempt number, starting at 1.');
  return Number(value);
}

/** Characters per write: a write is much slower than formatting a line. */
const BATCH_LENGTH = 64 * 1024;

/** Prints many lines with one write. If the reader has closed the pipe, continues only to finish `--write`. */
async function print(
  events: AsyncIterable<Emitted>,
  { to, write = false }: TranslateFlags,
  io: CommandIo,
): Promise<void> {
  const encoder = createEncoder(to);
  let text = '';
  for await (const emitted of events) {
    if (io.stdout.isGone?.() === true) {
      if (write) continue;
      return;
    }
    text += renderLines(encoder.push(emitted));
    if (text.length < BATCH_LENGTH) continue;
    await io.stdout.write(text);
    text = '';
  }
  await io.stdout.write(text + renderLines(encoder.end()));
}

/** Prints each event as soon as it arrives. */
async function printImmediately(
  events: AsyncIterable<Emitted>,
  { to }: TranslateFlags,
  io: CommandIo,
  interrupted: AbortSignal,
): Promise<void> {
  const encoder = createEncoder(to);
  for await (const emitted of events) {
    const text = renderLines(encoder.push(emitted));
    if (text !== '') await io.stdout.write(text);
    if (io.stdout.isGone?.() === true) return;
  }
  // After an interruption the end of the run is unknown, so no end events are printed.
  if (!interrupted.aborted) await io.stdout.write(renderLines(encoder.end()));
}

interface Encoder {
  push(emitted: Emitted): readonly object[];
  end(): readonly object[];
}

function createEncoder(to: TranslateFlags['to']): Encoder {
  switch (to) {
    case 'rasp':
    case 'fcmp':
      return { push: ({ protocol, event }) => (protocol === to ? [event] : []), end: () => [] };
    case 'agui':
      return encodeWith(createAgUiProjection());
    case 'acp':
      return encodeWith(createAcpProjection());
  }
}

function encodeWith(projection: Projection<object>): Encoder {
  return {
    push: (emitted) => (emitted.protocol === 'fcmp' ? projection.push(emitted.event) : []),
    end: () => projection.end(),
  };
}

/** Uses `JSON.stringify`, which is many times faster than `renderJson`: events are plain objects of bounded depth. */
function renderLines(values: readonly object[]): string {
  let lines = '';
  for (const value of values) lines += `${escapeControls(JSON.stringify(value))}\n`;
  return lines;
}
