import type { Command } from 'commander';
import type { Change, ChangedFile, Race } from '../../store/records/index.js';
import type { CommandIo } from '../command-io.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { printJson, wantsJson } from '../print.js';
import { makeVisible } from '../terminal-text.js';

interface DiffFlags extends ContextFlags {
  readonly json?: boolean;
}

export function addDiffCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('diff'))
    .description('show the changes made for the newest order of an issue, or by each run of its race')
    .argument('<issue>', 'issue reference, such as acme/shop#12')
    .option('--json', 'print JSON, even at a terminal')
    .action(async (issueRef: string, flags: DiffFlags) => {
      end(await runDiff(issueRef, flags, io));
    });
}

async function runDiff(issueRef: string, flags: DiffFlags, io: CommandIo): Promise<ExitCode> {
  const { readRace } = await import('../../orders/dispatch/index.js');
  const race = await withContext(
    flags,
    io,
    async ({ store, lead, config }) => {
      const { repos, filters } = lead;
      const maskText = (text: string): string => lead.maskText(text);
      return readRace({ store, data: config.data, maskText, repos, filters }, issueRef);
    },
    { isReadOnly: true },
  );
  if (race === undefined) {
    throw new MisuseError(`Issue "${issueRef}" not found. Use sluice executions to list executed orders.`);
  }
  if (wantsJson(flags, io)) await printJson(race, io);
  else await io.stdout.write(renderRace(race));
  return EXIT.success;
}

function renderRace({ runs, winner }: Race): string {
  return runs.map((run) => `${renderHead(run, winner)}\n${renderChange(run.change)}`).join('\n');
}

function renderHead({ run_id, worker, state, decision }: Race['runs'][number], winner: string | null): string {
  const outcome = decision === null ? state : `${decision.action}: ${decision.reason}`;
  return makeVisible(`== ${run_id} (${worker})${run_id === winner ? ', winner' : ''}: ${outcome}`);
}

function renderChange({ files, truncated, why }: Change): string {
  const renderedFiles = files.map(renderFile);
  const note = truncated ? ['More files were changed than are listed here.'] : [];
  return `${[...(why === undefined ? [] : [makeVisible(why)]), ...renderedFiles, ...note].join('\n')}\n`;
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

function renderFile({ path, old_path, change, added, removed, binary, truncated, hunks }: ChangedFile): string {
  const name = old_path === undefined ? path : `${old_path} -> ${path}`;
  const lines = hunks.flatMap(({ heading, lines: hunkLines }) => [
    heading,
    ...hunkLines.map(({ kind, text }) => `${SIGNS[kind]}${text}`),
  ]);
  return [
    `--- ${name} (${change}, +${added} -${removed}${binary ? ', binary' : ''})`,
    ...lines,
    ...(truncated ? ['… more lines were changed'] : []),
  ]
    .map((line) => makeVisible(line))
    .join('\n');
}
