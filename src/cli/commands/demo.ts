import type { Command } from 'commander';
import type { DemoReport } from '../../orders/dispatch/index.js';
import { prepareDataFolder } from '../../base/files/index.js';
import type { CommandIo } from '../command-io.js';
import { loadCommandConfig } from '../load-command-config.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { wantsJson, printJson } from '../print.js';
import { makeVisible } from '../terminal-text.js';

interface DemoFlags extends ContextFlags {
  readonly json?: boolean;
}

export function addDemoCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('demo'))
    .description('run four demo orders: their agents write JSON, write text, only print, or replay a recorded agent')
    .option('--json', 'print JSON, even at a terminal')
    .action(async (flags: DemoFlags) => {
      end(await runDemoCommand(flags, io));
    });
}

async function runDemoCommand(flags: DemoFlags, io: CommandIo): Promise<ExitCode> {
  const { runDemo } = await import('../../orders/dispatch/index.js');
  const { data, database } = await loadCommandConfig(flags, io);
  await io.stderr.write('Running four demo orders.\n');
  await prepareDataFolder(data);
  const report = await runDemo({ data, database });
  if (wantsJson(flags, io)) await printJson(report, io);
  else await io.stdout.write(renderReport(report));
  return EXIT.success;
}

function renderReport({ orders, inbox }: DemoReport): string {
  const lines = orders.map(({ issue_ref, run_id, worker, source, action, reason, evidence, delivered_to }) =>
    [
      `${worker}: ${issue_ref}, run ${run_id}`,
      `  source     ${source}`,
      `  decision   ${action}: ${reason}`,
      ...evidence.map(({ claim, verdict, detail }) => `  ${verdict.padEnd(12)} ${claim}: ${detail}`),
      `  comment    ${delivered_to ?? 'none'}`,
    ].join('\n'),
  );
  const openItems = inbox.map(({ id, reason }) => `needs a decision: ${id}: ${reason}`);
  return makeVisible(`${[...lines, ...openItems].join('\n\n')}\n`);
}
